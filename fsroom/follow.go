package fsroom

import (
	"context"
	"errors"
	"time"

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
// event is undone, the event that takes its number is delivered as well, and so are those that come
// after the journal was put back from an older copy.
//
// Follow returns the sequence number of the last event delivered or passed over.
func (r *Room[S]) Follow(ctx context.Context, after int64, fn func(*event.Event) error, caughtUp func() error) (int64, error) {
	f := follower[S]{room: r, fn: fn, seq: after, start: after, at: r.store.opts.Now(), ids: map[int64]string{}}
	if err := r.Refresh(ctx); err != nil {
		return after, err
	}
	_, archived, err := r.LastArchived()
	if err != nil {
		return after, r.store.Explain(err, r.ArchiveDir())
	}
	defer r.Pull(ctx)()
	changes := r.store.subscribe(r.dir, journalFile)
	defer func() { go changes.stop() }()
	for begun := false; err == nil; begun = true {
		var ended bool
		if ended, err = f.read(ctx, archived); err == nil && ended && begun { // its last events are in the archive
			f.seq, err = r.Past(ctx, f.seq, fn)
		}
		if err == nil && caughtUp != nil && (begun || !ended) {
			err = caughtUp()
		}
		switch {
		case err != nil:
		case ended:
			err = ErrLifeEnded
		default:
			_, err = changes.wait(ctx, Sleep{})
		}
	}
	return f.seq, err
}

// A follower is one Follow.
type follower[S any] struct {
	room *Room[S]
	fn   func(*event.Event) error
	seq  int64     // of the last event delivered or passed over
	at   time.Time // when that was made, or this began

	// The last change may be undone until its writer has synced it, so it is read again
	// each time.
	start int64            // the number before the last change
	ids   map[int64]string // of its events, by number
	end   journal.Position // of the journal
}

// read delivers the events that are in the journal now. It reports whether the life has ended, whose journal the archive
// has then: it had another last event before.
func (f *follower[S]) read(ctx context.Context, archived int64) (ended bool, err error) {
	r := f.room
	log, err := r.OpenJournal()
	if err != nil {
		return false, err
	}
	if log == nil {
		return !r.isAlone() || !r.liveWithout(), nil
	}
	defer log.Close()
	if _, last, err := r.LastArchived(); err != nil || last > archived { // after it was opened: else it is that of the next life
		return err == nil, r.store.Explain(err, r.ArchiveDir())
	}
	begun := false // a change
	last := f.end.Seq
	for range 2 { // another program may make the file shorter meanwhile
		f.end, err = r.ReadAfter(ctx, log, r.JournalPath(), f.start, func(e *event.Event) error {
			if !begun && e.Seq != f.start+1 {
				f.start, f.ids = e.Seq-1, map[int64]string{}
			}
			begun = e.More
			return f.take(e)
		})
		if damage := (*journal.CorruptError)(nil); !errors.Is(err, journal.ErrPosition) && !errors.As(err, &damage) {
			break
		}
	}
	if err == nil && f.end.Seq < last { // what comes next has numbers that were passed
		f.start, f.ids = min(f.start, f.end.Seq), map[int64]string{}
	}
	return false, err
}

// take delivers an event unless it was delivered before.
func (f *follower[S]) take(e *event.Event) error {
	if f.ids[e.Seq] == e.ID || e.Seq <= f.seq && e.CreatedAt.Before(f.at) {
		return nil
	}
	if err := f.fn(e); err != nil {
		return err
	}
	f.ids[e.Seq], f.seq, f.at = e.ID, e.Seq, e.CreatedAt.Time
	return nil
}
