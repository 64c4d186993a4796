// Package rewrite replaces files that belong to other programs.
//
// A settings file of a harness may be a symbolic link to another directory, may have
// a mode and an owner of its own, and may be rewritten by the harness at any moment.
// So the file that a link leads to is replaced, atomically, with its mode, and only
// if it still has the content from which the change was made. The old content is kept
// in a backup directory and never beside the file, because some harnesses load every
// file in a directory. The last ten backups of each file are kept.
package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// ErrChanged reports that another program has changed a file after its content was
// read and before it could be replaced.
var ErrChanged = errors.New("changed by another program meanwhile")

// newFileMode is the mode of a file that did not exist before.
const newFileMode fs.FileMode = 0o644

// A Writer replaces files and keeps what they contained.
type Writer struct {
	Backups string           // directory for backups, created when needed; "" keeps none
	Now     func() time.Time // names the backups
	Private bool             // a file that did not exist before is for its owner alone
}

// Replace gives the file at path the content data if it still has the content
// before; a nil before means that the file does not exist yet. It returns the path
// of the backup, "" if there was nothing to keep.
//
// When Replace returns nil, the file has the new content, the old mode and, if the
// process may set it, the old owner. On an error the file is unchanged. If the
// process is killed, the file has all of the old or all of the new content. If path
// is a symbolic link, the file that it leads to is replaced.
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
		if err := w.likeOld(file, real); err != nil {
			return err
		}
		if err := file.Sync(); err != nil { // slow, so it comes before the last comparison
			return err
		}
		return unchanged(real, before)
	}, real, data, filepath.Dir(real))
}

// Remove deletes the file at path if it still has the content before. If path is a
// symbolic link, the link is deleted.
func (w *Writer) Remove(path string, before []byte) (backup string, err error) {
	if err := unchanged(path, before); err != nil {
		return "", err
	}
	if backup, err = w.keep(path, before); err != nil {
		return "", err
	}
	return backup, os.Remove(path)
}

// resolve returns the file that path leads to. A link to a file that does not exist
// is an error.
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

// Read returns the content of a file. It refuses a device, and a FIFO, for whose writer it would wait.
func Read(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return os.ReadFile(path)
}

// unchanged returns an error if a file does not have the content before, or exists where that is nil.
func unchanged(path string, before []byte) error {
	now, err := Read(path)
	isMissing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !isMissing:
		return err
	case isMissing != (before == nil), !bytes.Equal(now, before):
		return fmt.Errorf("%s: %w", path, ErrChanged)
	}
	return nil
}

// likeOld sets the mode of temp to that of the file at path, and tries to set the owner.
func (w *Writer) likeOld(temp *os.File, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		lockfile.AdoptLike(temp.Name(), filepath.Dir(path))
		mode := newFileMode
		if w.Private {
			mode = 0o600
		}
		return temp.Chmod(mode)
	}
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok { // only a privileged process can; any other has made it its own
		_ = temp.Chown(int(stat.Uid), int(stat.Gid))
	}
	return temp.Chmod(info.Mode().Perm())
}

const (
	stamp       = "20060102T150405.000Z" // the start of a backup's name
	mostBackups = 10
)

// keep stores content in the backup directory and returns the path of the backup. Its
// name consists of the time and the path of the file.
func (w *Writer) keep(path string, content []byte) (string, error) {
	if w.Backups == "" {
		return "", nil
	}
	if err := lockfile.MakeDirs(w.Backups, 0o700); err != nil {
		return "", err
	}
	base := w.Now().UTC().Format(stamp) + "-" + flatten(path)
	for n := 0; ; n++ {
		name := base
		if n > 0 {
			name = fmt.Sprintf("%s.%d", base, n)
		}
		backup := filepath.Join(w.Backups, name)
		err := writeNew(backup, content)
		if err == nil {
			w.prune(flatten(path))
		}
		if !errors.Is(err, fs.ErrExist) {
			return backup, err
		}
	}
}

// prune removes all but the newest backups of the file with that flattened name. It
// ignores errors.
func (w *Writer) prune(flat string) {
	entries, _ := os.ReadDir(w.Backups) // sorted by name, and so by age
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		number, ok := strings.CutPrefix(name[min(len(stamp), len(name)):], "-"+flat)
		if ok && (number == "" || number[0] == '.' && strings.Trim(number[1:], "0123456789") == "") {
			names = append(names, name)
		}
	}
	for len(names) > mostBackups {
		_ = os.Remove(filepath.Join(w.Backups, names[0]))
		names = names[1:]
	}
}

func writeNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	lockfile.Adopt(path)
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// flatten returns path as one file name; of a long path only the end.
func flatten(path string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' {
			return '-'
		}
		return r
	}, path), "-")
	const most = 160
	if len(name) > most {
		name = name[len(name)-most:]
	}
	return name
}
