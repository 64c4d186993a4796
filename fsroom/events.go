package fsroom

import (
	"context"
	"errors"
	"io/fs"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// Events delivers the events of the room's current life after a sequence number,
// oldest first, as far as they are committed, until fn fails, whose error it
// returns as it is. It returns the position behind the last one delivered.
func (r *Room[S]) Events(ctx context.Context, after int64, fn func(*event.Event) error) (journal.Position, error) {
	log, err := r.openJournal()
	if log == nil {
		return journal.Position{Seq: after}, err
	}
	defer log.Close()
	from, err := log.Find(after + 1)
	if err != nil {
		return journal.Position{}, r.store.Explain(err, r.JournalPath())
	}
	return r.scan(ctx, log, from, above(after, fn))
}

// History is Events for the room's whole history: events of ended lives come from
// the archive. A room that is between two lives, or ends meanwhile, is read to its
// last event. History returns the sequence number of the last event delivered,
// after where there was none.
func (r *Room[S]) History(ctx context.Context, after int64, fn func(*event.Event) error) (int64, error) {
	errMissing := errors.New("events are missing in between")
	at := after
	for round := 0; ; round++ {
		before := at
		var err error
		if at, err = r.Past(ctx, at, fn); err != nil {
			return at, err
		}
		// A life that ended while we read is in the archive by now, and the next
		// round finds it. What neither round finds was removed.
		removed := round > 0 && at == before
		_, err = r.Events(ctx, at, func(e *event.Event) error {
			if e.Seq != at+1 && !removed {
				return errMissing
			}
			if err := fn(e); err != nil {
				return err
			}
			at = e.Seq
			return nil
		})
		switch {
		case errors.Is(err, errMissing):
		case err != nil || (at == before && round > 0):
			return at, err
		}
	}
}

// Past delivers the events of the room's ended lives after a sequence number,
// oldest first and each once, until fn fails, whose error it returns as it is. It
// returns the sequence number of the last event delivered, after where there was
// none.
func (r *Room[S]) Past(ctx context.Context, after int64, fn func(*event.Event) error) (int64, error) {
	paths, err := r.Archived()
	if err != nil {
		return after, r.store.Explain(err, r.ArchiveDir())
	}
	for _, path := range paths {
		if archivedUpTo(path) <= after {
			continue
		}
		if after, err = r.readArchive(ctx, path, after, fn); err != nil {
			return after, err
		}
	}
	return after, nil
}

func (r *Room[S]) readArchive(ctx context.Context, path string, after int64, fn func(*event.Event) error) (int64, error) {
	log, err := journal.Open(path)
	if err != nil {
		return after, r.store.Explain(err, path)
	}
	defer log.Close()
	from, err := log.Find(after + 1)
	if err != nil {
		return after, r.store.Explain(err, path)
	}
	_, err = r.scanFile(ctx, log, from, path, above(after, func(e *event.Event) error {
		if err := fn(e); err != nil {
			return err
		}
		after = e.Seq
		return nil
	}))
	return after, err
}

// above keeps from fn what is not after the cursor. A cursor can lie beyond the
// end, and then the next events to be written are not wanted either.
func above(after int64, fn func(*event.Event) error) func(*event.Event) error {
	return func(e *event.Event) error {
		if e.Seq <= after {
			return nil
		}
		return fn(e)
	}
}

// scan returns the errors of fn and the cause of ctx's end as they are: they are
// not about the journal.
func (r *Room[S]) scan(ctx context.Context, log *journal.Log, from journal.Position, fn func(*event.Event) error) (journal.Position, error) {
	return r.scanFile(ctx, log, from, r.JournalPath(), fn)
}

func (r *Room[S]) scanFile(ctx context.Context, log *journal.Log, from journal.Position, path string, fn func(*event.Event) error) (journal.Position, error) {
	var own error
	end, _, err := log.Scan(from, func(e *event.Event, _ int64) error {
		if ctx.Err() != nil {
			own = context.Cause(ctx)
		} else {
			own = fn(e)
		}
		return own
	})
	if own != nil {
		return end, own
	}
	return end, r.store.Explain(err, path)
}

// Event returns one event of the current life.
func (r *Room[S]) Event(ctx context.Context, seq int64) (*event.Event, error) {
	reader, err := r.Reader()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return reader.Event(ctx, seq)
}

// A Reader reads single events of a room's current life from one open journal.
// It sees what is appended after it was made, but not the next life.
type Reader[S any] struct {
	room *Room[S]
	log  *journal.Log // nil where there is no journal
}

// Reader opens the room's journal, which need not exist.
func (r *Room[S]) Reader() (*Reader[S], error) {
	log, err := r.openJournal()
	return &Reader[S]{room: r, log: log}, err
}

// Close closes the journal.
func (d *Reader[S]) Close() error {
	if d.log == nil {
		return nil
	}
	return d.log.Close()
}

// Event returns the event with the sequence number, which shares no memory with
// the reader; corrupt_room if it is not there.
func (d *Reader[S]) Event(ctx context.Context, seq int64) (*event.Event, error) {
	path := d.room.JournalPath()
	var found *event.Event
	if d.log != nil {
		from, err := d.log.Find(seq)
		if err != nil {
			return nil, d.room.store.Explain(err, path)
		}
		stop := errors.New("found")
		_, err = d.room.scan(ctx, d.log, from, func(e *event.Event) error {
			if e.Seq == seq {
				c := e.Clone()
				found = &c
			}
			return stop
		})
		if err != nil && !errors.Is(err, stop) {
			return nil, err
		}
	}
	if found == nil {
		return nil, code.New(code.CorruptRoom, "event %d is not in %s", seq, path).
			WithHint(`look at it with "tt doctor"`).With("file", path)
	}
	return found, nil
}

// openJournal returns nil without an error where there is no journal.
func (r *Room[S]) openJournal() (*journal.Log, error) {
	if err := r.checkDirs(); err != nil {
		return nil, r.store.Explain(err, r.dir)
	}
	log, err := journal.Open(r.JournalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, r.store.Explain(err, r.JournalPath())
	}
	log.SetCommitted(func() int64 {
		cached, _ := r.Cached()
		return r.Committed(cached)
	})
	return log, nil
}
