package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

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

// remove removes a file. It is renamed first and looked at once more: what was written since
// the first look comes back.
func (a *applier) remove(s Step) error {
	if !a.isAsSeen(s) {
		return &ChangingError{[]string{s.Path}}
	}
	if err := a.ledger.opts.Fault("remove"); err != nil {
		return &ApplyError{s.Path, err}
	}
	aside := filepath.FromSlash(strings.TrimPrefix(parent(s.Path)+"/"+a.Mark+"r", "/"))
	if err := a.root.Rename(filepath.FromSlash(s.Path), aside); err != nil {
		return &ApplyError{s.Path, err}
	}
	if !a.isSame(aside, s) {
		if _, err := linkStat(a.full(s.Path)); err != nil {
			_ = a.root.Rename(aside, filepath.FromSlash(s.Path))
		}
		return &ChangingError{[]string{s.Path}}
	}
	if err := a.root.Remove(aside); err != nil {
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
	if err := a.ledger.opts.Fault("rename"); err != nil {
		return &ApplyError{s.Path, err}
	}
	if err := a.rename(s, temp); err != nil {
		return err
	}
	a.done = append(a.done, s)
	return nil
}

// rename gives a new file the name of a step. Where the system can exchange two names, the
// old file is looked at once more, and comes back if it was written since the first look.
func (a *applier) rename(s Step, temp string) error {
	dir, base := filepath.FromSlash(parent(s.Path)), filepath.Base(s.Path)
	if s.From.exists() && parent(temp) == parent(s.Path) {
		swap := func() error { return exchange(a.root, cmp.Or(dir, "."), filepath.Base(temp), base) }
		switch err := swap(); {
		case err == nil && a.isSame(filepath.FromSlash(temp), s):
			return nil
		case err == nil:
			_ = swap()
			return &ChangingError{[]string{s.Path}}
		}
	}
	if !s.From.exists() { // a link, unlike a rename, replaces nothing
		switch err := a.root.Link(filepath.FromSlash(temp), filepath.FromSlash(s.Path)); {
		case err == nil:
			_ = a.root.Remove(filepath.FromSlash(temp))
			return nil
		case errors.Is(err, fs.ErrExist):
			return &ChangingError{[]string{s.Path}}
		}
	}
	if err := a.root.Rename(filepath.FromSlash(temp), filepath.FromSlash(s.Path)); err != nil {
		return &ApplyError{s.Path, err}
	}
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
