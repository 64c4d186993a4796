package fsroom

import (
	"context"
	"errors"
	"io/fs"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
)

// Events delivers the room's events after a sequence number, oldest first, as
// far as they are committed, until fn fails. It returns the position behind the
// last one delivered. Events of earlier lives are in the archive and not here.
func (r *Room[S]) Events(ctx context.Context, after int64, fn func(*journal.Event) error) (journal.Position, error) {
	log, err := r.openJournal()
	if log == nil {
		return journal.Position{Seq: after}, err
	}
	defer log.Close()
	from, err := log.Find(after + 1)
	if err != nil {
		return journal.Position{}, r.store.explain(err, r.JournalPath())
	}
	return r.scan(ctx, log, from, fn)
}

func (r *Room[S]) scan(ctx context.Context, log *journal.Log, from journal.Position, fn func(*journal.Event) error) (journal.Position, error) {
	end, _, err := log.Scan(from, func(e *journal.Event, _ int64) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fn(e)
	})
	return end, r.store.explain(err, r.JournalPath())
}

// Event returns one event of the current life.
func (r *Room[S]) Event(ctx context.Context, seq int64) (*journal.Event, error) {
	var found *journal.Event
	stop := errors.New("found")
	_, err := r.Events(ctx, seq-1, func(e *journal.Event) error {
		if e.Seq == seq {
			c := e.Clone()
			found = &c
		}
		return stop
	})
	if err != nil && !errors.Is(err, stop) {
		return nil, err
	}
	if found == nil {
		return nil, code.New(code.CorruptRoom, "event %d is not in %s", seq, r.JournalPath()).
			WithHint(`look at it with "tt doctor"`).With("file", r.JournalPath())
	}
	return found, nil
}

// openJournal returns nil without an error where there is no journal.
func (r *Room[S]) openJournal() (*journal.Log, error) {
	log, err := journal.Open(r.JournalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return log, r.store.explain(err, r.JournalPath())
}
