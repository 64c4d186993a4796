// Package lockfile is what a directory shared by several processes needs: one
// lock, one atomic replace, and presence that ends with its process.
//
// [Lock] makes processes take turns. [Replace] gives readers, who take no lock,
// the old content or the new and never a mix. [Hold] and [Held] tell whether
// somebody is there now: the kernel drops a hold when its process dies, so
// nothing stale can be left behind. [Supported] refuses the file systems on which
// these promises do not hold.
//
// A file that is locked is not the file that is replaced: replacing gives the
// path another inode, and a lock belongs to the inode. Nor is it a file that is
// held: on the BSDs and macOS both kinds of lock meet in one list.
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

// Lock takes the exclusive lock on the file at path and returns the function
// that gives it back. The file is created with mode 0600 if it is absent and is
// never removed.
//
// A free lock is taken at once, even when ctx's deadline is over: a deadline in
// the past means "do not wait". A lock that is taken is waited for in the
// kernel's queue until ctx ends. The error then is a [*BusyError] for a deadline
// and ctx.Err() for a cancelled context. A symbolic link, a FIFO or anything else
// that is no regular file is refused with a [*NotRegularError]. Other errors are
// those of the file system, with the path.
//
// When Lock returns nil, the path names the locked file and no other process or
// goroutine is inside until unlock is called or this process ends. The kernel
// orders files, not the memory of a Go program: what goroutines share in memory
// needs a mutex besides. Keep unlock reachable: the garbage collector closes a
// lock nobody can give back. Calling unlock again does nothing.
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

// openFlock makes the handle of a single acquisition. A *flock.Flock must never
// be used for two: a second Lock on the same object returns at once and excludes
// nobody.
func openFlock(path string) handle {
	return flock.New(path, flock.SetFlag(lockFlags), flock.SetPermissions(0o600))
}

type locker struct {
	path string
	open func(path string) handle
}

func (l locker) lock(ctx context.Context) (func() error, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	for {
		h, err := l.acquire(ctx)
		if err != nil {
			return nil, err
		}
		unlock := func() error { return retry(h.Unlock) }
		switch same, err := l.names(h); {
		case err != nil:
			return nil, errors.Join(err, unlock())
		case same:
			return unlock, nil
		}
		// The file was replaced or removed while we waited. Others lock the new
		// one: what we have excludes nobody.
		if err := unlock(); err != nil {
			return nil, explain(l.path, "unlock", err)
		}
		if ctx.Err() != nil {
			return nil, l.ended(ctx, 0)
		}
	}
}

// acquire returns a handle that has the lock on what path named when it was opened.
func (l locker) acquire(ctx context.Context) (handle, error) {
	h := l.open(l.path)
	var locked bool
	err := retry(func() (err error) { locked, err = h.TryLock(); return err })
	switch {
	case err != nil:
		return nil, explain(l.path, "lock", err)
	case locked:
		return h, nil
	case ctx.Err() != nil:
		return nil, l.ended(ctx, 0)
	}
	if err := checkRegular(l.path); err != nil {
		return nil, err // a FIFO can be locked, too: do not queue for one
	}
	return l.wait(ctx)
}

// wait queues for the lock in the kernel. Trying again and again would starve:
// whoever unlocks and locks again wins over those who sleep between two tries.
//
// A blocking flock cannot be called off, so it has its own goroutine and its own
// descriptor, which nobody else touches. If the lock comes after ctx has ended,
// the goroutine gives it straight back.
func (l locker) wait(ctx context.Context) (handle, error) {
	started := time.Now() // only to report how long it took, decides nothing
	h := l.open(l.path)
	done := make(chan error)
	go func() {
		err := retry(h.Lock)
		select {
		case done <- err:
		case <-ctx.Done():
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

// ended is the error for a ctx that has ended.
func (l locker) ended(ctx context.Context, waited time.Duration) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	holder, _ := FindHolder(l.path)
	return &BusyError{Path: l.path, Waited: waited, Holder: holder}
}

// retry calls f until no signal interrupts it. gofrs/flock returns EINTR to its
// callers; file systems in user space and on networks raise it freely.
func retry(f func() error) error {
	for {
		if err := f(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
