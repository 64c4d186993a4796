package fsroom

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// A Decision looks at a room and returns the events that change it, none to
// leave it as it is. Sequence number, id, room and time are filled in by Update.
// It must not change the state and may be called more than once.
type Decision[S any] func(S) ([]event.Event, error)

// Update changes the room by what decide returns and gives back the room as it
// is then, with the events as they were written.
//
// A nil error means that the events are durable. With any other error nothing
// has happened, except with code in_doubt, when a failed write could not be
// undone. A refusal of decide is returned as it is.
func (r *Room[S]) Update(ctx context.Context, decide Decision[S]) (*Snapshot[S], []event.Event, error) {
	return r.UpdateThen(ctx, decide, func() {})
}

// UpdateThen is [Room.Update] that calls committed as soon as the change is
// durable, before state.json is brought up to date and with the room still
// locked. It is not called if nothing changes.
func (r *Room[S]) UpdateThen(ctx context.Context, decide Decision[S], committed func()) (*Snapshot[S], []event.Event, error) {
	unlock, err := r.lock(ctx) // 2
	if err != nil {
		return nil, nil, r.store.Explain(err, r.dir)
	}
	defer func() {
		// 7. An unlock that fails changes nothing that was committed: the lock
		// ends with the process at the latest.
		_ = r.store.step(StepUnlock)
		_ = unlock()
		_ = r.store.step(StepDone)
	}()
	snap, err := r.loadToWrite() // 3
	if err != nil {
		return nil, nil, r.store.Explain(err, r.dir)
	}
	events, err := decide(snap.State) // 4
	if err != nil {
		return nil, nil, err
	}
	if len(events) == 0 {
		_ = r.catchUp(snap) // for the next reader's sake; not needed
		return snap, nil, nil
	}
	if err := r.commit(snap, events, committed); err != nil {
		return nil, nil, r.store.Explain(err, r.dir)
	}
	return snap, events, nil
}

// Locked runs do with the room locked, for changes of what is no event.
func (r *Room[S]) Locked(ctx context.Context, do func(*Snapshot[S]) error) error {
	unlock, err := r.lock(ctx)
	if err != nil {
		return r.store.Explain(err, r.dir)
	}
	defer unlock()
	snap, err := r.load()
	if err != nil {
		return r.store.Explain(err, r.dir)
	}
	return r.store.Explain(do(snap), r.dir)
}

// Lock takes the room's lock, and creates the room's directories if they are missing.
// It is for repairs; changes go through [Room.Update].
func (r *Room[S]) Lock(ctx context.Context) (unlock func() error, err error) {
	unlock, err = r.lock(ctx)
	return unlock, r.store.Explain(err, r.dir)
}

func (r *Room[S]) lock(ctx context.Context) (func() error, error) {
	if err := r.store.step(StepLock); err != nil {
		return nil, err
	}
	if err := r.checkDirs(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.store.opts.Patience)
	defer cancel()
	unlock, err := lockfile.Lock(ctx, r.LockPath())
	if errors.Is(err, fs.ErrNotExist) {
		if err = r.store.prepare(r.dir); err == nil {
			unlock, err = lockfile.Lock(ctx, r.LockPath())
			lockfile.Adopt(r.LockPath())
		}
	}
	return unlock, err
}

// loadToWrite loads the room under its lock and removes what a crash left.
func (r *Room[S]) loadToWrite() (*Snapshot[S], error) {
	if err := r.store.step(StepLoad); err != nil {
		return nil, err
	}
	if hasOtherNames(r.JournalPath()) {
		if err := r.Unshare(); err != nil {
			return nil, err
		}
	}
	snap, err := r.load()
	if err != nil {
		return nil, err
	}
	return snap, r.clear(snap)
}

// clear cuts off a torn tail and archives a life that has ended but was not archived.
func (r *Room[S]) clear(snap *Snapshot[S]) error {
	if snap.Torn > 0 {
		if err := r.cut(snap); err != nil {
			return err
		}
	}
	if snap.Position.Offset > 0 && !r.rules.Live(snap.State) {
		return r.archive(snap)
	}
	return nil
}

// Finish does what a killed writer left undone and then writes state.json: it cuts off a
// torn tail and archives a life that has ended. The caller has the lock, and snap is
// what the journal folds to. Finish is for repairs.
func (r *Room[S]) Finish(snap *Snapshot[S]) error {
	snap.fresh = false
	if err := r.clear(snap); err != nil {
		return err
	}
	return r.catchUp(snap)
}

func (r *Room[S]) cut(snap *Snapshot[S]) error {
	if err := r.store.step(StepCut); err != nil {
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

// commit carries out a change that was decided and leaves the room as it is then in
// snap. The numbers are those of the package's description.
func (r *Room[S]) commit(snap *Snapshot[S], events []event.Event, committed func()) error {
	if err := r.catchUp(snap); err != nil { // 3
		return err
	}
	next, err := r.foldChange(snap, events) // 4
	if err != nil {
		return err
	}
	log, err := r.openToAppend(snap) // 5
	if err != nil {
		return err
	}
	defer log.Close()
	r.wake(snap.State, next)
	if err := r.store.step(StepAppend); err != nil {
		return err
	}
	end, err := log.Append(snap.Position, events)
	if err != nil {
		return err
	}
	// The change is committed. From here on nothing fails it.
	snap.State, snap.Position, snap.Turn, snap.fresh = next, end, events[len(events)-1].Turn, false
	committed()
	r.project(snap, log) // 6
	return nil
}

// catchUp brings state.json up to date with a journal that was found ahead of it,
// and syncs that journal first: its writer may have been killed before its own sync.
// Nothing is appended before this is done, so that behind what state.json covers
// there is at most one change, and what a crash left of it can be told from damage.
func (r *Room[S]) catchUp(snap *Snapshot[S]) error {
	if snap.fresh || snap.Position.Seq == 0 {
		return nil
	}
	if snap.Position.Offset == 0 { // between two lives
		return r.writeProjection(snap, time.Time{})
	}
	log, err := journal.OpenWriter(r.JournalPath())
	if err != nil {
		return err
	}
	defer log.Close()
	if err := r.store.step(StepSync); err != nil {
		return err
	}
	if err := log.Sync(); err != nil {
		return err
	}
	_, mtime, err := log.Stat()
	if err != nil {
		return err
	}
	return r.writeProjection(snap, mtime)
}

// foldChange numbers and stamps the events and returns the state after them.
// Folding comes before writing: an event that cannot be folded must never get into
// the journal.
func (r *Room[S]) foldChange(snap *Snapshot[S], events []event.Event) (S, error) {
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

// openToAppend opens the journal for the next change. Before its first line the
// directories are synced in which its name and theirs stand: a journal that has a
// line has a durable name.
func (r *Room[S]) openToAppend(snap *Snapshot[S]) (*journal.Log, error) {
	log, err := journal.OpenWriter(r.JournalPath())
	if err != nil || snap.Position.Offset > 0 {
		return log, err
	}
	lockfile.Adopt(r.JournalPath())
	for _, dir := range []string{r.dir, filepath.Dir(r.dir), r.store.dir} {
		if err := r.store.opts.SyncDir(dir); err != nil {
			return nil, errors.Join(err, log.Close())
		}
	}
	// A directory that may not be read is not ours, and stood there before.
	if err := r.store.opts.SyncDir(filepath.Dir(r.store.dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}

// project replaces state.json, or archives a life that has ended. The change is
// committed by then: what fails here the next writer does.
func (r *Room[S]) project(snap *Snapshot[S], log *journal.Log) {
	if !r.rules.Live(snap.State) && r.archive(snap) == nil {
		return
	}
	if _, mtime, err := log.Stat(); err == nil {
		_ = r.writeProjection(snap, mtime)
	}
}
