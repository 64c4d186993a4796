package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// MaxLine is the longest line in bytes, newline included.
const MaxLine = 4 << 20

var (
	// ErrPosition means a Position does not fit the file: it lies beyond the end
	// or not at the start of a line, or an append did not start at the end.
	ErrPosition = errors.New("position does not fit the journal")
	// ErrEmpty means there is no whole change in the file.
	ErrEmpty = errors.New("journal has no event")
)

// A Position is a place between two lines. Everything before Offset (bytes) is
// covered; Seq is the last covered event. The zero Position covers nothing, and
// expects nothing of the number of the first event.
type Position struct {
	Offset int64 `json:"offset"`
	Seq    int64 `json:"event_seq"`
}

// A Tail tells what lies behind the last whole change.
type Tail struct {
	Torn int64 // bytes of an unfinished change
}

// A CorruptError is damage that cutting a torn tail does not explain.
type CorruptError struct {
	Path    string
	Line    int   // 1-based
	Offset  int64 // of the line's first byte
	Problem string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Problem)
}

// A Log is an open journal. The methods that read may be used by several
// goroutines at once and while others, also other processes, append.
type Log struct {
	path      string
	file      File
	committed func() int64
}

// New returns a Log on a file that is open already. The path only names it in errors.
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
	const flags = os.O_RDWR | os.O_APPEND
	// The file may be created or removed between the two opens.
	for range 3 {
		f, err := lockfile.OpenRegular(path, flags)
		if err == nil {
			return New(path, osFile{f}), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		f, err = lockfile.OpenRegular(path, flags|os.O_CREATE|os.O_EXCL)
		if err == nil {
			return New(path, osFile{f}), nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s keeps being created and removed", path)
}

// SetCommitted tells the log how many bytes of the file are known to have been
// committed: what a valid projection of it covers. Damage before that offset is
// damage and never a torn tail, see [Log.Scan]. f is called only where a torn tail
// may have been found; an offset beyond the end of the file counts as 0.
// Without SetCommitted nothing is known. It is called before the log is used.
func (l *Log) SetCommitted(f func() int64) { l.committed = f }

// committedBytes returns how much of the file is known to have been committed.
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

// Stat returns the size in bytes and the time of the last write.
func (l *Log) Stat() (size int64, modified time.Time, err error) { return l.file.Stat() }

// Sync puts on disk what was appended by others, such as a process that was killed
// between its write and its sync. The caller holds the room's lock.
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

// Damaged returns the CorruptError for the line that ends at the offset, where a
// line that decodes makes no sense.
func (l *Log) Damaged(end int64, problem string) error { return l.corruptUpTo(end, problem) }
