package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// MaxLine is the longest line in bytes, newline included.
const MaxLine = 4 << 20

var (
	// ErrPosition means that a Position does not fit the file: it is beyond the end or
	// inside a line, or is not the end where an append must start.
	ErrPosition = errors.New("position does not fit the journal")
	// ErrEmpty means that the file has no complete change.
	ErrEmpty = errors.New("journal has no event")
)

// A Position is a place between two lines. Offset is in bytes, and Seq is the event_seq of
// the line before it. After the zero Position an event may have any number.
type Position struct {
	Offset int64 `json:"offset"`
	Seq    int64 `json:"event_seq"`
}

// A Tail describes what follows the last complete change.
type Tail struct {
	Torn int64 // bytes of an unfinished change
}

// A CorruptError is damage that is not a torn tail.
type CorruptError struct {
	Path    string
	Line    int   // 1-based
	Offset  int64 // of the line's first byte
	Problem string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Problem)
}

// A Log is an open journal. Several goroutines may use the methods that read at once, also
// while other goroutines or processes append.
type Log struct {
	path      string
	file      File
	committed func() int64
}

// New returns a Log on an open file. The path is for errors only.
func New(path string, file File) *Log { return &Log{path: path, file: file} }

// Open opens a journal for reading. The error is [fs.ErrNotExist] for a missing file
// and a [*lockfile.NotRegularError] for a symbolic link, directory, pipe or device.
func Open(path string) (*Log, error) {
	f, err := lockfile.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return New(path, osFile{f}), nil
}

// OpenCommitted is [Open] for a journal that will not change any more, all of which was
// committed.
func OpenCommitted(path string) (*Log, error) {
	l, err := Open(path)
	if err != nil {
		return nil, err
	}
	l.SetCommitted(func() int64 { size, _, _ := l.Stat(); return size })
	return l, nil
}

// OpenWriter opens a journal for reading and appending, and creates it with mode 0600
// if it is missing. Before the first append to an empty journal the caller syncs the
// directories above it, or a power cut may remove the name and everything appended.
//
// The file is opened with O_APPEND: on local file systems the writes of two processes
// do not mix then, even if the lock fails. A kill can still tear a write.
func OpenWriter(path string) (*Log, error) {
	f, err := lockfile.OpenRegular(path, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return New(path, osFile{f}), nil
}

// SetCommitted sets the function that returns how many bytes of the file are known to have
// been committed, which are those that a valid projection covers. A line that cannot be
// read before that offset is damage and never a torn tail, see [Log.Scan]. f is called only
// for what may be a torn tail; a result beyond the end of the file counts as 0, and so does
// a missing function. SetCommitted is called before the log is used.
func (l *Log) SetCommitted(f func() int64) { l.committed = f }

// committedBytes returns how many bytes are known to have been committed.
func (l *Log) committedBytes() (int64, error) {
	if l.committed == nil {
		return 0, nil
	}
	offset := l.committed()
	size, _, err := l.file.Stat()
	if err != nil || offset > size {
		return 0, err
	}
	return offset, nil
}

// Stat returns the size in bytes and the modification time.
func (l *Log) Stat() (size int64, modified time.Time, err error) { return l.file.Stat() }

// Sync writes to the disk what other processes have appended, such as one that was killed
// between its write and its sync. The caller has the room's lock.
func (l *Log) Sync() error { return l.file.Sync() }

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// corrupt returns the error for a problem with the line that starts at offset.
func (l *Log) corrupt(offset int64, problem string) error {
	line, err := l.lineNumber(offset)
	if err != nil {
		return err
	}
	return &CorruptError{Path: l.path, Line: line, Offset: offset, Problem: problem}
}

// Damaged returns a [CorruptError] for the line that ends at the offset: for a line that can be
// decoded, but does not fit what comes before it.
func (l *Log) Damaged(end int64, problem string) error { return l.corruptUpTo(end, problem) }

// Moved reports whether the path no longer names the open file, because the file was
// renamed, removed or replaced. The open file can still be read. An append after Moved has
// returned false may go to a file that was moved meanwhile, unless the caller has the room's
// lock.
func (l *Log) Moved() bool {
	f, ok := l.file.(osFile)
	if !ok {
		return false
	}
	opened, err := f.File.Stat()
	if err != nil {
		return true
	}
	now, err := os.Lstat(l.path)
	return err != nil || !os.SameFile(opened, now)
}

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
