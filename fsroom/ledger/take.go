package ledger

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Request says what a snapshot stands for.
type Request struct {
	Why   string
	Turn  int64
	Agent string
	Lease string // of the turn that begins
	Note  string
	// Moment is when what the snapshot stands for happened, if that is over: what changed
	// later is in it as it was before. The zero time stands for now.
	Moment time.Time
	// Margin is how exact Moment is.
	Margin time.Duration
	// Files, given with their whole paths, are all that is looked at, if there are any: the rest is as in the last snapshot,
	// where nothing speaks against that.
	Files []string
	// Line asks for a line of its own also if nothing has changed.
	Line bool
	// Ready, if it is not nil, is called as soon as the snapshot can be read, before it is safe
	// from a power cut. The store is locked.
	Ready func(*View, *Snapshot)
	// Unsynced leaves it to another process to make the snapshot safe from a power cut, see
	// [Ledger.Sync]: a disk that hangs does not keep this one from ending. What changed must not be
	// much, nor what others have left.
	Unsynced bool
}

// Take takes a snapshot. If nothing has changed since the last one, that is the answer unless
// the request asks for a line of its own.
//
// If there is an error, no snapshot was taken, or it is not safe from a power cut: see [WhyUnknown].
func (l *Ledger) Take(ctx context.Context, r Request) (s *Snapshot, err error) {
	err = l.locked(ctx, true, r, func(v *View) (err error) {
		s, err = l.record(v, r)
		return err
	})
	return s, err
}

// locked scans the tree and calls do while nobody else uses the store. See [Ledger.look].
func (l *Ledger) locked(ctx context.Context, keep bool, r Request, do func(*View) error) error {
	unlock, err := l.lock(ctx, !r.Unsynced)
	if err != nil {
		return err
	}
	defer unlock()
	if r.Unsynced && l.HasLeftMuch() {
		return errTooMuch
	}
	if err := l.recover(); err != nil {
		return err
	}
	if err := l.checkSpace(); err != nil {
		return err
	}
	v, err := l.look(ctx, keep, r)
	if err != nil {
		return err
	}
	defer v.Close()
	return do(v)
}

// record makes a snapshot of what was scanned.
func (l *Ledger) record(v *View, r Request) (*Snapshot, error) {
	if r.Ready == nil {
		r.Ready = func(*View, *Snapshot) {}
	}
	if start, _ := TurnOf(v.All, r.Turn); r.Why == WhyStart && start.Begins(r.Lease) { // a turn has one beginning
		r.Ready(v, start)
		return start, nil
	}
	s := v.Now
	s.Why, s.Room, s.Turn, s.Agent, s.Lease, s.Note = r.Why, l.opts.Room, r.Turn, r.Agent, r.Lease, r.Note
	if !r.Moment.IsZero() {
		if err := v.settle(s, r); err != nil {
			return nil, err
		}
	}
	if err := v.objects.write(); err != nil {
		return nil, err
	}
	if n := len(v.All); n > 0 && !r.Line && v.All[n-1].IsLike(s) && v.All[n-1].Ignored == s.Ignored {
		return v.All[n-1], v.done(r, v.All[n-1])
	}
	switch {
	case v.lost && r.Unsynced:
		return nil, errTooMuch
	case v.lost:
		if err := l.replaceLines(v.All, v.last); err != nil {
			return nil, err
		}
	}
	s.Number, s.Boot = 1, l.opts.Boot
	if v.last == nil && exists(l.cacheFile()) { // the lines are gone, whose numbers were told
		s.Number += mostLines
		if info, err := os.Stat(l.linesFile()); err != nil || info.Size() == 0 { // damaged ones still stand there
			l.drop(1)
		}
	} else if v.last != nil {
		s.Number += v.last.Number
		if v.last.Boot != s.Boot { // lines after it may have been lost in a power cut
			s.Number += mostLines
		}
	}
	if err := l.appendLine(s); err != nil {
		return nil, err
	}
	r.Ready(v, s)
	return s, v.done(r, s)
}

// done makes what was stored for a snapshot durable, and writes the cache. If that fails the
// number stays, which others may have been told.
func (v *View) done(r Request, s *Snapshot) error {
	if !r.Unsynced {
		if err := v.objects.syncPacks(); err != nil {
			return errors.Join(err, v.ledger.replaceLines(v.All, s))
		}
		if err := v.ledger.syncLines(); err != nil {
			return err
		}
	}
	v.writeCache()
	return nil
}

// Unsynced reports whether a snapshot waits for [Ledger.Sync].
func (l *Ledger) Unsynced() bool { return len(l.unsynced()) > 0 }

func (l *Ledger) unsynced() []string {
	left, _ := fs.Glob(os.DirFS(l.packDir()), unsyncedPrefix+"*") // whatever characters are in the name of the store
	return left
}

// What is left for [Ledger.Sync] at most: it is written again with each snapshot, and a power cut takes all of it.
const (
	mostLeft    = 128 << 10
	longestLeft = time.Minute
	mostLines   = 100 // that anybody writes meanwhile
)

// HasLeftMuch reports whether no more snapshots may be left for [Ledger.Sync].
func (l *Ledger) HasLeftMuch() bool {
	return slices.ContainsFunc(l.unsynced(), func(name string) bool {
		index := filepath.Join(l.packDir(), name)
		since, err := os.Stat(index)
		pack, err2 := os.Stat(packOf(index) + ".pack")
		return cmp.Or(err, err2) != nil || pack.Size() > mostLeft || time.Since(since.ModTime()).Abs() > longestLeft
	})
}

// Sync makes durable what other processes have left. So does everything that locks the store.
func (l *Ledger) Sync(ctx context.Context) error {
	if !l.Unsynced() {
		return nil
	}
	unlock, err := l.lock(ctx, true)
	if err != nil {
		return err
	}
	defer unlock()
	return l.syncLines()
}

// syncLines makes the lines durable.
func (l *Ledger) syncLines() error {
	if err := l.opts.Fault("line-sync"); err != nil {
		return err
	}
	if err := syncFile(l.linesFile()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// IsLike reports whether two snapshots have the same content.
func (s *Snapshot) IsLike(other *Snapshot) bool {
	return s.Tree == other.Tree && s.Scan == other.Scan && s.Head == other.Head &&
		s.Perm == other.Perm && maps.Equal(s.Modes, other.Modes) && slices.Equal(s.LeftOut, other.LeftOut)
}

var errFull = errors.New("the disk is too full")

// checkSpace refuses to fill the disk: with less than 512 MiB free, or two hundredths of a small one, nothing is stored.
func (l *Ledger) checkSpace() error {
	if free, size := freeSpace(l.dir); free < min(l.opts.Limits.Free, size/50) {
		return errFull
	}
	return nil
}
