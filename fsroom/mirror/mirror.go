package mirror

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile"
)

// A mirror is a room whose changes an engine orders.
type mirror[S any] struct {
	*fsroom.Files[S]
	engine  engine.Engine          // nil: it is not asked
	locked  atomic.Bool            // by this mirror, so nothing is fetched or sent
	away    atomic.Pointer[error]  // why the last fetch did not reach the engine; nil: it did
	ahead   atomic.Pointer[marker] // with a note that could not be written to the mirror; may be nil
	fetched atomic.Pointer[tail]   // the last one; nil: none yet
	records records
}

// New returns how the engine of a store shares a room. Without an engine, which a store may
// have or not, the room is its mirror as it is. New is the value of [fsroom.Rules].Share in
// a program that has engines.
func New[S any](files *fsroom.Files[S]) fsroom.Shared[S] {
	return &mirror[S]{Files: files, engine: files.Store().Options().Engine}
}

var (
	// errLinesLost means that the mirror's journal has lost lines, and is fetched again.
	errLinesLost = errors.New("the mirror has lost lines")
	// errOvertaken means that a change has to be decided again.
	errOvertaken = errors.New("another change came first")
)

func (r *mirror[S]) engineName() string { return r.Rules().Folder + "." + r.Name() }

func (r *mirror[S]) markerPath() string { return filepath.Join(r.Dir(), "mirror.json") }

func (r *mirror[S]) readMarker() (m marker) {
	b, err := lockfile.ReadRegular(r.markerPath(), 1<<20)
	if err != nil || wire.Decode(b, &m) != nil || m.Revision < 0 {
		return marker{}
	}
	return m
}

func (r *mirror[S]) writeMarker(m marker) error {
	return lockfile.ReplaceUnsynced(r.markerPath(), append(wire.Append(nil, &m), '\n'), r.TempDir())
}

// fetch asks the engine for what the mirror does not have. Nothing is locked meanwhile.
//
// If the engine does not have the change at the marker, another host may have given it
// back what it lost, at other revisions. Then everything is fetched, and compared.
func (r *mirror[S]) fetch(ctx context.Context) (*tail, error) {
	asked := time.Now()
	m := r.readMarker()
	t, err := r.fetchFrom(ctx, m)
	if errors.Is(err, engine.ErrRewound) && m.Revision > 0 {
		if t, err = r.fetchFrom(ctx, marker{}); len(t.entries) == 0 && err == nil {
			err = engine.ErrRewound
		}
		t.stale = &m
	}
	if t.at, t.took = asked, time.Since(asked); err == nil && t.stale == nil {
		r.confirmed(false)
		r.fetched.Store(t)
	}
	if a := r.ahead.Load(); err == nil && a != nil && a.NoteRevision > int64(t.last) { // of a store that was lost
		r.ahead.CompareAndSwap(a, nil)
	}
	if err = r.explainEngine(err); fsroom.IsUnreachable(err) {
		r.away.Store(&err)
	} else if err == nil {
		if r.away.Store(nil); !t.news() { // else it is up to date when it has them
			r.reached()
		}
	}
	return t, err
}

func (r *mirror[S]) fetchFrom(ctx context.Context, m marker) (*tail, error) {
	t := &tail{from: m, last: engine.Revision(m.Revision), chain: chain{seq: m.Seq}}
	err := r.engine.Read(ctx, r.engineName(), t.last, t.add)
	if err == nil {
		err = t.chain.err()
	}
	if err == nil && m.Revision > 0 && (len(t.entries) == 0 || lastEventID(t.entries[0].Lines) != m.EventID) {
		err = engine.ErrRewound // another change is at this revision
	}
	return t, err
}

// fetchedFile is a file whose time is when the mirror was up to date last, to a second.
const fetchedFile = "fetched"

// reached records that the engine has answered, and the mirror is up to date.
func (r *mirror[S]) reached() {
	r.away.Store(nil)
	path, now := filepath.Join(r.Dir(), fetchedFile), r.Store().Options().Now()
	at := r.asOf()
	if now.Sub(at).Abs() < time.Second || at.IsZero() && !r.HasDir() {
		return
	}
	if at.IsZero() {
		if f, err := lockfile.OpenRegular(path, os.O_WRONLY|os.O_CREATE); err == nil {
			f.Close()
		}
	}
	_ = lockfile.Touch(path, now)
}

// asOf returns when the mirror was up to date last; zero: it never was.
func (r *mirror[S]) asOf() (at time.Time) {
	if info, err := os.Lstat(filepath.Join(r.Dir(), fetchedFile)); err == nil {
		at = info.ModTime()
	}
	return at
}

// Current implements [fsroom.Shared]. Who keeps the mirror up to date asks the engine every
// pullPoll.
func (r *mirror[S]) Current() bool {
	return r.Store().Options().Now().Sub(r.asOf()).Abs() < pullPoll+pullPoll/2
}

func (r *mirror[S]) Unreachable() (asOf time.Time, err error) {
	if last := r.away.Load(); last != nil {
		err = *last
	}
	return r.asOf(), err
}

// recent returns what was fetched a moment ago, nil if the engine has to be asked. It is no
// older than if the command had been run that much earlier, and what is decided on it is
// compared with the engine by Append.
func (r *mirror[S]) recent() *tail {
	t := r.fetched.Load()
	if t == nil || time.Since(t.at) > r.brief() || r.readMarker().Revision < t.from.Revision {
		return nil
	}
	return t
}

// brief is how long what was fetched is used: as long as one command takes, which with a far
// engine depends on the round trips. It is 0 in a process that runs for longer.
func (r *mirror[S]) brief() time.Duration {
	brief := r.Store().Options().Brief
	if t := r.fetched.Load(); brief > 0 && t != nil {
		brief = max(brief, min(roundTripsOfCommand*t.took, mostBrief))
	}
	return brief
}

const (
	roundTripsOfCommand = 16 // at most, or nearly
	mostBrief           = 4 * time.Second
)

// has reports whether the mirror has what is in the tail. Revisions alone do not tell: a store that was
// copied back gives some again.
func (r *mirror[S]) has(t *tail) bool {
	m, change := r.readMarker(), t.from.Revision
	var note *engine.Entry
	for i := range t.entries {
		if e := &t.entries[i]; e.Lines == nil {
			note = e
		} else {
			change = int64(e.Revision)
		}
	}
	return m.Revision >= change && t.follows(m) && (note == nil || !m.lacks(*note))
}

// noLimit is the patience of those who wait for the mirror's lock as others do.
const noLimit = time.Duration(-1)

// refresh brings the mirror up to date, and returns what it has fetched. The mirror is behind that if another process
// has its lock for as long as the patience. t is what was fetched before, unless it is nil.
func (r *mirror[S]) refresh(ctx context.Context, t *tail, patience time.Duration) (_ *tail, behind bool, err error) {
	for ; ; t = nil {
		if t == nil {
			t, err = r.fetch(ctx)
		} else if r.has(t) {
			return t, false, nil
		}
		if err != nil || !t.news() {
			return t, false, err
		}
		if t.stale != nil && patience == 0 { // it is to be compared with the mirror, not added to it
			patience = noLimit
		}
		err = r.absorbLocked(ctx, t, patience)
		var busy *lockfile.BusyError
		switch {
		case errors.Is(err, errLinesLost):
		case patience >= 0 && errors.As(err, &busy):
			r.ahead.Store(t.lastNote())
			return t, true, nil
		default:
			return t, false, err
		}
	}
}

// tryLock is lock; with a patience, it fails if another process has the lock for so long, and asks no engine.
func (r *mirror[S]) tryLock(ctx context.Context, patience time.Duration) (unlock func() error, err error) {
	if patience < 0 {
		return r.lock(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return r.Acquire(ctx)
}

func (r *mirror[S]) absorbLocked(ctx context.Context, t *tail, patience time.Duration) error {
	unlock, err := r.tryLock(ctx, patience)
	if err != nil {
		return err
	}
	defer unlock()
	return r.heal(ctx, r.absorb(t))
}

// View is Load after a refresh. If the engine cannot be reached and the store
// may be behind, it returns the mirror as it is.
func (r *mirror[S]) View(ctx context.Context) (*fsroom.Snapshot[S], error) {
	if r.engine == nil || r.locked.Load() {
		return r.Load()
	}
	snap, _, err := r.view(ctx, r.recent())
	if fsroom.IsUnreachable(err) && r.Store().MayBeBehind(err) {
		return r.Load()
	}
	return snap, err
}

// view is View of what the engine says, and returns its last revision: what the room has is that, or later. t is what was
// fetched before, unless it is nil.
func (r *mirror[S]) view(ctx context.Context, t *tail) (*fsroom.Snapshot[S], engine.Revision, error) {
	for ; ; t = nil {
		t, behind, err := r.refresh(ctx, t, 0)
		if err != nil {
			return nil, 0, err
		}
		snap, err := r.Load()
		if err != nil {
			if _, err = r.loadChecked(ctx, noLimit); err == nil || errors.Is(err, errLinesLost) {
				continue
			}
			return nil, 0, err
		}
		if m := r.readMarker(); m.linesLost(snap.Position) || snap.Position.Seq > m.Seq {
			// Another process may be writing just now: the lock tells.
			patience := time.Duration(0)
			if m.linesLost(snap.Position) {
				patience = noLimit
			}
			now, checkErr := r.loadChecked(ctx, patience)
			var busy *lockfile.BusyError
			if snap.Position.Seq < m.Seq || !errors.As(checkErr, &busy) {
				snap, err = now, checkErr
			}
		}
		switch {
		case errors.Is(err, errLinesLost) || errors.Is(err, errOvertaken):
			continue
		case err == nil && behind:
			err = r.foldAhead(snap, t)
		}
		return snap, t.last, err
	}
}

// loadChecked is Load with the mirror locked, and compares the mirror with its marker.
// It waits for the lock as tryLock does.
func (r *mirror[S]) loadChecked(ctx context.Context, patience time.Duration) (*fsroom.Snapshot[S], error) {
	unlock, err := r.tryLock(ctx, patience)
	if err != nil {
		return nil, err
	}
	defer unlock()
	snap, err := r.Load()
	if err != nil {
		return nil, r.heal(ctx, err)
	}
	return snap, r.check(ctx, snap.Position)
}

// foldAhead folds what the mirror does not have yet, in memory only.
func (r *mirror[S]) foldAhead(snap *fsroom.Snapshot[S], ahead *tail) error {
	for _, entry := range ahead.entries {
		if entry.Lines == nil {
			continue
		}
		events, err := decodeChange(entry.Lines)
		if err != nil {
			return err
		}
		for i := range events {
			if events[i].Seq <= snap.Position.Seq {
				continue
			}
			if err := r.Rules().Apply(snap.State, &events[i]); err != nil {
				return err
			}
			snap.Advance(journal.Position{Offset: snap.Position.Offset, Seq: events[i].Seq}, events[i].Turn)
		}
		if last := &events[len(events)-1]; last.Seq == snap.Position.Seq && !r.Rules().Live(snap.State) {
			*snap = *r.Continued(last)
		}
	}
	return nil
}

// Exists reports whether the room has a journal once the mirror is up to date. It is true
// if the engine does not answer, unless the store may be behind.
func (r *mirror[S]) Exists() bool {
	if r.engine == nil {
		return false
	}
	_, _, err := r.refresh(context.Background(), r.recent(), noLimit)
	return r.unlessBehind(err) != nil || r.HasJournal()
}

// Refresh is refresh for those who read the journal.
func (r *mirror[S]) Refresh(ctx context.Context) error {
	if r.engine == nil || r.locked.Load() {
		return nil
	}
	_, _, err := r.refresh(ctx, nil, noLimit)
	return r.Store().Explain(r.unlessBehind(err), r.Dir())
}
