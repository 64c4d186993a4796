package fsroom

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// ErrLifeEnded says that the room's journal was archived and no event will
// follow in it.
var ErrLifeEnded = errors.New("the room has ended")

// Follow delivers the events after a sequence number, in order and each as soon
// as it is in the journal, until ctx ends, whose cause it returns, or fn fails, or
// the life ends, which is [ErrLifeEnded]. It reads from the file at its own pace:
// writers never wait for it and nothing is dropped. After each batch it calls
// caughtUp, which may be nil and may end the stream with an error.
//
// An event may be delivered before its writer has synced it. If the sync fails and
// the event is undone, the one that takes its number is delivered as well.
//
// It returns the sequence number of the last event delivered or passed over.
func (r *Room[S]) Follow(ctx context.Context, after int64, fn func(*event.Event) error, caughtUp func() error) (int64, error) {
	f := follower[S]{room: r, fn: fn, after: after, seq: after}
	if err := f.open(); err != nil {
		return after, err
	}
	defer func() { f.log.Close() }()
	changes := r.store.subscribe(r.dir, "journal.jsonl")
	defer func() { go changes.Close() }()
	for {
		// Asked before reading: if it was moved away by then, the reading that
		// follows has seen its end.
		moved := f.log.Moved()
		err := f.read(ctx)
		if err == nil && caughtUp != nil {
			err = caughtUp()
		}
		switch {
		case err != nil:
		case moved:
			err = f.reopen()
		default:
			_, err = changes.wait(ctx, Pause{})
		}
		if err != nil {
			return max(f.seq, after), err
		}
	}
}

// A follower is one Follow.
type follower[S any] struct {
	room  *Room[S]
	fn    func(*event.Event) error
	after int64 // what is not above it is passed over

	log *journal.Log
	seq int64 // the last event delivered or passed over
	// The last change read, which may be undone as long as its writer has not
	// synced it, is read again each time.
	start journal.Position // before it
	ids   map[int64]string // of its events
}

// open opens the room's journal before the next event.
func (f *follower[S]) open() error {
	log, err := f.room.openJournal()
	if err != nil {
		return err
	}
	if log == nil {
		return ErrLifeEnded
	}
	f.log = log
	return f.find()
}

// find starts over before the next event.
func (f *follower[S]) find() (err error) {
	f.ids = nil
	f.start, err = f.log.Find(f.seq + 1)
	return f.room.store.Explain(err, f.room.JournalPath())
}

// reopen goes on with the journal that has taken the place of the open one, or
// returns ErrLifeEnded if it is not of the same life.
func (f *follower[S]) reopen() error {
	old := f.log
	if err := f.open(); err != nil {
		return err
	}
	defer old.Close()
	if !f.log.Continues(old) {
		return ErrLifeEnded
	}
	return nil
}

// read delivers what is in the journal by now.
func (f *follower[S]) read(ctx context.Context) error {
	err := f.scan(ctx)
	if errors.Is(err, journal.ErrPosition) {
		// Another program has made the file shorter.
		if err = f.find(); err == nil {
			err = f.scan(ctx)
		}
	}
	return err
}

func (f *follower[S]) scan(ctx context.Context) error {
	var own error
	next := f.start // where the change begins that is read
	begun := false
	_, _, err := f.log.Scan(f.start, func(e *event.Event, end int64) error {
		if !begun && next != f.start {
			f.start, f.ids = next, nil
		}
		if begun = e.More; !begun {
			next = journal.Position{Offset: end, Seq: e.Seq}
		}
		own = f.take(ctx, e)
		return own
	})
	if own != nil {
		return own
	}
	return f.room.store.Explain(err, f.room.JournalPath())
}

// take delivers an event unless it was delivered before.
func (f *follower[S]) take(ctx context.Context, e *event.Event) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e.Seq <= f.after || f.ids[e.Seq] == e.ID {
		return nil
	}
	if err := f.fn(e); err != nil {
		return err
	}
	if f.ids == nil {
		f.ids = make(map[int64]string)
	}
	f.ids[e.Seq], f.seq = e.ID, e.Seq
	return nil
}
