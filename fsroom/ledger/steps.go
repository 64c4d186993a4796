package ledger

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/talking-stick/tt/lockfile"
)

// An applier carries out the steps of a plan. It is kept in a file until it is done, so that
// the next process can put back what a killed one has changed.
type applier struct {
	Before int64  `json:"before"` // the snapshot to return to
	Mark   string `json:"mark"`   // in the names of temporary files
	Steps  []Step `json:"steps"`

	ledger  *Ledger
	root    *os.Root
	objects *objects
	still   func() error // see [Change]
}

// withPaths returns the applier with its paths in another form.
func (a applier) withPaths(as func(string) string) *applier {
	a.Steps = slices.Clone(a.Steps)
	for i := range a.Steps {
		a.Steps[i].Path = as(a.Steps[i].Path)
	}
	return &a
}

// stored returns a path as a file of JSON has it: one that is not UTF-8 quoted, after a byte that is in no path.
func stored(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return "\x00" + strconv.Quote(path)
}

// unstored returns the path that [stored] was given.
func unstored(text string) string {
	if quoted, ok := strings.CutPrefix(text, "\x00"); ok {
		if path, err := strconv.Unquote(quoted); err == nil {
			return path
		}
	}
	return text
}

func (l *Ledger) applyingFile() string { return filepath.Join(l.dir, "applying.json") }

// apply carries out steps, or puts back what it has done.
func (l *Ledger) apply(v *View, steps []Step, before *Snapshot, still func() error) error {
	root, err := os.OpenRoot(l.opts.Root)
	if err != nil {
		return &ApplyError{l.opts.Root, err}
	}
	defer root.Close()
	a := &applier{before.Number, fmt.Sprintf(".tt-%d-%d-", before.Number, os.Getpid()), steps, l, root, v.objects, still}
	if err := a.begin(); err != nil {
		return err
	}
	if err = a.run(); err != nil {
		a.back()
	}
	_ = os.Remove(l.applyingFile())
	return err
}

// begin checks that every path is as planned, and writes down what is about to be done.
func (a *applier) begin() error {
	for _, s := range a.Steps {
		if now, err := a.state(s.Path); err != nil || now != s.From {
			return &ApplyError{Printable(s.Path), ErrChanging}
		}
	}
	b, err := json.Marshal(a.withPaths(stored))
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

// run removes, then writes.
func (a *applier) run() error {
	for _, write := range []bool{false, true} {
		for i, s := range a.Steps {
			if s.To.exists() != write {
				continue
			}
			err := a.still()
			if err == nil {
				err = a.step(i, s)
			}
			if err != nil {
				return &ApplyError{Printable(s.Path), err}
			}
		}
	}
	a.removeEmpty()
	if err := cmp.Or(a.still(), a.ledger.opts.Fault("applied")); err != nil {
		return &ApplyError{a.ledger.applyingFile(), err}
	}
	return nil
}

// back takes back what was done of the steps, also of one that was not finished. What somebody
// else has changed since stays.
func (a *applier) back() {
	for _, written := range []bool{true, false} {
		for i, s := range a.Steps {
			if s.To.exists() != written {
				continue
			}
			a.tidy(i, s)
			if now, err := a.state(s.Path); err == nil && now == s.To {
				_ = a.step(i, Step{s.Path, s.To, s.From})
			}
		}
	}
	a.removeEmpty()
}

// beside returns the path of a temporary file beside that of a step.
func (a *applier) beside(i int, s Step, what string) string {
	return filepath.Join(filepath.FromSlash(parent(s.Path)), a.Mark+itoa(i)+what)
}

// step makes a path what it is to be. The new content is written beside it; then what stands
// there is moved aside and looked at: what was written since the plan was made comes back. Then
// the new file gets the name, if nobody else has taken it.
func (a *applier) step(i int, s Step) error {
	err := a.change(s, filepath.FromSlash(s.Path), a.beside(i, s, "new"), a.beside(i, s, "old"))
	if err != nil {
		a.tidy(i, s)
	}
	return err
}

func (a *applier) change(s Step, path, next, aside string) error {
	fault := a.ledger.opts.Fault
	if s.To.exists() {
		if dir, err := noDir(a.ledger.opts.Root, s.Path); dir != "" && err == nil { // a link would be followed
			return ErrChanging
		}
		if err := a.write(next, s.To); err != nil {
			return err
		}
	}
	if err := fault("replace"); err != nil {
		return err
	}
	if s.From.exists() {
		if err := a.root.Rename(path, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if now, err := a.state(aside); err != nil || now != s.From {
			return ErrChanging
		}
	}
	if err := fault("rename"); err != nil {
		return err
	}
	if s.To.exists() {
		if st, err := linkStat(a.ledger.full(path)); err == nil && st.mode == modeDir {
			if err := a.removeDirs(path); err != nil {
				return err
			}
		}
		if err := a.place(next, path); errors.Is(err, fs.ErrExist) {
			return ErrChanging
		} else if err != nil {
			return err
		}
	}
	_ = a.root.Remove(aside)
	return nil
}

// tidy ends a step that was cut off: what stands aside comes back if nothing is in its place.
func (a *applier) tidy(i int, s Step) {
	_ = a.root.Remove(a.beside(i, s, "new"))
	aside := a.beside(i, s, "old")
	if a.place(aside, filepath.FromSlash(s.Path)) == nil {
		return
	}
	if old, err := a.state(aside); err == nil && (old == s.From || old == s.To) { // else it is somebody's work
		_ = a.root.Remove(aside)
	}
}

// place gives a file a name that no other has: a link, unlike a rename, replaces nothing.
func (a *applier) place(from, to string) error {
	err := a.root.Link(from, to)
	if err == nil {
		return a.root.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := a.root.Lstat(to); err == nil { // the file system has no links
		return fs.ErrExist
	}
	return a.root.Rename(from, to)
}

// write makes a file or link with its content and permissions.
func (a *applier) write(name string, to State) error {
	if err := a.ledger.opts.Fault("write"); err != nil {
		return err
	}
	if err := a.root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	data, err := a.objects.blob(to.ID)
	if err != nil {
		return err
	}
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

// state returns what stands at a path. A directory counts as nothing, and below a file or link there is nothing.
func (a *applier) state(path string) (State, error) {
	dir, err := noDir(a.ledger.opts.Root, filepath.ToSlash(path))
	if dir != "" && err == nil {
		return State{}, nil
	}
	var st stat
	if err == nil {
		st, err = linkStat(a.ledger.full(path))
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && st.mode == modeDir {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	f := file{stat: st}
	data, _, err := content(a.root, filepath.FromSlash(path), &f)
	if err != nil {
		return State{}, err
	}
	s := State{Mode: f.mode, ID: hashObject(kindBlob, data)}
	if isRegular(f.mode) {
		s.Perm = f.perm
	}
	return s, nil
}

// noDir returns the first of the directories above a path that is none, but missing or a file or link, "" if all
// are. What a link leads to is not looked at.
func noDir(root, path string) (dir string, err error) {
	for i := range len(path) {
		if path[i] == '/' {
			if st, err := linkStat(filepath.Join(root, filepath.FromSlash(path[:i]))); err != nil || st.mode != modeDir {
				return path[:i], err
			}
		}
	}
	return "", nil
}

// removeDirs removes a directory that has only directories.
func (a *applier) removeDirs(dir string) error {
	names, err := readDir(a.ledger.full(dir))
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := a.removeDirs(filepath.Join(dir, n.name)); err != nil {
			return err
		}
	}
	return a.root.Remove(dir)
}

// removeEmpty removes the directories of the steps that have become empty, as git does.
func (a *applier) removeEmpty() {
	for _, s := range a.Steps {
		for dir := parent(s.Path); dir != ""; dir = parent(dir) {
			if file, _ := noDir(a.ledger.opts.Root, dir+"/"); file != "" || a.root.Remove(filepath.FromSlash(dir)) != nil {
				break
			}
		}
	}
}

// Changing reports whether a process changes the tree at this moment: an undo or restore writes, or puts back.
func (l *Ledger) Changing() bool {
	if !l.Interrupted() {
		return false
	}
	unlock, err := lockfile.TryLock(filepath.Join(l.dir, "lock"))
	if unlock != nil {
		_ = unlock()
	}
	return err == nil && unlock == nil
}

// Interrupted reports whether a killed process has left a change of the tree unfinished.
func (l *Ledger) Interrupted() bool { return exists(l.applyingFile()) }

// recover puts back what a killed process has changed. Everything that changes the store does so first.
func (l *Ledger) recover() error {
	b, err := os.ReadFile(l.applyingFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	a := &applier{ledger: l}
	bad := json.Unmarshal(b, a) != nil
	if a = a.withPaths(unstored); bad || !strings.HasPrefix(a.Mark, ".tt-") || !a.isLocal() {
		return os.Rename(l.applyingFile(), l.applyingFile()+".damaged")
	}
	if a.root, err = os.OpenRoot(l.opts.Root); err != nil {
		return err
	}
	defer a.root.Close()
	a.objects = openObjects(l.objectsDir(), findRepository(l.opts.Root, l.opts.Home), l.opts.Fault)
	defer a.objects.close()
	a.back()
	_ = os.WriteFile(filepath.Join(l.dir, putBack), nil, 0o600)
	return os.Remove(l.applyingFile())
}

const putBack = "put-back" // a file that is there until [Ledger.WasPutBack]

// WasPutBack reports, once, whether what a killed process had changed was put back.
func (l *Ledger) WasPutBack() bool { return os.Remove(filepath.Join(l.dir, putBack)) == nil }

// isLocal reports whether all paths are below the root.
func (a *applier) isLocal() bool {
	return !strings.ContainsAny(a.Mark, "/\\") && !slices.ContainsFunc(a.Steps, func(s Step) bool {
		unsafe := func(name string) bool { return !safeName(name) }
		return !filepath.IsLocal(filepath.FromSlash(s.Path)) || slices.ContainsFunc(strings.Split(s.Path, "/"), unsafe)
	})
}
