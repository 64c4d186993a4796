package lockfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockFlags has no flag against symbolic links: Windows has none. The check after
// locking refuses them.
const lockFlags = os.O_CREATE | os.O_RDONLY

// OpenRegular opens a regular file with os.O_ flags. It refuses everything else
// with a [*NotRegularError].
func OpenRegular(path string, flags int) (*os.File, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, flags, 0o600)
}

// ReadRegular returns the content of a regular file of at most limit bytes. A
// longer file is an error.
func ReadRegular(path string, limit int64) ([]byte, error) {
	f, err := OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return b, err
}

// Links returns 1: hard links are not counted on Windows.
func Links(fs.FileInfo) uint64 { return 1 }

// Touch sets the modification time of a file.
func Touch(path string, at time.Time) error { return os.Chtimes(path, at, at) }

// Adopt does nothing: the files of an administrator can be used by others.
func Adopt(string) {}

// MakeDirs is [os.MkdirAll].
func MakeDirs(dir string, mode fs.FileMode) error { return os.MkdirAll(dir, mode) }

// AdoptLike does nothing.
func AdoptLike(_, _ string) {}

// SyncDir checks that dir exists. Windows has no way to sync a directory.
func SyncDir(dir string) error {
	_, err := os.Stat(dir)
	return err
}

// Hold marks the file at path as held by this process until release is called or
// the process ends.
func Hold(path string) (release func(), err error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	locked, err := l.TryRLock()
	if err != nil {
		return nil, err
	}
	if !locked { // another process calls Held at this moment
		err = l.RLock()
	}
	return func() { _ = l.Unlock() }, err
}

func isFree(string) bool { return false }

// Held reports whether any process holds the file at path. It takes the lock to learn
// whether it is free, because Windows cannot be asked. Two processes that call it at
// the same time may take each other for holders.
func Held(path string) (bool, error) {
	if err := checkRegular(path); err != nil {
		return false, err
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	free, err := l.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return !free, l.Unlock()
}

// open returns nil: a file that is open cannot be replaced here.
func open(string) *os.File { return nil }

// renameio does not exist here: its authors know of no atomic rename on Windows.
// os.Rename replaces an existing file, which is as close as it gets.
func replace(path string, data []byte, tempDir string, ready readyFunc) error {
	file, err := os.CreateTemp(tempDir, "."+filepath.Base(path))
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil && ready != nil {
		err = ready(file)
	}
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
