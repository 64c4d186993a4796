package fsroom

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/lockfile"
)

// A NotDirError means that something other than a directory has the name of one of the
// store's directories. Through a link, files outside the data directory would be read
// and written.
type NotDirError struct {
	Path string
	Mode fs.FileMode // the type bits alone
}

func (e *NotDirError) Error() string {
	return fmt.Sprintf("%s is %s, not a directory", e.Path, lockfile.TypeName(e.Mode))
}

// checkDirs returns a [*NotDirError] if one of dirs exists and is not a directory. It
// makes directories private that are not. It is not for the data directory itself,
// which may be a link, and open to others: its user may have other files in it.
func (s *Store) checkDirs(dirs ...string) error {
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.IsDir():
			return &NotDirError{Path: dir, Mode: info.Mode().Type()}
		default:
			s.keepPrivate(dir, info)
		}
	}
	return nil
}

// keepPrivate removes the access of other users to a file or directory, and says so
// with Warn.
func (s *Store) keepPrivate(path string, info fs.FileInfo) {
	mode := info.Mode().Perm()
	private := fs.FileMode(fileMode)
	if info.IsDir() {
		private = dirMode
	}
	if !info.IsDir() && lockfile.Links(info) > 1 {
		return // the other name may be outside of the room; see Unshare
	}
	if s.opts.LeaveModes || mode&0o077 == 0 || os.Chmod(path, private) != nil {
		return
	}
	if s.opts.Warn != nil {
		s.warned.Do(func() {
			s.opts.Warn(fmt.Sprintf("others had access to %s (mode %04o); it is private again", path, mode))
		})
	}
}

// CheckDirs checks the directories from the data directory down to the room.
func (r *Files[S]) CheckDirs() error {
	err := r.store.checkDirs(filepath.Dir(r.dir), r.dir)
	r.dirsChecked.Store(err == nil)
	r.agents.Clear()
	return err
}

// hasOtherNames reports whether path is a file that has other names (hard links).
func hasOtherNames(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && lockfile.Links(info) > 1
}

// Unshare replaces the journal and state.json by copies if they have other names (hard
// links): an append would write to a file outside of the room. A copy of the room that
// was made of hard links stays as it was made. The caller has the lock.
func (r *Files[S]) Unshare() error {
	const limit = 1 << 30
	for _, path := range []string{r.JournalPath(), r.StatePath()} {
		if !hasOtherNames(path) {
			continue
		}
		b, err := lockfile.ReadRegular(path, limit)
		if err != nil {
			return err
		}
		if err := r.Replace(path, b); err != nil {
			return err
		}
	}
	return nil
}

// Replace replaces a file of the room. When it returns nil, the new file is on the disk
// under its name. The caller has the lock.
func (r *Files[S]) Replace(path string, b []byte) error {
	if err := lockfile.Replace(path, b, r.TempDir()); err != nil {
		return err
	}
	return r.store.opts.SyncDir(filepath.Dir(path))
}

// asideMark is part of the name of a file that was moved aside.
const asideMark = ".aside-"

// IsAside reports whether a path is one that [Room.MoveAside] has given.
func IsAside(path string) bool { return strings.Contains(filepath.Base(path), asideMark) }

// MoveAside gives the file at path, which may be of any type, another name beside it.
func (r *Files[S]) MoveAside(path string) error {
	if err := os.Rename(path, path+asideMark+r.store.opts.NewID()[:8]); err != nil {
		return err
	}
	return r.store.opts.SyncDir(filepath.Dir(path))
}

// MakeDir creates a directory and its parents, private to the user. It is an error if
// something else has its name, also a link to a directory.
func MakeDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &NotDirError{Path: dir, Mode: info.Mode().Type()}
	}
	if err := lockfile.MakeDirs(filepath.Dir(dir), dirMode); err != nil {
		return err
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	lockfile.Adopt(dir)
	return nil
}

// Kept returns what this host keeps in a file beside the room, "" for nothing. No decision depends
// on it.
func (r *Files[S]) Kept(name string) string {
	b, _ := lockfile.ReadRegular(filepath.Join(r.Dir(), name), 1<<16)
	return string(b)
}

// Keep replaces what Kept returns, if that is possible.
func (r *Files[S]) Keep(name, content string) {
	_ = lockfile.ReplaceUnsynced(filepath.Join(r.Dir(), name), []byte(content), r.TempDir())
}
