//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

var errPassed = errors.New("it did not come to the point")

// holds reports whether the process has the lock. The kernel's list of locks is
// read in pieces, between which a line can be missed while others lock and unlock,
// as they do here: so it is looked at more than once.
func holds(pid int, lock string) bool {
	for range 5 {
		if holder, ok := lockfile.FindHolder(lock); ok {
			return holder.PID == pid
		}
	}
	return false
}

// waitsForLock reports whether the process is in the queue for any lock.
func waitsForLock(pid int) bool {
	locks, _ := os.ReadFile("/proc/locks")
	for line := range bytes.Lines(locks) {
		if f := strings.Fields(string(line)); len(f) > 5 && f[1] == "->" && f[5] == strconv.Itoa(pid) {
			return true
		}
	}
	return false
}

// stoppedIn waits until the trace tells that a process stands still, and returns
// its number.
func stoppedIn(trace string, ends chan error) (int, error) {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		b, _ := os.ReadFile(trace)
		if before, _, found := strings.Cut(string(b), " --- stopped by SIGSTOP"); found {
			return strconv.Atoi(strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:]))
		}
		select {
		case err := <-ends:
			ends <- err
			return 0, errPassed
		default:
		}
	}
	return 0, fmt.Errorf("it neither stopped nor ended")
}

// goOn lets the process go on, and again if it was not stopped yet, until its
// command has ended.
func goOn(pid int, ends <-chan error) error {
	for {
		_ = syscall.Kill(pid, syscall.SIGCONT)
		select {
		case err := <-ends:
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}
