package mirror

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// mostConflicts bounds how often a change is decided again.
const mostConflicts = 1000

// change calls do with the mirror locked and up to date, as far as the tail goes, and again
// if another host's change came first. The first tail is what was fetched before, unless that is nil.
func (r *mirror[S]) change(ctx context.Context, first *tail, do func(*tail, *fsroom.Snapshot[S]) error) error {
	if r.engine == nil {
		return errUnreachable(errOffline)
	}
	for try := 0; ; try++ {
		t, err := first, error(nil)
		if t == nil || try > 0 {
			t, err = r.fetch(ctx)
		}
		if err == nil {
			err = r.changeOnce(ctx, t, do)
		}
		again := errors.Is(err, engine.ErrConflict) || errors.Is(err, errOvertaken) || errors.Is(err, errLinesLost)
		if !again {
			return err
		}
		if try == mostConflicts {
			return code.New(code.EngineUnreachable, "other hosts change the room faster than this one can").
				WithHint("nothing was changed; try again").Because(err)
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// pause lets others go first, for a random time that grows with the number of tries.
func pause(ctx context.Context, try int) error {
	engine.Pause(ctx, time.Duration(min(try, 10))*time.Millisecond/2)
	return ctx.Err()
}

func (r *mirror[S]) changeOnce(ctx context.Context, t *tail, do func(*tail, *fsroom.Snapshot[S]) error) error {
	unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	r.locked.Store(true)
	defer func() {
		r.locked.Store(false)
		_ = r.Store().Step(fsroom.StepUnlock)
		_ = unlock()
		_ = r.Store().Step(fsroom.StepDone)
	}()
	if err := r.absorb(t); err != nil {
		return r.heal(ctx, err)
	}
	snap, err := r.LoadToWrite()
	if err != nil {
		return r.heal(ctx, err)
	}
	if r.readMarker().Revision > int64(t.last) {
		return errOvertaken // by another process of this host
	}
	if err := r.check(ctx, snap.Position); err != nil {
		return err
	}
	return do(t, snap)
}

// Update is [fsroom.Room.UpdateThen].
func (r *mirror[S]) Update(ctx context.Context, decide fsroom.Decision[S],
	committed func()) (snap *fsroom.Snapshot[S], events []event.Event, err error) {
	recent := r.recent()
	err = r.change(ctx, recent, func(t *tail, now *fsroom.Snapshot[S]) (err error) {
		snap = now
		events, err = decide(snap.State)
		if t == recent && (err != nil || len(events) == 0) {
			return errOvertaken // only an Append would tell whether it still holds
		}
		if err != nil || len(events) == 0 {
			return err
		}
		return r.commitWithEngine(ctx, t, snap, events, committed)
	})
	if err != nil {
		return nil, nil, err
	}
	return snap, events, nil
}

// commitWithEngine commits the events with the engine, and then writes them to the mirror.
func (r *mirror[S]) commitWithEngine(ctx context.Context, t *tail, snap *fsroom.Snapshot[S], events []event.Event, committed func()) error {
	next, err := r.FoldChange(snap, events)
	if err != nil {
		return err
	}
	lines, err := journal.EncodeChange(journal.Position{Seq: snap.Position.Seq}, events)
	if err != nil {
		return err
	}
	if err := r.Store().Step(fsroom.StepAppend); err != nil {
		return err
	}
	entry, err := r.engine.Append(ctx, r.engineName(), t.last, engine.Entry{Lines: lines}, 0)
	if err != nil {
		return r.explainEngine(err)
	}
	r.confirmed(true)
	// The change is committed. No error is returned after this: the next fetch brings
	// what could not be written here.
	committed()
	now := *t
	now.entries = slices.Clip(t.entries)
	_ = now.add(entry)
	if t = &now; t.stale == nil {
		r.fetched.Store(t)
	}
	if r.absorb(t) == nil {
		if now, err := r.Load(); err == nil {
			*snap = *now
			return nil
		}
	}
	last := &events[len(events)-1]
	snap.State = next
	snap.Advance(journal.Position{Offset: snap.Position.Offset, Seq: last.Seq}, last.Turn)
	return nil
}

// Locked is [fsroom.Room.Locked].
func (r *mirror[S]) Locked(ctx context.Context, do func(*fsroom.Snapshot[S]) error) error {
	return r.change(ctx, nil, func(_ *tail, snap *fsroom.Snapshot[S]) error { return do(snap) })
}

// Renew is [fsroom.Room.Renew].
func (r *mirror[S]) Renew(ctx context.Context, note fsroom.Renewal[S], appended func() error) error {
	return r.change(ctx, nil, func(t *tail, snap *fsroom.Snapshot[S]) error {
		b, keep, err := note(snap)
		if err != nil || b == nil {
			return err
		}
		// The note comes into the mirror when it is fetched, with the time at which the
		// engine got it.
		if _, err = r.engine.Append(ctx, r.engineName(), t.last, engine.Entry{Note: b}, keep); err != nil {
			return r.explainEngine(err)
		}
		r.confirmed(true)
		return appended()
	})
}

// Note is [fsroom.Room.Note].
func (r *mirror[S]) Note() (note []byte, at time.Time) {
	m := r.readMarker()
	if ahead := r.ahead.Load(); ahead != nil && ahead.NoteRevision > m.NoteRevision {
		m = *ahead
	}
	return []byte(m.Note), m.NoteAt.Time
}

// Confirm is [fsroom.Room.Confirm]. A room that is later than what the engine confirms is looked at again.
func (r *mirror[S]) Confirm(ctx context.Context) (*fsroom.Snapshot[S], error) {
	if r.engine == nil {
		return nil, errUnreachable(errOffline)
	}
	t := r.recent()
	for try := 0; ; try++ {
		snap, last, err := r.view(ctx, t)
		if t = nil; err != nil {
			return nil, err
		}
		err = r.engine.Confirm(ctx, r.engineName(), last)
		if !errors.Is(err, engine.ErrConflict) || try == mostConflicts {
			if err = r.explainEngine(err); fsroom.IsUnreachable(err) {
				r.away.Store(&err)
			}
			return snap, err
		}
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
	}
}
