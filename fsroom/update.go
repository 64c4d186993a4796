package fsroom

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/lockfile"
)

// A Decision looks at a room and returns the events that change it, none to
// leave it as it is. Sequence number, id, room and time are filled in by Update.
// It must not change the state and may be called more than once.
type Decision[S any] func(*S) ([]journal.Event, error)

// Update changes the room by what decide returns and gives back the room as it
// is then, with the events as they were written.
//
// A nil error means that the events are durable. With any other error nothing
// has happened, except with code in_doubt, when a failed write could not be
// undone. A refusal of decide is returned as it is.
func (r *Room[S]) Update(ctx context.Context, decide Decision[S]) (*Snapshot[S], []journal.Event, error) {
	return r.UpdateThen(ctx, decide, func() {})
}

// UpdateThen is [Room.Update] that calls committed as soon as the change is
// durable, before state.json is brought up to date and with the room still
// locked. It is not called if nothing changes.
func (r *Room[S]) UpdateThen(ctx context.Context, decide Decision[S], committed func()) (*Snapshot[S], []journal.Event, error) {
	unlock, err := r.lock(ctx) // 2
	if err != nil {
		return nil, nil, r.store.explain(err, r.dir)
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
		return nil, nil, r.store.explain(err, r.dir)
	}
	events, err := decide(snap.State) // 4
	if err != nil {
		return nil, nil, err
	}
	if len(events) == 0 {
		r.settle(snap)
		return snap, nil, nil
	}
	if err := r.commit(snap, events, committed); err != nil {
		return nil, nil, r.store.explain(err, r.dir)
	}
	return snap, events, nil
}

// Locked runs do with the room locked, for changes of what is no event.
func (r *Room[S]) Locked(ctx context.Context, do func(*Snapshot[S]) error) error {
	unlock, err := r.lock(ctx)
	if err != nil {
		return r.store.explain(err, r.dir)
	}
	defer unlock()
	snap, err := r.load()
	if err != nil {
		return r.store.explain(err, r.dir)
	}
	return r.store.explain(do(snap), r.dir)
}

// lock takes the room's lock, making the room's directory if need be.
func (r *Room[S]) lock(ctx context.Context) (func() error, error) {
	if err := r.store.step(StepLock); err != nil {
		return nil, err
	}
	if err := r.own(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.store.opts.Patience)
	unlock, err := lockfile.Lock(ctx, r.lockPath())
	if errors.Is(err, errNotThere) {
		if err = r.store.prepare(r.dir); err == nil {
			unlock, err = lockfile.Lock(ctx, r.lockPath())
		}
	}
	cancel()
	return unlock, err
}

// loadToWrite loads the room under its lock and removes what a crash left: a
// torn tail, a temporary file, a life that ended but was not archived.
func (r *Room[S]) loadToWrite() (*Snapshot[S], error) {
	if err := r.store.step(StepLoad); err != nil {
		return nil, err
	}
	if err := r.part(); err != nil {
		return nil, err
	}
	snap, err := r.load()
	if err != nil {
		return nil, err
	}
	if snap.torn > 0 {
		if err := r.cut(snap); err != nil {
			return nil, err
		}
	}
	if snap.Position.Offset > 0 && !r.rules.Live(snap.State) {
		return snap, r.archive(snap)
	}
	return snap, nil
}

// part parts the journal from what shares it: to append to a file that has a
// second name is to write outside the room. A copy made of hard links stays as it
// was made.
func (r *Room[S]) part() error {
	info, err := os.Lstat(r.JournalPath())
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if links(info) < 2 {
		return nil
	}
	return r.mendLinks()
}

func (r *Room[S]) cut(snap *Snapshot[S]) error {
	if err := r.store.step(StepCut); err != nil {
		return err
	}
	log, _, err := journal.OpenWriter(r.JournalPath())
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.Cut(snap.Position); err != nil {
		return err
	}
	snap.torn = 0
	return nil
}

// commit writes the events, tells of it and brings the projection up to date.
func (r *Room[S]) commit(snap *Snapshot[S], events []journal.Event, committed func()) error {
	now := journal.NewTime(r.store.opts.Now())
	for i := range events {
		e := &events[i]
		e.Seq, e.ID, e.RoomID, e.More = snap.Position.Seq+int64(i)+1, r.store.opts.NewID(), r.name, i < len(events)-1
		if e.CreatedAt.IsZero() {
			e.CreatedAt = now
		}
	}
	// Folding before writing: an event that cannot be folded must never get
	// into the journal.
	next := r.rules.Clone(snap.State)
	for i := range events {
		if err := r.rules.Apply(next, &events[i]); err != nil {
			return fmt.Errorf("the change does not fold: %w", err)
		}
	}
	r.wake(snap.State, next)
	log, _, err := journal.OpenWriter(r.JournalPath())
	if err != nil {
		return err
	}
	defer log.Close()
	if err := r.store.step(StepAppend); err != nil {
		return err
	}
	end, err := log.Append(snap.Position, events) // 5. The change is committed once this returns.
	if err != nil {
		return err
	}
	if snap.Position.Offset == 0 { // the file is new, or was left empty by a crash
		r.syncDirs()
	}
	committed()
	snap.State, snap.Position, snap.turn = next, end, events[len(events)-1].Turn
	if !r.rules.Live(next) && r.archive(snap) == nil {
		return nil
	}
	r.project(snap, log) // also of an ended life, which the next writer archives then
	return nil
}

// syncDirs makes a new journal findable after a power cut. It comes after the
// commit, so it is not allowed to fail it; a file system that cannot do it
// says so to nobody who could help.
func (r *Room[S]) syncDirs() {
	for _, dir := range []string{r.dir, parent(r.dir), r.store.dir, parent(r.store.dir)} {
		_ = lockfile.SyncDir(dir)
	}
}

// project replaces state.json (6). It is not allowed to fail the change: the
// next command replays what is missing.
func (r *Room[S]) project(snap *Snapshot[S], log *journal.Log) {
	_, mtime, err := log.Stat()
	if err != nil {
		return
	}
	snap.fresh = r.writeProjection(coverage{Position: snap.Position, Turn: snap.turn, MTime: mtime.UnixNano()}, snap.State) == nil
}

func (r *Room[S]) writeProjection(c coverage, s *S) error {
	if err := r.store.step(StepReplace); err != nil {
		return err
	}
	b, err := encodeProjection(r.rules, c, s)
	if err != nil {
		return err
	}
	// Whatever is in tmp now was left by a killed process: the lock is ours.
	if _, err := lockfile.Sweep(r.tempDir()); err != nil {
		return err
	}
	err = lockfile.Replace(r.statePath(), b, r.tempDir())
	if errors.Is(err, errNotThere) && makeDir(r.tempDir()) == nil {
		err = lockfile.Replace(r.statePath(), b, r.tempDir())
	}
	return err
}

// settle writes the projection of a room that was found behind its journal, so
// that the next reader need not replay it.
func (r *Room[S]) settle(snap *Snapshot[S]) {
	if snap.fresh || snap.Position.Offset == 0 {
		return
	}
	log, err := journal.Open(r.JournalPath())
	if err != nil {
		return
	}
	defer log.Close()
	r.project(snap, log)
}
