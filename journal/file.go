package journal

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A File is what a [Log] needs of a file. Tests put one in front of the real
// file that fails, or writes less than it was given.
type File interface {
	io.ReaderAt
	// Write appends to the end of the file, wherever that is by then.
	Write(b []byte) (int, error)
	Truncate(size int64) error
	// Sync returns nil when all that was written before, and the file's length, are on disk.
	Sync() error
	Stat() (size int64, modified time.Time, err error)
	Close() error
}

// osFile is the File of the operating system.
type osFile struct{ *os.File }

func (f osFile) Stat() (int64, time.Time, error) {
	info, err := f.File.Stat()
	if err != nil {
		return 0, time.Time{}, err
	}
	return info.Size(), info.ModTime(), nil
}

// regular returns f as a File, or closes it and refuses it.
func regular(path string, f *os.File) (File, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return osFile{f}, nil
}

// explain replaces the error of a failed open where the reason is that path is no
// regular file: ELOOP, ENXIO and EISDIR say that less clearly, and differ by system.
func explain(path string, err error) error {
	if info, lerr := os.Lstat(path); lerr == nil && !info.Mode().IsRegular() {
		return notRegular(path, info)
	}
	return err
}

func notRegular(path string, info fs.FileInfo) error {
	return fmt.Errorf("%s is %s: %w", path, kind(info.Mode()), ErrNotRegular)
}

func kind(mode fs.FileMode) string {
	switch mode.Type() {
	case fs.ModeDir:
		return "a directory"
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeNamedPipe:
		return "a named pipe"
	case fs.ModeSocket:
		return "a socket"
	}
	return "a device"
}
