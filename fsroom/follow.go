package fsroom

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// ErrLifeEnded means that the journal of the room was archived, and no event will follow
// in it.
var ErrLifeEnded = errors.New("the room has ended")

// Follow calls fn with the events after a sequence number, in order and each as soon as
// it is in the journal. It returns when ctx ends, with the cause; when fn fails, with its
// error; and when the life ends, with [ErrLifeEnded]. It reads the file at its own pace:
// writers never wait for it and nothing is dropped. After each batch it calls caughtUp,
// which may be nil, and returns its error if there is one.
//
// An event may be delivered before its writer has synced it. If the sync fails and the
// event is undone, the event that takes its number is delivered as well.
//
// Follow returns the sequence number of the last event delivered or passed over.
func (r *Room[S]) Follow(ctx context.Context, after int64, fn func(*event.Event) error, caughtUp func() error) (int64, error) {
	f := follower[S]{room: r, fn: fn, after: after, seq: after}
	if err := r.Refresh(ctx); err != nil {
		return after, err
	}
	if err := f.open(); err != nil {
		return after, err
	}
	defer func() { f.log.Close() }()
	defer r.Pull(ctx)()
	changes := r.store.subscribe(r.dir, "journal.jsonl")
	defer func() { go changes.stop() }()
	for {
		// This comes before reading: if the journal was moved by now, all of it is
		// read next.
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
			_, err = changes.wait(ctx, Sleep{})
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
	after int64 // events up to this number are passed over

	log *journal.Log
	seq int64 // the last event delivered or passed over
	// The last change may be undone until its writer has synced it, so it is read again
	// each time.
	start journal.Position // before the last change
	ids   map[int64]string // of its events, by number
}

// open opens the room's journal and finds the next event.
func (f *follower[S]) open() error {
	log, err := f.room.OpenJournal()
	if err != nil {
		return err
	}
	if log == nil && f.room.isAlone() && f.room.liveWithout() {
		log = journal.Absent(f.room.JournalPath())
	}
	if log == nil {
		return ErrLifeEnded
	}
	f.log = log
	return f.find()
}

// find sets start to the position before the next event.
func (f *follower[S]) find() (err error) {
	f.ids = nil
	f.start, err = f.log.Find(f.seq + 1)
	return f.room.store.Explain(err, f.room.JournalPath())
}

// reopen goes on with the file that has replaced the journal. It returns ErrLifeEnded if
// the file is not a journal of the same life.
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

// read delivers the events that are in the journal now.
func (f *follower[S]) read(ctx context.Context) error {
	err := f.scan(ctx)
	var damage *journal.CorruptError
	if errors.Is(err, journal.ErrPosition) || errors.As(err, &damage) {
		// Another program has made the file shorter, and it may have grown since.
		if err = f.find(); err == nil {
			err = f.scan(ctx)
		}
	}
	return err
}

func (f *follower[S]) scan(ctx context.Context) error {
	var stopped error
	next := f.start // where the change begins that is read
	begun := false
	_, _, err := f.log.Scan(f.start, func(e *event.Event, end int64) error {
		if !begun && next != f.start {
			f.start, f.ids = next, nil
		}
		if begun = e.More; !begun {
			next = journal.Position{Offset: end, Seq: e.Seq}
		}
		stopped = f.take(ctx, e)
		return stopped
	})
	if stopped != nil {
		return stopped
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
