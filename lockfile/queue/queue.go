package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile"
)

const (
	maxTicket = 1 << 20         // bytes that are read of a ticket
	maxNumber = 999_999_999_999 // of as many digits as the names of tickets have
	suffix    = ".json"
	mutexName = "lock"
)

// OwnFile reports whether the directory of a queue may have a file of that name.
func OwnFile(name string) bool {
	_, isTicket := numberOf(name)
	return isTicket || name == mutexName
}

// A Queue is the queue of one lock. It must not be copied.
type Queue struct {
	Dir       string // exists
	Processes Processes
	Fault     func(step string) error // called before each step, which it may make fail; nil outside tests
}

func (q *Queue) step(s string) error {
	if q.Fault == nil {
		return nil
	}
	return q.Fault(s)
}

func (q *Queue) path(number int64) string {
	return filepath.Join(q.Dir, fmt.Sprintf("%012d%s", number, suffix))
}

// numberOf returns the number in the name of a ticket's file.
func numberOf(name string) (number int64, ok bool) {
	digits, found := strings.CutSuffix(name, suffix)
	if !found || len(digits) != 12 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	return number, err == nil
}

// List returns the entries in the order of their numbers. It takes no lock and changes
// nothing. A missing directory has none.
func (q *Queue) List() ([]*Entry, error) {
	found, err := q.scan(nil)
	unwritten := func(e *Entry) bool { return e.Nonce == "" } // perhaps it is just being written
	for tries := 0; tries < 3 && slices.ContainsFunc(found.alive, unwritten); tries++ {
		found, err = q.scan(nil)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found.alive, err
}

// A scan is what the directory has.
type scan struct {
	alive   []*Entry // by their numbers, as the names are sorted
	dead    []int64
	highest int64 // of all numbers
	mine    bool  // the caller's own ticket is there
}

// scan reads all tickets but own, which is the one of the file that the caller has open:
// its number may belong to another ticket by now. own may be nil.
func (q *Queue) scan(own *Hold) (scan, error) {
	var found scan
	names, err := os.ReadDir(q.Dir)
	if err != nil {
		return found, err
	}
	for _, name := range names {
		number, ok := numberOf(name.Name())
		if !ok {
			continue
		}
		found.highest = max(found.highest, number)
		if own != nil && number == own.Number && own.named() {
			found.mine = true
			continue
		}
		entry, alive, err := q.read(number)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		case err != nil:
			return found, err
		case alive:
			found.alive = append(found.alive, entry)
		default:
			found.dead = append(found.dead, number)
		}
	}
	return found, nil
}

// ours are open tickets of this process by their paths. They are not closed before the
// process ends, and stay open when it becomes another program.
var ours sync.Map

// openTicket opens a ticket for reading, or returns one of this process that is open.
func openTicket(path string) (*os.File, error) {
	if kept, ok := ours.Load(path); ok {
		f := kept.(*os.File)
		opened, err := f.Stat()
		if named, lerr := os.Lstat(path); err == nil && lerr == nil && os.SameFile(opened, named) {
			return f, nil
		}
	}
	return lockfile.OpenRegular(path, os.O_RDONLY)
}

// read reads a ticket and reports whether one of its witnesses speaks for it.
func (q *Queue) read(number int64) (e *Entry, alive bool, err error) {
	e = new(Entry)
	path := q.path(number)
	f, err := openTicket(path)
	if err != nil {
		return e, false, err
	}
	content, err := io.ReadAll(io.NewSectionReader(f, 0, maxTicket))
	damaged := err == nil && wire.Decode(content, &e.Ticket) != nil
	if e.PID == os.Getpid() {
		ours.Store(path, f)
		if err := inherit(f); err != nil {
			return e, false, err
		}
	} else {
		defer f.Close()
	}
	if err != nil {
		return e, false, err
	}
	if e.locked, err = isLocked(f); err != nil {
		return e, false, err
	}
	if damaged || e.Number != number {
		// Nobody knows what its process may do: it excludes all others.
		e.Ticket = Ticket{Number: number, Mode: Exclusive, State: Held}
		e.Condition = Unknown
		return e, e.locked, nil
	}
	e.Condition = q.Processes.Condition(e.Process)
	alive = e.locked || e.Condition == Alive || e.Condition == Stopped
	if e.Condition == Gone {
		e.Condition = Unknown // the record lock is held all the same
	}
	return e, alive, nil
}

const (
	// mutexPatience is how long the mutex is waited for even if the lock is not.
	mutexPatience = 5 * time.Second
	// endlessPatience is how long it is waited for if the lock is without end: it is held for
	// moments, and who has it for so long is stopped.
	endlessPatience = time.Minute
)

// Find returns the entry with the number and the nonce, if its process still has the
// lock or waits for it.
func (q *Queue) Find(number int64, nonce string) (*Entry, bool) {
	e, alive, err := q.read(number)
	return e, err == nil && alive && e.Nonce == nonce && nonce != ""
}

// lock takes the mutex. It waits until the deadline, and at least mutexPatience. Without a
// deadline it waits for endlessPatience.
func (q *Queue) lock(ctx context.Context, deadline time.Time) (unlock func() error, err error) {
	if err := q.step("mutex"); err != nil {
		return nil, err
	}
	now := time.Now()
	if least := now.Add(mutexPatience); deadline.IsZero() {
		deadline = now.Add(endlessPatience)
	} else if deadline.Before(least) {
		deadline = least
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	return lockfile.Lock(ctx, filepath.Join(q.Dir, mutexName))
}
