package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guardFlags make an open fail at a symbolic link and not wait for the other end
// of a FIFO.
const guardFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lockFlags ask for no permission to write, so that a read-only directory can be
// locked if its lock file exists.
const lockFlags = os.O_CREATE | os.O_RDONLY | guardFlags

// openRegular opens a regular file with os.O_ flags and returns its size.
//
// It makes the system calls itself: the first file that package os opens sets up
// the runtime's poller, which regular files do not use.
func openRegular(path string, flags int) (fd int, size int64, err error) {
	err = retry(func() (err error) {
		fd, err = unix.Open(path, flags|guardFlags|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err != nil {
		return 0, 0, explain(path, "open", err)
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = unix.EINVAL
	}
	if err != nil {
		unix.Close(fd)
		return 0, 0, explain(path, "open", err)
	}
	return fd, st.Size, nil
}

// OpenRegular opens a regular file with os.O_ flags. A file that they create has
// mode 0600. OpenRegular does not follow a symbolic link and does not wait for a
// FIFO: it refuses everything but a regular file with a [*NotRegularError].
func OpenRegular(path string, flags int) (*os.File, error) {
	fd, _, err := openRegular(path, flags)
	if err != nil {
		return nil, err
	}
	// os.NewFile would give a non-blocking descriptor to the poller.
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return nil, explain(path, "open", err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// ReadRegular returns the content of a regular file of at most limit bytes. A
// longer file is an error, and so is what [OpenRegular] refuses.
func ReadRegular(path string, limit int64) ([]byte, error) {
	fd, size, err := openRegular(path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if size > limit {
		return nil, fmt.Errorf("%s has %d bytes, at most %d are read", path, size, limit)
	}
	b := make([]byte, size)
	for n := 0; n < len(b); {
		var m int
		err := retry(func() (err error) { m, err = unix.Read(fd, b[n:]); return err })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if m == 0 { // the file has become shorter
			return b[:n], nil
		}
		n += m
	}
	return b, nil
}

// Links returns the number of names (hard links) of a file.
func Links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// Touch sets the modification time of a file. It does not follow a symbolic link.
func Touch(path string, at time.Time) error {
	ts, err := unix.TimeToTimespec(at)
	if err == nil {
		err = unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return &fs.PathError{Op: "touch", Path: path, Err: err}
	}
	return nil
}

// Adopt gives a file or directory that root has created to the owner of its
// directory, whose own programs could not use it otherwise. It does nothing for
// other users and reports no errors.
func Adopt(path string) { AdoptLike(path, filepath.Dir(path)) }

// MakeDirs is [os.MkdirAll], and each directory it makes is adopted, see [Adopt].
func MakeDirs(dir string, mode fs.FileMode) error {
	if os.Geteuid() != 0 {
		return os.MkdirAll(dir, mode)
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if up := filepath.Dir(dir); up != dir {
		if err := MakeDirs(up, mode); err != nil {
			return err
		}
	}
	err := os.Mkdir(dir, mode)
	if errors.Is(err, fs.ErrExist) { // made by another process meanwhile, or no directory
		return os.MkdirAll(dir, mode)
	}
	if err == nil {
		Adopt(dir)
	}
	return err
}

// AdoptLike is [Adopt] with the owner of the directory dir.
func AdoptLike(path, dir string) {
	if os.Geteuid() != 0 {
		return
	}
	info, err := os.Stat(dir)
	if err != nil {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = os.Lchown(path, int(st.Uid), int(st.Gid))
	}
}

// SyncDir writes the names in a directory to the disk. When it returns nil, files
// that were created in, renamed into or removed from the directory before the call
// stay so after a power cut, unless the file system cannot sync a directory, in
// which case it returns nil too.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}
