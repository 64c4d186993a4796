package lockfile

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

type outcome struct {
	unlock func() error
	err    error
}

// queue starts Lock in a goroutine and returns when it waits in the kernel.
func queue(t *testing.T, ctx context.Context, path string) <-chan outcome {
	t.Helper()
	result := make(chan outcome, 1)
	go func() {
		unlock, err := Lock(ctx, path)
		result <- outcome{unlock, err}
	}()
	untilQueued(t, path, result)
	return result
}

// untilQueued returns when this process waits for the lock on the file that path
// names now, and fails the test if the Lock ends instead.
func untilQueued(t *testing.T, path string, result <-chan outcome) {
	t.Helper()
	var st unix.Stat_t
	check(t, unix.Lstat(path, &st))
	waiting := " " + strconv.Itoa(os.Getpid()) + " " + fileID(&st) + " "
	for {
		locks, err := os.ReadFile("/proc/locks")
		check(t, err)
		for line := range strings.Lines(string(locks)) {
			if strings.Contains(line, "->") && strings.Contains(line, waiting) {
				return
			}
		}
		select {
		case early := <-result:
			t.Fatalf("did not wait: %v", early.err)
		default:
		}
	}
}

func taken(t *testing.T, result <-chan outcome) func() error {
	t.Helper()
	o := <-result
	check(t, o.err)
	return o.unlock
}

func TestWaiterGetsTheLockWhenTheHolderIsKilled(t *testing.T) {
	path := inTemp(t, "lock")
	holder := start(t, "lock", path)
	result := queue(t, t.Context(), path)
	holder.kill(t)
	check(t, taken(t, result)())
}

func TestCancelWhileWaiting(t *testing.T) {
	path := inTemp(t, "lock")
	holder := start(t, "lock", path)
	ctx, cancel := context.WithCancel(t.Context())
	result := queue(t, ctx, path)
	cancel()
	if o := <-result; o.err != context.Canceled {
		t.Errorf("got %v", o.err)
	}
	holder.end(t)
	// The abandoned waiter gets the lock now. If it kept it, this would hang.
	unlock, err := Lock(t.Context(), path)
	check(t, err)
	check(t, unlock())
}

// A watched handle says when it has been unlocked. It is kept reachable, so that the garbage
// collector does not unlock it instead.
type watched struct {
	handle
	unlocked chan struct{}
}

func (w watched) Unlock() error {
	err := w.handle.Unlock()
	w.unlocked <- struct{}{}
	return err
}

// A lock that comes when nobody waits for it any more is given back.
func TestLateLockIsGivenBack(t *testing.T) {
	path := inTemp(t, "lock")
	holder := start(t, "lock", path)
	given := make(chan struct{}, 1)
	var opened []handle
	l := locker{path: path, open: func(path string) handle {
		opened = append(opened, watched{openFlock(path), given})
		return opened[len(opened)-1]
	}}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan outcome, 1)
	go func() {
		unlock, err := l.lock(ctx)
		result <- outcome{unlock, err}
	}()
	untilQueued(t, path, result)
	cancel()
	if o := <-result; o.err != context.Canceled {
		t.Errorf("got %v", o.err)
	}
	holder.end(t)
	select {
	case <-given:
		free(t, path)
	case <-time.After(time.Minute):
		t.Error("the lock is kept")
	}
	runtime.KeepAlive(opened)
}

// An expiring context passes its deadline when the one inside is cancelled.
type expiring struct{ context.Context }

func (e expiring) Err() error {
	if e.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

func TestDeadlineWhileWaiting(t *testing.T) {
	path := inTemp(t, "lock")
	holder := start(t, "lock", path)
	ctx, expire := context.WithCancel(t.Context())
	result := queue(t, expiring{ctx}, path)
	expire()
	var taken *BusyError
	if o := <-result; !errors.As(o.err, &taken) {
		t.Fatalf("got %v", o.err)
	}
	if taken.Waited <= 0 || taken.Holder == nil || taken.Holder.PID != holder.Process.Pid {
		t.Errorf("got %+v, holder %+v", taken, taken.Holder)
	}
	holder.end(t)
}

func TestFileReplacedWhileWaiting(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"renamed over": func(path string) error { return Replace(path, nil, t.TempDir()) },
		"removed":      os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			path := inTemp(t, "lock")
			first := start(t, "lock", path)
			result := queue(t, t.Context(), path)
			check(t, replace(path))
			second := start(t, "lock", path) // has the lock everybody sees now
			first.end(t)
			untilQueued(t, path, result)
			second.end(t)
			unlock := taken(t, result)
			busy(t, path)
			check(t, unlock())
		})
	}
}

func TestLinkPutInPlaceWhileWaiting(t *testing.T) {
	path := inTemp(t, "lock")
	holder := start(t, "lock", path)
	result := queue(t, t.Context(), path)
	check(t, os.Remove(path))
	check(t, os.Symlink("elsewhere", path))
	holder.end(t)
	var refused *NotRegularError
	if o := <-result; !errors.As(o.err, &refused) {
		t.Errorf("got %v", o.err)
	}
}

func TestDirectoryRemovedWhileWaiting(t *testing.T) {
	path := inTemp(t, "room/lock")
	check(t, os.Mkdir(strings.TrimSuffix(path, "/lock"), 0o700))
	holder := start(t, "lock", path)
	result := queue(t, t.Context(), path)
	check(t, os.RemoveAll(strings.TrimSuffix(path, "/lock")))
	holder.end(t)
	if o := <-result; !errors.Is(o.err, os.ErrNotExist) {
		t.Errorf("got %v", o.err)
	}
}

func TestBusyNamesTheHolder(t *testing.T) {
	path := inTemp(t, "lock")
	holder := start(t, "lock", path)
	got := busy(t, path).Holder
	if got == nil || got.PID != holder.Process.Pid || !strings.Contains(got.Command, path[:20]) {
		t.Fatalf("got %+v, want process %d", got, holder.Process.Pid)
	}
	if got.State != "sleeping" && got.State != "running" {
		t.Errorf("state %q", got.State)
	}
}

func TestStoppedHolderIsToldAsStopped(t *testing.T) {
	path := inTemp(t, "lock")
	holder := start(t, "lock", path)
	check(t, holder.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	_, err := syscall.Wait4(holder.Process.Pid, &status, syscall.WUNTRACED, nil)
	check(t, err)
	taken := busy(t, path)
	if taken.Holder == nil || taken.Holder.State != "stopped" {
		t.Fatalf("got %+v", taken.Holder)
	}
	if text := taken.Error(); !strings.Contains(text, "stopped") || !strings.Contains(text, strconv.Itoa(holder.Process.Pid)) {
		t.Errorf("message %q", text)
	}
	check(t, holder.Process.Signal(syscall.SIGCONT))
	holder.end(t)
}
