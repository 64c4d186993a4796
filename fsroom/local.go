package fsroom

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// A local room is one of this host alone: its lock orders the changes. The numbers are those
// of the steps in the package comment.
type local[S any] struct{ files *Files[S] }

func (r local[S]) View(context.Context) (*Snapshot[S], error) { return r.files.Load() }

// exchangeTries bounds how often a change is decided again because the directory of the room was
// exchanged while it was written.
const exchangeTries = 100

func (r local[S]) Update(ctx context.Context, decide Decision[S], committed func()) (*Snapshot[S], []event.Event, error) {
	for try := 0; ; try++ {
		snap, events, err := r.updateOnce(ctx, decide, committed)
		var failed *journal.AppendError
		if !errors.Is(err, errExchanged) || errors.As(err, &failed) && !failed.Undone || try == exchangeTries {
			return snap, events, err
		}
	}
}

func (r local[S]) updateOnce(ctx context.Context, decide Decision[S], committed func()) (*Snapshot[S], []event.Event, error) {
	unlock, err := r.files.Acquire(ctx) // 2
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		// 7. If this fails, the change is still committed, and the lock ends with
		// the process at the latest.
		_ = r.files.store.Step(StepUnlock)
		_ = unlock()
		_ = r.files.store.Step(StepDone)
	}()
	snap, err := r.files.LoadToWrite() // 3
	if err != nil {
		return nil, nil, err
	}
	events, err := decide(snap.State) // 4
	if err != nil {
		return nil, nil, err
	}
	if len(events) == 0 {
		_ = r.files.CatchUp(snap) // spares the next reader the work
		return snap, nil, nil
	}
	if events, err = r.files.commit(snap, events, committed); err != nil {
		return nil, nil, err
	}
	return snap, events, nil
}

func (r local[S]) Locked(ctx context.Context, do func(*Snapshot[S]) error) error {
	unlock, err := r.files.Acquire(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	snap, err := r.files.Load()
	if err != nil {
		return err
	}
	_ = r.files.CatchUp(snap) // what do tells of the room stays, also if its writer was killed before the sync
	return do(snap)
}

func (r local[S]) Refresh(context.Context) error       { return nil }
func (r local[S]) Watch(context.Context) (stop func()) { return func() {} }
