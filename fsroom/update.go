package fsroom

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// A Decision returns the events that change a room, none to leave it as it is. Update
// fills in their sequence numbers, ids, room and times. A Decision must not change the
// state and may be called more than once.
type Decision[S any] func(S) ([]event.Event, error)

// Update changes the room by the events that decide returns. It returns the room after
// the change, and the events as they were written.
//
// When it returns nil, the events are durable. With any other error nothing has changed,
// except with the code in_doubt: then a write failed and could not be undone. An error of
// decide is returned as it is.
func (r *Room[S]) Update(ctx context.Context, decide Decision[S]) (*Snapshot[S], []event.Event, error) {
	return r.UpdateThen(ctx, decide, func() {})
}

// UpdateThen is [Room.Update] and calls committed as soon as the change is durable, before
// state.json is replaced and while the room is still locked. It does not call committed if
// nothing changes.
func (r *Room[S]) UpdateThen(ctx context.Context, decide Decision[S], committed func()) (*Snapshot[S], []event.Event, error) {
	var refused error // of decide
	snap, events, err := r.backend.Update(ctx, func(s S) (events []event.Event, err error) {
		events, err = decide(s)
		refused = err
		return events, err
	}, committed)
	if refused != nil && errors.Is(err, refused) {
		return nil, nil, err
	}
	return snap, events, r.store.Explain(err, r.dir)
}

// Locked calls do while the room is locked, for changes that are not events. The error is
// that of do, lock_timeout, or one about the room's files.
func (r *Room[S]) Locked(ctx context.Context, do func(*Snapshot[S]) error) error {
	return r.store.Explain(r.backend.Locked(ctx, do), r.dir)
}

// Lock takes the room's lock, and creates the room's directories if they are missing.
// It is for repairs; changes go through [Room.Update].
func (r *Files[S]) Lock(ctx context.Context) (unlock func() error, err error) {
	unlock, err = r.Acquire(ctx)
	return unlock, r.store.Explain(err, r.dir)
}

// Acquire is [Files.Lock] for backends: its error has no code yet, see [Store.Explain].
func (r *Files[S]) Acquire(ctx context.Context) (func() error, error) {
	if err := r.store.Step(StepLock); err != nil {
		return nil, err
	}
	if err := r.CheckDirs(); err != nil {
		return nil, err
	}
	return r.store.lock(ctx, r.LockPath(), func() error { return r.store.Prepare(r.dir) })
}

// LoadToWrite loads the room under its lock and removes what a crash left.
func (r *Files[S]) LoadToWrite() (*Snapshot[S], error) {
	if err := r.store.Step(StepLoad); err != nil {
		return nil, err
	}
	if hasOtherNames(r.JournalPath()) {
		if err := r.Unshare(); err != nil {
			return nil, err
		}
	}
	snap, err := r.Load()
	if err != nil {
		return nil, err
	}
	return snap, r.Clear(snap)
}

// Clear moves aside an old copy of a journal, cuts off a torn tail and archives a life that has ended
// but was not archived.
func (r *Files[S]) Clear(snap *Snapshot[S]) error {
	if snap.Stale {
		if err := r.MoveAside(r.JournalPath()); err != nil {
			return err
		}
		snap.Stale, snap.Torn = false, 0
	}
	if snap.Torn > 0 {
		if err := r.cut(snap); err != nil {
			return err
		}
	}
	if snap.Position.Offset > 0 && !r.rules.Live(snap.State) {
		return r.Archive(snap)
	}
	return nil
}

// Finish does what a killed writer left undone and then writes state.json: it cuts off a
// torn tail and archives a life that has ended. The caller has the lock, and snap is
// what the journal folds to. Finish is for repairs.
func (r *Files[S]) Finish(snap *Snapshot[S]) error {
	snap.fresh = false
	if err := r.Clear(snap); err != nil {
		return err
	}
	return r.CatchUp(snap)
}

func (r *Files[S]) cut(snap *Snapshot[S]) error {
	if err := r.store.Step(StepCut); err != nil {
		return err
	}
	log, err := journal.OpenWriter(r.JournalPath())
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.Cut(snap.Position); err != nil {
		return err
	}
	snap.Torn = 0
	return nil
}

// commit writes the events of a change and updates snap. The numbers are those of the
// steps in the package comment. written are the events as they were written.
func (r *Files[S]) commit(snap *Snapshot[S], events []event.Event, committed func()) (written []event.Event, err error) {
	if err := r.CatchUp(snap); err != nil { // 3
		return nil, err
	}
	own := 0
	if snap.Untold() {
		events, own = append([]event.Event{r.lossEvent(snap)}, events...), 1
	}
	next, err := r.FoldChange(snap, events) // 4
	if err != nil {
		return nil, err
	}
	locked, _ := os.Lstat(r.LockPath())
	log, err := r.openToAppend(snap) // 5
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r.NotifyAgents(snap.State, next, events)
	if err := r.store.Step(StepAppend); err != nil {
		return nil, err
	}
	after := &Snapshot[S]{State: next, Turn: events[len(events)-1].Turn, Lost: snap.Lost}
	drafted := func() *lockfile.Draft { return nil } // of state.json, which is synced beside the journal
	_, err = log.Append(snap.Position, events, func(end journal.Position) error {
		if after.Position = end; r.rules.Live(next) {
			drafted = r.draftProjection(after, log)
		}
		err := r.store.opts.Sync(log)
		if err == nil && (log.Moved() || r.exchanged(locked)) {
			err = errExchanged
		}
		return err
	})
	if err != nil {
		if draft := drafted(); draft != nil {
			draft.Remove()
		}
		if errors.Is(err, journal.ErrPosition) { // it is not the journal that was loaded
			err = fmt.Errorf("%w: %w", errExchanged, err)
		}
		return nil, err
	}
	// The change is committed. No error is returned after this.
	*snap = *after
	committed()
	draft := drafted()
	if !r.exchanged(locked) { // state.json is a witness also of a journal that has gone since
		r.project(snap, draft) // 6
	} else if draft != nil {
		draft.Remove()
	}
	return events[own:], nil
}

// CatchUp replaces a state.json that is behind the journal. It syncs the journal first,
// whose writer may have been killed before its own sync. This comes before an append, so
// that at most one change is behind what state.json covers, and a torn tail can be
// distinguished from damage.
func (r *Files[S]) CatchUp(snap *Snapshot[S]) error {
	if snap.fresh || snap.Position.Seq == 0 {
		return nil
	}
	if snap.Untold() { // so that a crash in the next append leaves a torn tail
		if err := r.WriteProjection(snap); err != nil {
			return err
		}
		return r.store.opts.SyncDir(r.dir)
	}
	if snap.Position.Offset == 0 { // between two lives
		return r.WriteProjection(snap)
	}
	log, err := journal.OpenWriter(r.JournalPath())
	if err != nil {
		return err
	}
	defer log.Close()
	if err := r.store.Step(StepSync); err != nil {
		return err
	}
	if err := r.store.opts.Sync(log); err != nil {
		return err
	}
	return r.WriteProjection(snap)
}

// FoldChange fills in the events and returns the state after them. It comes before the
// append: an event that cannot be folded must not be written.
func (r *Files[S]) FoldChange(snap *Snapshot[S], events []event.Event) (S, error) {
	now := event.NewTime(r.store.opts.Now())
	next := r.rules.Clone(snap.State)
	for i := range events {
		e := &events[i]
		e.Seq, e.ID, e.RoomID, e.More = snap.Position.Seq+int64(i)+1, r.store.opts.NewID(), r.name, i < len(events)-1
		if e.CreatedAt.IsZero() {
			e.CreatedAt = now
		}
		if err := r.rules.Apply(next, e); err != nil {
			return next, fmt.Errorf("the change does not fold: %w", err)
		}
	}
	return next, nil
}

// openToAppend opens the journal for the next change. Before its first line it syncs the
// directories that have its name and their names, so that a journal with a line has a
// durable name.
func (r *Files[S]) openToAppend(snap *Snapshot[S]) (*journal.Log, error) {
	log, err := journal.OpenWriter(r.JournalPath())
	if err != nil || snap.Position.Offset > 0 {
		return log, err
	}
	lockfile.Adopt(r.JournalPath())
	if err := r.SyncNames(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}

// SyncNames syncs the directories that have the journal's name, and their names.
func (r *Files[S]) SyncNames() error {
	for _, dir := range []string{r.dir, filepath.Dir(r.dir), r.store.dir} {
		if err := r.store.opts.SyncDir(dir); err != nil {
			return err
		}
	}
	err := r.store.opts.SyncDir(filepath.Dir(r.store.dir))
	if errors.Is(err, fs.ErrPermission) {
		return nil // a directory that this user may not read existed before
	}
	return err
}

// project replaces state.json, by the draft if there is one, or archives a life that has ended. The
// change is already committed: the next writer does what fails here.
func (r *Files[S]) project(snap *Snapshot[S], draft *lockfile.Draft) {
	if draft != nil {
		if r.store.Step(StepReplace) != nil {
			draft.Remove()
			return
		}
		if snap.fresh = draft.Replace() == nil; snap.fresh {
			return
		}
	}
	if !r.rules.Live(snap.State) && r.Archive(snap) == nil {
		return
	}
	_ = r.WriteProjection(snap)
}
