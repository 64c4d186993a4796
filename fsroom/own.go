package fsroom

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/talking-stick/tt/lockfile"
)

// A PlantedError says that something else stands where a directory of ours
// should be. Through a link, files outside the data directory would be read and
// written.
type PlantedError struct {
	Path string
	Mode fs.FileMode // the type bits alone
}

func (e *PlantedError) Error() string {
	return fmt.Sprintf("%s is %s, not a directory", e.Path, lockfile.TypeName(e.Mode))
}

// own returns nil for a directory of ours, which it makes private again if it is
// not, and for one that does not exist. The data directory itself may be a link,
// and open to others: it is its user's, who may have other things in it.
func (s *Store) own(dirs ...string) error {
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.IsDir():
			return &PlantedError{Path: dir, Mode: info.Mode().Type()}
		default:
			s.keepPrivate(dir, info)
		}
	}
	return nil
}

// keepPrivate takes from others the access to a file or directory that they have
// been given, and says so.
func (s *Store) keepPrivate(path string, info fs.FileInfo) {
	mode := info.Mode().Perm()
	private := fs.FileMode(fileMode)
	if info.IsDir() {
		private = dirMode
	}
	if !info.IsDir() && lockfile.Links(info) > 1 {
		return // the other name is somebody else's; a writer parts them
	}
	if !privateModes || s.opts.LeaveModes || mode&0o077 == 0 || os.Chmod(path, private) != nil {
		return
	}
	if s.opts.Warn != nil {
		s.warned.Do(func() {
			s.opts.Warn(fmt.Sprintf("others had access to %s (mode %04o); it is private again", path, mode))
		})
	}
}

// own returns nil if the directories down to the room are ours.
func (r *Room[S]) own() error {
	err := r.store.own(parent(r.dir), r.dir)
	r.sound.Store(err == nil)
	return err
}

// makeDir makes a directory and its parents, private to the user. What stands in
// its place, a link too, is an error.
func makeDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &PlantedError{Path: dir, Mode: info.Mode().Type()}
	}
	if err := lockfile.MakeDirs(parent(dir), dirMode); err != nil {
		return err
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	lockfile.Adopt(dir)
	return nil
}
