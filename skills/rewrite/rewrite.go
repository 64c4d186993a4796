// Package rewrite replaces files that belong to other programs.
//
// A settings file of a harness may be a symbolic link into somebody's
// dotfiles, may have its own mode and owner, and may be rewritten by its owner
// at any moment. So a file is replaced where it really is, in one step, with its
// mode kept, and only while it still has the content the change was made from.
// What it had before is kept in a backup directory of ours, never beside it:
// some harnesses load every file they find in a directory. Of each file the last
// ten backups are kept.
package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// ErrChanged reports that a file was changed by somebody else between the
// moment its content was read and the moment it was to be replaced.
var ErrChanged = errors.New("changed by another program meanwhile")

// newFileMode is the mode of a file that did not exist before.
const newFileMode fs.FileMode = 0o644

// A Writer replaces files and keeps what they contained.
type Writer struct {
	Backups string           // directory for backups, created when needed; "" keeps none
	Now     func() time.Time // names the backups
}

// Replace gives the file at path the content data if it still has the content
// before; a nil before means that the file does not exist yet. It returns the
// path of the backup, "" when there was nothing to keep.
//
// When Replace returns nil, path has the new content and the old mode (and,
// where the caller may set it, the old owner). On an error it is as it was. A
// process that dies on the way leaves path with the old or the new content,
// never a part of either. A symbolic link stays; what it points to is replaced.
func (w *Writer) Replace(path string, before, data []byte) (backup string, err error) {
	real, err := resolve(path)
	if err != nil {
		return "", err
	}
	if err := unchanged(real, before); err != nil {
		return "", err
	}
	if before != nil {
		if backup, err = w.keep(real, before); err != nil {
			return "", err
		}
	}
	return backup, lockfile.ReplaceWhen(func(file *os.File) error {
		if err := likeOld(file, real); err != nil {
			return err
		}
		if err := file.Sync(); err != nil { // it takes long, so it comes before the last look
			return err
		}
		return unchanged(real, before)
	}, real, data, filepath.Dir(real))
}

// Remove deletes the file at path if it still has the content before. It
// unlinks a symbolic link, never what it points to.
func (w *Writer) Remove(path string, before []byte) (backup string, err error) {
	if err := unchanged(path, before); err != nil {
		return "", err
	}
	if backup, err = w.keep(path, before); err != nil {
		return "", err
	}
	return backup, os.Remove(path)
}

// resolve returns the file that a write to path would reach. A link to a file
// that does not exist is refused: creating its target is not ours to decide.
func resolve(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return path, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("%s is a symbolic link that leads nowhere", path)
	}
	return real, nil
}

func unchanged(path string, before []byte) error {
	now, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if before == nil {
			return nil
		}
		return fmt.Errorf("%s: %w", path, ErrChanged)
	}
	if err != nil {
		return err
	}
	if before == nil || !bytes.Equal(now, before) {
		return fmt.Errorf("%s: %w", path, ErrChanged)
	}
	return nil
}

// likeOld gives temp the mode of the file at path and tries to give it its owner.
func likeOld(temp *os.File, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		lockfile.AdoptLike(temp.Name(), filepath.Dir(path))
		return temp.Chmod(newFileMode)
	}
	if err != nil {
		return err
	}
	keepOwner(temp, info)
	return temp.Chmod(info.Mode().Perm())
}
