// Package lockfile is what several processes need to share a directory: one lock,
// one atomic replace, files that are opened without surprises, and presence that
// ends with its process.
//
// [Lock] excludes other processes. [Replace] gives readers, who take no lock, the
// old content or the new and never a mix. [Hold] and [Held] tell whether a process
// is there now: the kernel drops a hold when its process dies, so no hold is ever
// out of date. [OpenRegular] and [ReadRegular] refuse everything that another
// program may have put in the place of a file. [Supported] refuses file systems on
// which these promises do not hold.
//
// A file that is locked must not be replaced: a replacement is another inode, and a
// lock belongs to the inode. Nor may it be held: on the BSDs and macOS both kinds of
// lock are in one list.
package lockfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Lock takes the exclusive lock on the file at path and returns the function that
// releases it. The file is created with mode 0600 if it is missing, see [Adopt], and is
// never removed.
//
// A free lock is taken even if the deadline of ctx has passed: a deadline in the
// past means "do not wait". Otherwise Lock waits in the kernel's queue until ctx
// ends. The error then is a [*BusyError] for a deadline and ctx.Err() for a
// cancelled context. Everything but a regular file is refused with a
// [*NotRegularError]. Other errors are those of the file system, with the path.
//
// When Lock returns nil, path names the locked file, and no other process or
// goroutine has the lock until unlock is called or this process ends. A file lock
// does not order memory: goroutines that share variables need a mutex as well. Keep
// unlock reachable: the garbage collector closes a file that nothing refers to.
// Calling unlock again does nothing.
func Lock(ctx context.Context, path string) (unlock func() error, err error) {
	return locker{path: path, open: openFlock}.lock(ctx)
}

// A handle is one acquisition of a lock, as gofrs/flock offers it.
type handle interface {
	TryLock() (bool, error)
	Lock() error
	Unlock() error
	Stat() (fs.FileInfo, error) // of the open file, not of the path
}

// openFlock returns a handle for a single acquisition. A *flock.Flock must not be
// used for two: a second Lock of the same object returns at once.
func openFlock(path string) handle {
	return flock.New(path, flock.SetFlag(lockFlags), flock.SetPermissions(0o600))
}

// TryLock is [Lock] that does not wait. If another process has the lock, unlock is nil,
// and so is the error.
func TryLock(path string) (unlock func() error, err error) {
	return locker{path: path, open: openFlock, once: true}.lock(context.Background())
}

type locker struct {
	path string
	once bool // do not wait
	open func(path string) handle
}

func (l locker) lock(ctx context.Context) (func() error, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	_, err := os.Lstat(l.path)
	isNew := errors.Is(err, fs.ErrNotExist)
	for {
		h, err := l.acquire(ctx)
		if h == nil || err != nil {
			return nil, err
		}
		unlock := func() error { return retry(h.Unlock) }
		switch same, err := l.names(h); {
		case err != nil:
			return nil, errors.Join(err, unlock())
		case same:
			if isNew {
				Adopt(l.path)
			}
			return unlock, nil
		}
		// The file was replaced or removed while we waited. Other processes lock the
		// new one, so this lock excludes none of them.
		if err := unlock(); err != nil {
			return nil, explain(l.path, "unlock", err)
		}
		if ctx.Err() != nil {
			return nil, l.ended(ctx, 0)
		}
	}
}

// acquire returns a handle that has the lock on what path named when it was opened, or
// nil where it is not to wait.
func (l locker) acquire(ctx context.Context) (handle, error) {
	h := l.open(l.path)
	var locked bool
	err := retry(func() (err error) { locked, err = h.TryLock(); return err })
	switch {
	case err != nil:
		return nil, explain(l.path, "lock", err)
	case locked:
		return h, nil
	case l.once:
		return nil, nil
	case ctx.Err() != nil:
		return nil, l.ended(ctx, 0)
	}
	if err := checkRegular(l.path); err != nil {
		return nil, err // a FIFO can be locked too: do not wait for one
	}
	return l.wait(ctx)
}

// wait waits for the lock in the kernel. Trying repeatedly would starve: a process
// that unlocks and locks again wins over those that sleep between two tries.
//
// A blocking flock cannot be cancelled, so it has its own goroutine and its own
// descriptor. If the lock comes when wait has returned, the goroutine releases it.
func (l locker) wait(ctx context.Context) (handle, error) {
	started := time.Now() // only to report how long it took
	h := l.open(l.path)
	if Pause != nil {
		return l.simulate(ctx, h)
	}
	done, over := make(chan error), make(chan struct{})
	defer close(over)
	go func() {
		err := retry(h.Lock)
		select {
		case done <- err:
		case <-over:
			if err == nil {
				_ = retry(h.Unlock)
			}
		}
	}()
	select {
	case err := <-done:
		return h, explain(l.path, "lock", err)
	case <-ctx.Done():
		return nil, l.ended(ctx, time.Since(started))
	}
}

// Pause is nil outside simulations, in which processes are goroutines of one process. There a wait for a
// lock is a loop that tries, and calls Pause with the path of the file until the lock was had. It
// returns when the lock may be free, or when ctx has ended.
var Pause func(ctx context.Context, path string)

// simulate is wait with Pause.
func (l locker) simulate(ctx context.Context, h handle) (handle, error) {
	started := time.Now()
	for {
		if locked, err := h.TryLock(); locked || err != nil {
			return h, explain(l.path, "lock", err)
		}
		if ctx.Err() != nil {
			return nil, l.ended(ctx, time.Since(started))
		}
		Pause(ctx, l.path)
	}
}

// names reports whether path still names the file that h has locked.
func (l locker) names(h handle) (bool, error) {
	locked, err := h.Stat()
	if err != nil {
		return false, explain(l.path, "lock", err)
	}
	named, err := os.Lstat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !named.Mode().IsRegular():
		return false, &NotRegularError{Path: l.path, Mode: named.Mode().Type()}
	}
	return os.SameFile(locked, named), nil
}

// ended returns the error for a ctx that has ended.
func (l locker) ended(ctx context.Context, waited time.Duration) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	holder, _ := FindHolder(l.path)
	return &BusyError{Path: l.path, Waited: waited, Holder: holder}
}

// retry calls f until no signal interrupts it. gofrs/flock returns EINTR to its
// callers, and file systems in user space and on networks return it often.
func retry(f func() error) error {
	for {
		if err := f(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// Settled returns nil when the lock on the file at path was free at some moment
// after the call: the process that had it has finished, or is dead. Any number of
// callers are let through at once, and none keeps the lock. A missing file counts as
// free and is not created. Settled waits and fails as [Lock] does.
func Settled(ctx context.Context, path string) error {
	unlock, err := locker{path: path, open: openShared}.lock(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return unlock()
}

// A shared handle takes the lock together with others of its kind.
type shared struct{ *flock.Flock }

func (s shared) TryLock() (bool, error) { return s.TryRLock() }
func (s shared) Lock() error            { return s.RLock() }

func openShared(path string) handle {
	return shared{flock.New(path, flock.SetFlag(lockFlags&^os.O_CREATE))}
}
