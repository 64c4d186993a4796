package lockfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
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
