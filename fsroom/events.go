package fsroom

import (
	"cmp"
	"context"
	"errors"
	"io/fs"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// Events calls fn with the committed events of the room's current life after a sequence number, oldest first. It returns the errors of fn,
// and the cause of ctx's end, as they are. The position is that after the last change delivered.
func (r *Room[S]) Events(ctx context.Context, after int64, fn func(*event.Event) error) (journal.Position, error) {
	if err := r.Refresh(ctx); err != nil {
		return journal.Position{Seq: after}, err
	}
	log, err := r.OpenJournal()
	if log == nil {
		return journal.Position{Seq: after}, err
	}
	defer log.Close()
	return r.ReadAfter(ctx, log, r.JournalPath(), after, fn)
}

// Past calls fn with the events of the room's ended lives after a sequence number, oldest first and each once. It returns the errors of fn
// as they are, and the sequence number of the last event delivered, or after if there was none.
func (r *Room[S]) Past(ctx context.Context, after int64, fn func(*event.Event) error) (int64, error) {
	if err := r.Refresh(ctx); err != nil {
		return after, err
	}
	paths, err := r.Archived()
	if err != nil {
		return after, r.store.Explain(err, r.ArchiveDir())
	}
	deliver := func(e *event.Event) error {
		if err := fn(e); err != nil {
			return err
		}
		after = e.Seq
		return nil
	}
	for _, path := range paths {
		if archivedUpTo(path) <= after {
			continue
		}
		log, err := journal.OpenCommitted(path)
		if err != nil {
			return after, r.store.Explain(err, path)
		}
		_, err = r.ReadAfter(ctx, log, path, after, deliver)
		log.Close()
		if err != nil {
			return after, err
		}
	}
	return after, nil
}

// History is [Room.Events] for all lives of the room: it reads the archive first. If the room ends meanwhile, or has ended, History reads
// up to its last event. It returns the sequence number of the last event delivered, or after if there was none.
func (r *Room[S]) History(ctx context.Context, after int64, fn func(*event.Event) error) (int64, error) {
	errMissing := errors.New("events are missing in between")
	at := after
	for round := 0; ; round++ {
		before := at
		var err error
		if at, err = r.Past(ctx, at, fn); err != nil {
			return at, err
		}
		// The journal of a life that ended meanwhile is in the archive now, and the next
		// round reads it. Events that two rounds do not find were removed.
		removed := round > 0 && at == before
		_, err = r.Events(ctx, at, func(e *event.Event) error {
			if e.Seq != at+1 && !e.Leaps(at) && !removed {
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

// ReadAfter calls fn with the events of a journal after a sequence number, which may be beyond the end: then no event is delivered, also
// none that is appended meanwhile. It returns the errors of fn, and the cause of ctx's end, as they are: they are not about the journal.
func (r *Files[S]) ReadAfter(ctx context.Context, log *journal.Log, path string, after int64,
	fn func(*event.Event) error) (journal.Position, error) {
	from, err := log.Find(after + 1)
	if err != nil {
		return journal.Position{}, r.store.Explain(err, path)
	}
	var stopped error
	end, _, err := log.Scan(from, func(e *event.Event, _ int64) error {
		switch {
		case ctx.Err() != nil:
			stopped = context.Cause(ctx)
		case e.Seq > after:
			stopped = fn(e)
		}
		return stopped
	})
	if stopped != nil {
		return end, stopped
	}
	return end, r.store.Explain(err, path)
}

// Event returns the event of the current life with a sequence number, which shares no memory with others. An event that the journal had
// and has lost is one of type [event.Damaged]. If there is no such event, the error has the code corrupt_room.
func (r *Room[S]) Event(ctx context.Context, seq int64) (*event.Event, error) {
	log, err := r.OpenJournal()
	if err != nil {
		return nil, err
	}
	defer func() {
		if log != nil {
			_ = log.Close()
		}
	}()
	found, err := r.EventAt(ctx, log, r.JournalPath(), seq)
	if err == nil && found == nil && r.shared != nil {
		// A state may have events that the mirror has not: another process wrote to it.
		if err = r.Refresh(ctx); err == nil && log == nil {
			log, err = r.OpenJournal()
		}
		if err == nil {
			found, err = r.EventAt(ctx, log, r.JournalPath(), seq)
		}
	}
	switch {
	case err != nil || found != nil:
		return found, err
	case r.hasLost(log, seq):
		return &event.Event{Seq: seq, RoomID: r.name, Type: event.Damaged}, nil
	}
	return nil, code.New(code.CorruptRoom, "event %d is not in %s", seq, r.JournalPath()).
		WithHint(`look at it with "tt doctor"`).With("file", r.JournalPath())
}

var errFound = errors.New("found")

// EventAt returns the event of a journal with the sequence number, nil if it does not have it. A nil log has none.
func (r *Files[S]) EventAt(ctx context.Context, log *journal.Log, path string, seq int64) (found *event.Event, err error) {
	if log == nil {
		return nil, nil
	}
	_, err = r.ReadAfter(ctx, log, path, seq-1, func(e *event.Event) error {
		if e.Seq == seq {
			c := e.Clone()
			found = &c
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, err
}

// A Mark is an event that a reader has got to.
type Mark struct {
	Seq int64      `json:"event_seq"`
	At  event.Time `json:"created_at"` // zero: it is not known
}

// Common returns the last event that the room has in common with the journal that had m: m, unless the room was put back from
// an older copy. Then the journal has another event of that number, or has not got that far.
func (r *Room[S]) Common(m Mark) (common Mark) {
	e, err := r.Event(context.Background(), m.Seq)
	switch {
	case err == nil && (e.Type == event.Damaged || m.At.IsZero() || e.CreatedAt.Equal(m.At.Time)):
		return Mark{m.Seq, cmp.Or(m.At, e.CreatedAt)}
	case err != nil:
		if snap, err := r.View(); err != nil || snap.Position.Seq >= m.Seq {
			return m // it is of a life that has ended, or cannot be read
		}
	}
	_, _ = r.Events(context.Background(), 0, func(e *event.Event) error {
		if !m.At.IsZero() && e.CreatedAt.After(m.At.Time) {
			return errFound
		}
		common = Mark{e.Seq, e.CreatedAt}
		return nil
	})
	return common
}

// OpenJournal opens the journal of the current life. Without one it returns nil and no error.
func (r *Files[S]) OpenJournal() (*journal.Log, error) {
	if err := r.CheckDirs(); err != nil {
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
