package lockfile

import (
	"errors"
	"fmt"
	"io"
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

// OpenRegular opens a regular file with os.O_ flags. A file that they create has
// mode 0600. OpenRegular does not follow a symbolic link and does not wait for a
// FIFO: it refuses everything but a regular file with a [*NotRegularError].
func OpenRegular(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|guardFlags, 0o600)
	if err != nil {
		return nil, explain(path, "open", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = syscall.EINVAL
	}
	if err == nil { // a program that inherits it has a file like others
		err = unix.SetNonblock(int(f.Fd()), false)
	}
	if err != nil {
		f.Close()
		return nil, explain(path, "open", err)
	}
	return f, nil
}

// ReadRegular returns the content of a regular file of at most limit bytes. A
// longer file is an error, and so is what [OpenRegular] refuses.
func ReadRegular(path string, limit int64) ([]byte, error) {
	f, err := OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, at most %d are read", path, info.Size(), limit)
	}
	b := make([]byte, info.Size())
	n, err := io.ReadFull(f, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF { // the file has become shorter
		err = nil
	}
	return b[:n], err
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
