package fsroom

import (
	"context"
	"errors"
	"time"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// A local room is one of this host alone: its lock orders the changes. The numbers are those
// of the steps in the package comment.
type local[S any] struct {
	files *Files[S]
	alone
}

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
	var replaced *lockfile.Draft
	defer func() {
		// 7. If this fails, the change is still committed, and the lock ends with
		// the process at the latest.
		_ = r.files.store.Step(StepUnlock)
		_ = unlock()
		replaced.Close()
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
	if events, replaced, err = r.files.commit(snap, events, committed); err != nil {
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
	return do(snap)
}

func (r local[S]) Renew(ctx context.Context, note Renewal[S], appended func() error) error {
	return r.Locked(ctx, func(snap *Snapshot[S]) error {
		b, _, err := note(snap)
		if err != nil || b == nil {
			return err
		}
		return appended()
	})
}

func (r local[S]) Confirm(ctx context.Context) (*Snapshot[S], error)               { return r.View(ctx) }
func (r local[S]) Exists() bool                                                    { return false }
func (r local[S]) Refresh(context.Context) error                                   { return nil }
func (r local[S]) Watch(context.Context) (stop func())                             { return func() {} }
func (r local[S]) Current() bool                                                   { return true }
func (r local[S]) Note() (note []byte, at time.Time)                               { return nil, time.Time{} }
func (r local[S]) Unreachable() (asOf time.Time, err error)                        { return time.Time{}, nil }
func (r local[S]) RefreshAll(context.Context) (failed map[string]error, err error) { return nil, nil }
func (r local[S]) FetchAgents(context.Context)                                     {}

// Alone is the [Peers] of a host that shares nothing: none.
type alone struct{}

func (alone) Publish(dir, changed string)                          {}
func (alone) Marked(key, name string) time.Time                    { return time.Time{} }
func (alone) Content(key, name string, newerThan time.Time) []byte { return nil }
func (alone) Held(key, name string) bool                           { return false }
func (alone) Announce(key, name string) (withdraw func())          { return func() {} }
func (alone) Holders(name string) []Holder                         { return nil }
func (alone) Notify(key string)                                    {}
func (alone) Signed(key, name string) string                       { return "" }
func (alone) Heard(key string) time.Time                           { return time.Time{} }
func (alone) Boot(host string) string                              { return "" }
