package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile"
)

// ErrTimeout means that the lock was not granted in time.
var ErrTimeout = errors.New("the lock was not granted in time")

// ErrNoNumber means that a process that lives has the last number a ticket can have.
var ErrNoNumber = errors.New("no ticket number is left")

// ErrTicketLost means that another program has removed the ticket.
var ErrTicketLost = errors.New("the ticket of this process was removed")

// lookAgain is how often a waiting process looks if its options do not say.
const lookAgain = time.Second

// Options say how [Queue.Acquire] waits.
type Options struct {
	// Patience bounds the waiting: with 0 the lock is taken only if it is free, and a
	// negative one has no end.
	Patience time.Duration
	// Again is how often to look whether one before has stopped, 0 for every second.
	// Whether one has ended is told by the kernel.
	Again time.Duration
	// Look is called after each look at the queue that did not grant the lock, with the
	// caller's own ticket and the others. An error ends the waiting and is returned.
	Look func(me *Ticket, others []*Entry) error
}

// Acquire draws a ticket and waits until the lock is granted, ctx ends, or the patience
// does. When it returns nil, no entry in conflict has the lock, until [Hold.Release] is
// called or this process ends, also if it becomes another program by exec after
// [Hold.Inherit]. When it returns an error, which is [ErrTimeout], ctx.Err(), that of
// Look, a [*lockfile.BusyError] if without a bound on the waiting the mutex of the queue is not
// released, or one of the file system, the ticket is removed.
func (q *Queue) Acquire(ctx context.Context, t *Ticket, o Options) (*Hold, error) {
	var deadline time.Time
	if o.Patience >= 0 {
		deadline = time.Now().Add(o.Patience)
	}
	unlock, err := q.lock(ctx, deadline)
	if err != nil {
		return nil, timedOut(err, deadline)
	}
	h, others, err := q.draw(t)
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	watch := &watch{queue: q}
	defer watch.close()
	for {
		blockers := Blockers(&h.Ticket, others)
		if len(blockers) == 0 {
			err = h.mark()
		}
		if err = errors.Join(err, unlock()); err != nil {
			h.Release()
			return nil, err
		}
		if len(blockers) == 0 {
			return h, nil
		}
		if others, unlock, err = q.wait(ctx, deadline, h, watch, others, blockers, o); err != nil {
			h.Release()
			return nil, err
		}
	}
}

// wait returns when it is time to look again, with what it sees then and the mutex.
func (q *Queue) wait(ctx context.Context, deadline time.Time, h *Hold, w *watch, others, blockers []*Entry,
	o Options) ([]*Entry, func() error, error) {
	if err := o.Look(&h.Ticket, others); err != nil {
		return nil, nil, err
	}
	patience := cmp.Or(o.Again, lookAgain)
	if !deadline.IsZero() {
		patience = min(patience, time.Until(deadline))
	}
	if patience <= 0 {
		return nil, nil, ErrTimeout
	}
	select {
	case <-w.ended(nearest(&h.Ticket, blockers)):
		w.close()
	case <-time.After(patience):
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	unlock, err := q.lock(ctx, deadline)
	if err != nil {
		return nil, nil, timedOut(err, deadline)
	}
	found, err := q.look(h)
	if err == nil && !found.mine {
		err = ErrTicketLost
	}
	if err != nil {
		return nil, nil, errors.Join(err, unlock())
	}
	return found.alive, unlock, nil
}

// look is scan with its step.
func (q *Queue) look(own *Hold) (scan, error) {
	if err := q.step("scan"); err != nil {
		return scan{}, err
	}
	return q.scan(own)
}

// timedOut makes an [ErrTimeout] of a mutex that was not free before the deadline, if there is one.
func timedOut(err error, deadline time.Time) error {
	if busy := (*lockfile.BusyError)(nil); errors.As(err, &busy) && !deadline.IsZero() {
		return errors.Join(ErrTimeout, err)
	}
	return err
}

// draw makes the ticket with the next number and removes those of ended processes. The
// caller has the mutex.
func (q *Queue) draw(t *Ticket) (*Hold, []*Entry, error) {
	found, err := q.look(nil)
	if err == nil && found.highest >= maxNumber { // nobody has come so far: the ticket was planted
		found, err = q.lookWithoutDead(found)
	}
	if err != nil {
		return nil, nil, err
	}
	h := &Hold{Ticket: *t, queue: q}
	h.Number, h.Nonce, h.State, h.AskedAt = found.highest+1, fmt.Sprintf("%016x", rand.Uint64()), Waiting, moment()
	for err = h.create(); errors.Is(err, errTaken); err = h.create() {
		h.Release()
		h.Number++
	}
	if err != nil {
		h.Release()
		return nil, nil, err
	}
	for _, number := range found.dead {
		_ = os.Remove(q.path(number)) // one that stays is dead all the same
	}
	return h, found.alive, nil
}

// lookWithoutDead removes the tickets of ended processes and looks again. The error is
// ErrNoNumber if the last number is that of a living process.
func (q *Queue) lookWithoutDead(found scan) (scan, error) {
	for _, number := range found.dead {
		if err := os.Remove(q.path(number)); err != nil {
			return found, err
		}
	}
	found, err := q.look(nil)
	if err == nil && found.highest >= maxNumber {
		err = fmt.Errorf("%s: %w", q.path(found.highest), ErrNoNumber)
	}
	return found, err
}

func moment() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// A Hold is a ticket of this process. Keep it reachable: the garbage collector closes a
// file that nothing refers to.
type Hold struct {
	Ticket
	queue *Queue
	path  string
	file  *os.File
	size  int // of the file
}

// errTaken means that another process has the record lock of a new ticket: it still
// waits for an earlier ticket with the same number.
var errTaken = errors.New("the record lock of the ticket is taken")

// create makes the file, locks it and writes the ticket.
func (h *Hold) create() error {
	h.path = h.queue.path(h.Number)
	err := h.queue.step("create")
	if err == nil {
		h.file, err = lockfile.OpenRegular(h.path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	}
	if err != nil {
		return err
	}
	lockfile.Adopt(h.path)
	if err = h.queue.step("lock"); err == nil {
		err = lockTicket(h.file)
	}
	if err != nil {
		return &fs.PathError{Op: "lock", Path: h.path, Err: err}
	}
	return h.write("write")
}

// mark writes down that the ticket has the lock.
func (h *Hold) mark() error {
	held := moment()
	h.State, h.HeldAt = Held, &held
	return h.write("mark")
}

// markSize is how much longer a ticket may be that has the lock.
const markSize = 64

// write writes the ticket, padded with blanks, in one call. Its file has room for the
// mark from the beginning, so that a disk that is full does not come between.
func (h *Hold) write(step string) error {
	if err := h.queue.step(step); err != nil {
		return err
	}
	content := wire.Append(nil, &h.Ticket)
	if h.size == 0 {
		h.size = len(content) + markSize
	}
	for len(content) < h.size-1 {
		content = append(content, ' ')
	}
	_, err := h.file.WriteAt(append(content, '\n'), 0)
	return err
}

// named reports whether the name of the ticket is that of its file. If another program has
// removed the file, the next process to come draws the number again.
func (h *Hold) named() bool {
	opened, err := h.file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(h.path)
	return err == nil && os.SameFile(opened, named)
}

// Inherit makes the lock stay when the process becomes another program.
func (h *Hold) Inherit() error { return inherit(h.file) }

// Release gives the lock, or the place in the queue, to the next.
func (h *Hold) Release() {
	if h.file == nil {
		return
	}
	// The name goes first: as long as the record lock is held, no process removes the
	// ticket and draws its number.
	if h.named() {
		_ = os.Remove(h.path)
	}
	_ = h.queue.step("unlock")
	_ = h.file.Close()
	h.file = nil
}

// A watch waits for the end of one entry at a time.
type watch struct {
	queue *Queue
	of    *Entry
	done  <-chan struct{}
	stop  func()
}

// ended returns a channel that is closed when the entry has ended, or nil if only time
// will tell.
func (w *watch) ended(e *Entry) <-chan struct{} {
	same := w.of != nil && w.of.Number == e.Number && w.of.Nonce == e.Nonce && w.of.locked == e.locked
	if same && w.stop != nil {
		return w.done
	}
	w.close()
	w.of, w.done, w.stop = e, nil, func() {}
	if e.PID == os.Getpid() {
		return nil // its file must not be opened and closed here
	}
	if e.locked {
		w.done = unlocked(w.queue.path(e.Number))
	} else if done, stop, err := w.queue.Processes.Watch(slices.Clone(e.Process)); err == nil {
		w.done, w.stop = done, stop
	}
	return w.done
}

func (w *watch) close() {
	if w.stop != nil {
		w.stop()
	}
	*w = watch{queue: w.queue}
}

// unlocked returns a channel that is closed when the record lock of a ticket is free, or the
// ticket is gone. The kernel wakes the goroutine, which waits as long as the lock is held.
func unlocked(path string) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		f, err := lockfile.OpenRegular(path, os.O_RDONLY)
		if err == nil {
			defer f.Close()
			err = await(f)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			close(done)
		}
	}()
	return done
}
