package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/lockfile"
)

// An application is a plan that has begun. It is kept in a file until it is done, so that the
// next process can put back what a killed one has changed.
type application struct {
	Before int64  `json:"before"` // the snapshot to return to
	Mark   string `json:"mark"`   // in the names of temporary files
	Steps  []Step `json:"steps"`
}

func (l *Ledger) applyingFile() string { return filepath.Join(l.dir, "applying.json") }

// A ChangingError means that a file changed while the plan was carried out. Everything is as
// it was before, but that file.
type ChangingError struct{ Paths []string }

func (e *ChangingError) Error() string {
	return "the tree changes at this moment: " + strings.Join(e.Paths, ", ")
}

// An ApplyError means that the system refused a step. Everything is as it was before.
type ApplyError struct {
	Path string
	Err  error
}

func (e *ApplyError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }
func (e *ApplyError) Unwrap() error { return e.Err }

// A Change is a restore or an undo.
type Change struct {
	Before Request // of the snapshot before it
	After  Request // of the one after it; without Why there is none
	Plan   func(*View, []*Snapshot) (*Plan, error)
	Dry    bool // plan only
}

// An Outcome is what became of a [Change].
type Outcome struct {
	Plan    *Plan
	Before  *Snapshot // nil if nothing was done
	After   *Snapshot
	Changes *Changes // between the two
}

// Do carries out a change while nobody else uses the store. A plan with conflicts or without
// steps changes nothing and takes no snapshot.
//
// The error is an [UnknownError] if the snapshot before could not be taken, a
// [ChangingError], or an [ApplyError]. The tree is as before then, in so far as this process
// has changed it.
func (l *Ledger) Do(ctx context.Context, c Change) (*Outcome, error) {
	unlock, err := l.lock(ctx)
	if err != nil {
		return nil, unknown(err)
	}
	defer unlock()
	if err := l.recover(); err != nil {
		return nil, err
	}
	if err := l.checkSpace(); err != nil {
		return nil, err
	}
	v, err := l.look(ctx, !c.Dry)
	if err != nil {
		return nil, unknown(err)
	}
	defer v.close()
	all, err := l.Snapshots()
	if err != nil {
		return nil, unknown(err)
	}
	out := &Outcome{}
	if out.Plan, err = c.Plan(v, all); err != nil {
		return nil, &ApplyError{Path: l.opts.Root, Err: err}
	}
	if c.Dry || len(out.Plan.Conflicts) > 0 || len(out.Plan.Steps) == 0 {
		return out, nil
	}
	if out.Before, err = l.record(v, all, c.Before); err != nil {
		return nil, unknown(err)
	}
	if err := l.apply(v, out.Plan.Steps, out.Before); err != nil {
		return out, err
	}
	l.after(ctx, c.After, out)
	return out, nil
}

// after takes the snapshot after a change, and compares it with the one before. The change is
// done: an error only means that this is not known.
func (l *Ledger) after(ctx context.Context, r Request, out *Outcome) {
	if r.Why == "" {
		return
	}
	v, err := l.look(ctx, true)
	if err != nil {
		return
	}
	defer v.close()
	all, err := l.Snapshots()
	if err != nil {
		return
	}
	r.Line = true
	if out.After, err = l.record(v, all, r); err == nil {
		out.Changes, _ = v.Changes(out.Before, out.After, nil, MostPaths)
	}
}

// MostPaths is how many paths the facts about a stretch of time name.
const MostPaths = 20

// An applier carries out steps.
type applier struct {
	*application
	ledger  *Ledger
	root    *os.Root
	objects *objects
	seen    map[string]*file // what the scan found
	done    []Step
}

func (l *Ledger) apply(v *View, steps []Step, before *Snapshot) error {
	root, err := os.OpenRoot(l.opts.Root)
	if err != nil {
		return &ApplyError{l.opts.Root, err}
	}
	defer root.Close()
	a := &applier{application: &application{Before: before.Number, Mark: fmt.Sprintf(".tt-%d-%d-", before.Number, os.Getpid()), Steps: steps}, ledger: l, root: root, objects: v.objects, seen: map[string]*file{}}
	v.top.each(func(path string, _ *directory, f *file) { a.seen[path] = f })
	if err := a.begin(); err != nil {
		return err
	}
	err = a.run()
	if err != nil {
		a.back()
	}
	a.removeTemps()
	if l.opts.Fault("applied") == nil {
		_ = os.Remove(l.applyingFile())
	}
	return err
}

// begin checks that every path is as planned, and writes down what is about to be done.
func (a *applier) begin() error {
	for _, s := range a.Steps {
		if !a.isAsSeen(s) {
			return &ChangingError{[]string{s.Path}}
		}
	}
	b, err := json.Marshal(a.application)
	if err == nil {
		err = a.ledger.opts.Fault("applying")
	}
	if err == nil {
		err = lockfile.Replace(a.ledger.applyingFile(), b, a.ledger.dir)
	}
	if err == nil {
		err = lockfile.SyncDir(a.ledger.dir)
	}
	if err != nil {
		return &ApplyError{a.ledger.applyingFile(), err}
	}
	return nil
}

// isAsSeen reports whether a path is what it was when the tree was scanned.
func (a *applier) isAsSeen(s Step) bool {
	st, err := linkStat(a.full(s.Path))
	f := a.seen[s.Path]
	if f == nil || !s.From.exists() {
		return err != nil || st.mode == modeDir
	}
	return err == nil && st == f.stat
}

// isSame reports whether a file that was moved is the one that was seen: moving it changes
// only its time of change.
func (a *applier) isSame(aside string, s Step) bool {
	st, err := linkStat(filepath.Join(a.ledger.opts.Root, aside))
	f := a.seen[s.Path]
	if err != nil || f == nil {
		return false
	}
	st.ctime = f.ctime
	return st == f.stat
}

func (a *applier) full(path string) string {
	return filepath.Join(a.ledger.opts.Root, filepath.FromSlash(path))
}

// temp returns the name of the temporary file of a step, beside its place or in the nearest
// directory above that is there.
func (a *applier) temp(i int) string {
	dir := parent(a.Steps[i].Path)
	for dir != "" {
		if st, err := linkStat(a.full(dir)); err == nil && st.mode == modeDir {
			break
		}
		dir = parent(dir)
	}
	return strings.TrimPrefix(dir+"/"+a.Mark+itoa(i), "/")
}
