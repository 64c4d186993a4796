package lockfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// past is a context whose deadline is over: do not wait.
func past(t testing.TB) context.Context {
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	t.Cleanup(cancel)
	return ctx
}

func TestLockCreatesPrivateFileAndLeavesIt(t *testing.T) {
	path := inTemp(t, "lock")
	unlock, err := Lock(t.Context(), path)
	check(t, err)
	check(t, unlock())
	check(t, unlock()) // again does nothing
	info, err := os.Stat(path)
	check(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	free(t, path)
}

func TestSecondUnlockDoesNotFreeTheNextOwner(t *testing.T) {
	path := inTemp(t, "lock")
	first, err := Lock(t.Context(), path)
	check(t, err)
	check(t, first())
	second, err := Lock(t.Context(), path)
	check(t, err)
	check(t, first())
	busy(t, path)
	check(t, second())
}

// busy fails the test unless the lock at path is taken.
func busy(t *testing.T, path string) *BusyError {
	t.Helper()
	unlock, err := Lock(past(t), path)
	var taken *BusyError
	if !errors.As(err, &taken) {
		t.Fatalf("lock is free: %v, %v", unlock != nil, err)
	}
	return taken
}

func TestTryLockDoesNotWait(t *testing.T) {
	path := inTemp(t, "lock")
	unlock, err := TryLock(path)
	if unlock == nil || err != nil {
		t.Fatalf("a free lock: %v", err)
	}
	if second, err := TryLock(path); second != nil || err != nil {
		t.Errorf("a lock that is held: %v, %v", second != nil, err)
	}
	check(t, unlock())
	free(t, path)
	check(t, os.Remove(path))
	check(t, os.Mkdir(path, 0o700))
	if unlock, err := TryLock(path); unlock != nil || err == nil {
		t.Errorf("a directory: %v, %v", unlock != nil, err)
	}
}

func TestGoroutinesExcludeEachOther(t *testing.T) {
	path := inTemp(t, "lock")
	var inside atomic.Int32 // atomic, because flock orders no memory for Go
	done := make(chan error)
	for range 4 {
		go func() {
			for range 100 {
				unlock, err := Lock(t.Context(), path)
				if err != nil {
					done <- err
					return
				}
				if inside.Add(1) != 1 {
					err = errors.New("two inside")
				}
				inside.Add(-1)
				if err = errors.Join(err, unlock()); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestProcessesExcludeEachOther(t *testing.T) {
	lock, file := inTemp(t, "lock"), inTemp(t, "count")
	check(t, os.WriteFile(file, []byte("0"), 0o600))
	var all []*process
	for range 8 {
		all = append(all, start(t, "count", lock, file))
	}
	for _, p := range all {
		p.wait(t)
	}
	text, err := os.ReadFile(file)
	check(t, err)
	if want := strconv.Itoa(8 * countRounds); string(text) != want {
		t.Errorf("counted %s, want %s", text, want)
	}
}

func TestWaiterGetsItFromLoopingProcesses(t *testing.T) {
	path := inTemp(t, "lock")
	loops := []*process{start(t, "loop", path), start(t, "loop", path)}
	for range 20 {
		unlock, err := Lock(t.Context(), path)
		check(t, err)
		check(t, unlock())
	}
	for _, p := range loops {
		p.end(t)
	}
}

func TestDeadline(t *testing.T) {
	path := inTemp(t, "lock")
	holder := start(t, "lock", path)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := Lock(ctx, path)
	var taken *BusyError
	if !errors.As(err, &taken) {
		t.Fatalf("got %v", err)
	}
	if taken.Path != path {
		t.Errorf("path %q", taken.Path)
	}
	holder.end(t)
}

func TestPastDeadlineTakesAFreeLockOnly(t *testing.T) {
	path := inTemp(t, "lock")
	free(t, path)
	holder := start(t, "lock", path)
	if taken := busy(t, path); taken.Waited != 0 {
		t.Errorf("waited %v", taken.Waited)
	}
	holder.end(t)
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := inTemp(t, "lock")
	if _, err := Lock(ctx, path); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("file touched: %v", err)
	}
}

func TestMissingDirectoryIsToldAsSuch(t *testing.T) {
	path := inTemp(t, "gone/lock")
	_, err := Lock(t.Context(), path)
	var pathError *fs.PathError
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &pathError) || pathError.Path != path {
		t.Errorf("got %v", err)
	}
}

// An interrupted handle fails with EINTR a few times at every call.
type interrupted struct {
	handle
	left *int
}

func (h interrupted) interrupt() error {
	if *h.left--; *h.left%3 != 0 {
		return &fs.PathError{Op: "flock", Err: syscall.EINTR}
	}
	return nil
}

func (h interrupted) TryLock() (bool, error) {
	if err := h.interrupt(); err != nil {
		return false, err
	}
	return h.handle.TryLock()
}

func (h interrupted) Lock() error {
	if err := h.interrupt(); err != nil {
		return err
	}
	return h.handle.Lock()
}

func (h interrupted) Unlock() error {
	if err := h.interrupt(); err != nil {
		return err
	}
	return h.handle.Unlock()
}

func TestSignalsDoNotEndAnyCall(t *testing.T) {
	path := inTemp(t, "lock")
	l := locker{path: path, open: func(path string) handle {
		return interrupted{openFlock(path), new(int)}
	}}
	unlock, err := l.lock(t.Context())
	check(t, err)
	result := make(chan error)
	go func() {
		h, err := l.wait(t.Context())
		if err == nil {
			err = retry(h.Unlock)
		}
		result <- err
	}()
	check(t, unlock())
	check(t, <-result)
	free(t, path)
}

func BenchmarkLock(b *testing.B) {
	path := inTemp(b, "lock")
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		unlock, err := Lock(ctx, path)
		check(b, err)
		check(b, unlock())
	}
}
