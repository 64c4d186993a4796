//go:build unix

package lockfile

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// OpenRegular opens a regular file with os.O_ flags, creating it with mode 0600 if
// they say so. It does not follow a symbolic link nor hang on a FIFO; what is no
// regular file is refused with a [*NotRegularError].
func OpenRegular(path string, flags int) (*os.File, error) { return openRegular(path, flags) }

// ReadRegular reads a regular file of at most limit bytes. It refuses what
// [OpenRegular] refuses, and a longer file.
//
// It makes the system calls itself: the first file opened by package os sets up a
// poller, which a command that only looks can do without.
func ReadRegular(path string, limit int64) ([]byte, error) {
	fd, size, err := openBare(path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if size > limit {
		return nil, tooLong(path, size, limit)
	}
	b := make([]byte, size)
	for n := 0; n < len(b); {
		var m int
		err := retry(func() (err error) { m, err = unix.Read(fd, b[n:]); return err })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if m == 0 { // it shrank
			return b[:n], nil
		}
		n += m
	}
	return b, nil
}

func tooLong(path string, size, limit int64) error {
	return fmt.Errorf("%s has %d bytes, at most %d are read", path, size, limit)
}
