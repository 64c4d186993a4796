//go:build !windows

package fsroom

import (
	"fmt"
	"io/fs"
	"syscall"
)

// readFile reads a regular file of ours, at most limit bytes of it. It follows
// no symbolic link and does not hang on a FIFO. It makes the system calls
// itself: package os would set up the runtime's poller first, for files that
// cannot be polled.
func readFile(path string, limit int64) ([]byte, error) {
	fd, err := retry(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|openFlags, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size > limit {
		return nil, fmt.Errorf("%s is not a regular file of a sensible size: %w", path, syscall.EINVAL)
	}
	b := make([]byte, st.Size)
	for n := 0; n < len(b); {
		m, err := retry(func() (int, error) { return syscall.Read(fd, b[n:]) })
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

func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}
