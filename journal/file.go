package journal

import (
	"io"
	"os"
	"runtime"
	"time"
)

// A File is the part of a file that a [Log] uses. Tests wrap the real file in one
// that fails, or writes less than it was given.
type File interface {
	io.ReaderAt
	// Write appends to the end of the file, wherever the end is at that moment.
	Write(b []byte) (int, error)
	Truncate(size int64) error
	// Sync returns nil when everything written before, and the file's length, are on disk.
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

// Truncate sets the length. On Windows it uses the name, because a file that is open
// for appending cannot be truncated there.
func (f osFile) Truncate(size int64) error {
	if runtime.GOOS == "windows" {
		return os.Truncate(f.Name(), size)
	}
	return f.File.Truncate(size)
}
