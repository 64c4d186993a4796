//go:build unix

package journal

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openFile opens a regular file with the given os.O_ flags.
//
// O_NONBLOCK keeps a FIFO put in the file's place from hanging us. It is taken
// off again before os.NewFile sees the descriptor: for a non-blocking one the
// runtime would set up its poller, which regular files have no use for.
func openFile(path string, flags int) (File, error) {
	fd, err := openRetrying(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC)
	if err != nil {
		return nil, explain(path, &fs.PathError{Op: "open", Path: path, Err: err})
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return nil, &fs.PathError{Op: "fcntl", Path: path, Err: err}
	}
	return regular(path, os.NewFile(uintptr(fd), path))
}

func openRetrying(path string, flags int) (int, error) {
	for {
		fd, err := unix.Open(path, flags, 0o600)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
