package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// back puts back what was done: first what was written where nothing was, then the rest.
func (a *applier) back() {
	order := slices.Clone(a.done)
	compare := func(x, y Step) int {
		return cmp.Compare(boolInt(x.From.exists()), boolInt(y.From.exists()))
	}
	sort.SliceStable(order, func(i, j int) bool { return compare(order[i], order[j]) < 0 })
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
