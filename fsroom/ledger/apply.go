package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	// Confirm is asked before the first step, if it is not nil.
	Confirm func(*Plan) bool
}

// An Outcome is what became of a [Change].
type Outcome struct {
	Plan      *Plan
	Before    *Snapshot // nil if nothing was done
	After     *Snapshot
	Changes   *Changes // between the two
	Confirmed bool
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
	if c.Confirm != nil && !c.Confirm(out.Plan) {
		return out, nil
	}
	out.Confirmed = true
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

// run writes all new contents to temporary files, then removes, then renames.
func (a *applier) run() error {
	temps := make([]string, len(a.Steps))
	for i, s := range a.Steps {
		if !s.To.exists() {
			continue
		}
		temps[i] = a.temp(i)
		if err := a.write(temps[i], s.To); err != nil {
			return &ApplyError{s.Path, err}
		}
	}
	for _, s := range a.Steps {
		if s.From.exists() && !s.To.exists() {
			if err := a.remove(s); err != nil {
				return err
			}
		}
	}
	for i, s := range a.Steps {
		if s.To.exists() {
			if err := a.replace(s, temps[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// write makes a file or link with its content and permissions.
func (a *applier) write(name string, to State) error {
	if err := a.ledger.opts.Fault("write"); err != nil {
		return err
	}
	data, err := a.objects.blob(to.ID)
	if err != nil {
		return err
	}
	name = filepath.FromSlash(name)
	if to.Mode == modeLink {
		return a.root.Symlink(string(data), name)
	}
	f, err := a.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return cmp.Or(err, f.Chmod(fs.FileMode(to.Perm&0o777)), f.Close())
}

func (a *applier) remove(s Step) error {
	if !a.isAsSeen(s) {
		return &ChangingError{[]string{s.Path}}
	}
	if err := a.ledger.opts.Fault("remove"); err != nil {
		return &ApplyError{s.Path, err}
	}
	if err := a.root.Remove(filepath.FromSlash(s.Path)); err != nil {
		return &ApplyError{s.Path, err}
	}
	a.done = append(a.done, s)
	a.removeEmpty(parent(s.Path))
	return nil
}

// removeEmpty removes directories that have become empty, as git does.
func (a *applier) removeEmpty(dir string) {
	for ; dir != "" && a.root.Remove(filepath.FromSlash(dir)) == nil; dir = parent(dir) {
	}
}

func (a *applier) replace(s Step, temp string) error {
	if err := a.ledger.opts.Fault("replace"); err != nil {
		return &ApplyError{s.Path, err}
	}
	if dir := parent(s.Path); dir != "" {
		if err := a.root.MkdirAll(filepath.FromSlash(dir), 0o777); err != nil {
			return &ApplyError{s.Path, err}
		}
	}
	if !a.isAsSeen(s) {
		return &ChangingError{[]string{s.Path}}
	}
	if st, err := linkStat(a.full(s.Path)); err == nil && st.mode == modeDir { // an empty one
		if err := a.removeDirs(s.Path); err != nil {
			return &ApplyError{s.Path, err}
		}
	}
	if err := a.root.Rename(filepath.FromSlash(temp), filepath.FromSlash(s.Path)); err != nil {
		return &ApplyError{s.Path, err}
	}
	a.done = append(a.done, s)
	return nil
}

// removeDirs removes a directory that has only directories.
func (a *applier) removeDirs(dir string) error {
	names, err := readDir(a.full(dir))
	if err != nil {
		return err
	}
	for _, n := range names {
		if n.mode != modeDir {
			return fmt.Errorf("%s/%s is in the way", dir, n.name)
		}
		if err := a.removeDirs(dir + "/" + n.name); err != nil {
			return err
		}
	}
	return a.root.Remove(filepath.FromSlash(dir))
}

// back puts back what was done: first what was written where nothing was, then the rest.
func (a *applier) back() {
	order := slices.Clone(a.done)
	slices.SortStableFunc(order, func(x, y Step) int {
		return cmp.Compare(boolInt(x.From.exists()), boolInt(y.From.exists()))
	})
	for i, s := range order {
		_ = a.putBack(i, s)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// putBack undoes a step, unless somebody else has changed the path since.
func (a *applier) putBack(i int, s Step) error {
	now, err := a.stateNow(s.Path)
	if err != nil || now != s.To {
		return err
	}
	if s.From.exists() {
		temp := strings.TrimPrefix(parent(s.Path)+"/"+a.Mark+"b"+itoa(i), "/")
		if dir := parent(s.Path); dir != "" {
			if err := a.root.MkdirAll(filepath.FromSlash(dir), 0o777); err != nil {
				return err
			}
		}
		_ = a.root.Remove(filepath.FromSlash(temp))
		if err := a.write(temp, s.From); err != nil {
			return err
		}
		return a.root.Rename(filepath.FromSlash(temp), filepath.FromSlash(s.Path))
	}
	if err := a.root.Remove(filepath.FromSlash(s.Path)); err != nil {
		return err
	}
	a.removeEmpty(parent(s.Path))
	return nil
}

// stateNow returns what stands at a path. A directory counts as nothing.
func (a *applier) stateNow(path string) (State, error) {
	st, err := linkStat(a.full(path))
	if errors.Is(err, fs.ErrNotExist) || err == nil && st.mode == modeDir {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	f := file{stat: st}
	data, err := content(a.root, filepath.FromSlash(path), &f)
	if err != nil {
		return State{}, err
	}
	s := State{Mode: f.mode, ID: hashObject(kindBlob, data)}
	if isRegular(f.mode) {
		s.Perm = f.perm
	}
	return s, nil
}

// removeTemps removes the temporary files of the application.
func (a *applier) removeTemps() {
	dirs := map[string]bool{"": true}
	for _, s := range a.Steps {
		for dir := parent(s.Path); dir != ""; dir = parent(dir) {
			dirs[dir] = true
		}
	}
	for dir := range dirs {
		names, err := readDir(a.full(dir))
		if err != nil {
			continue
		}
		for _, n := range names {
			if strings.HasPrefix(n.name, a.Mark) {
				_ = a.root.Remove(filepath.Join(filepath.FromSlash(dir), n.name))
			}
		}
	}
}

// Interrupted reports whether a killed process has left a change of the tree unfinished.
func (l *Ledger) Interrupted() bool {
	_, err := os.Stat(l.applyingFile())
	return err == nil
}

// Recover puts back what a killed process has changed. Everything that changes the store does
// so first.
func (l *Ledger) Recover(ctx context.Context) error {
	if !l.Interrupted() {
		return nil
	}
	unlock, err := l.lock(ctx)
	if err != nil {
		return unknown(err)
	}
	defer unlock()
	return l.recover()
}

func (l *Ledger) recover() error {
	b, err := os.ReadFile(l.applyingFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	a := &applier{application: new(application), ledger: l}
	if json.Unmarshal(b, a.application) != nil || !strings.HasPrefix(a.Mark, ".tt-") || !a.isLocal() {
		return os.Rename(l.applyingFile(), l.applyingFile()+".damaged")
	}
	if a.root, err = os.OpenRoot(l.opts.Root); err != nil {
		return err
	}
	defer a.root.Close()
	a.objects = openObjects(l.objectsDir(), findRepository(l.opts.Root, l.opts.Home), l.opts.Fault)
	defer a.objects.close()
	a.done = a.Steps
	a.back()
	a.removeTemps()
	return os.Remove(l.applyingFile())
}

// isLocal reports whether all paths are below the root.
func (a *application) isLocal() bool {
	return !slices.ContainsFunc(a.Steps, func(s Step) bool {
		return !filepath.IsLocal(filepath.FromSlash(s.Path)) || slices.ContainsFunc(strings.Split(s.Path, "/"), func(n string) bool { return !safeName(n) })
	}) && !strings.ContainsAny(a.Mark, "/\\")
}
