//go:build linux

package torture

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// namedLocks runs commands under one named lock, and kills, ends, stops and continues
// them at random, while they wait and while they have the lock. No two of them ever work
// at the same time, and in the end every one that is left gets its turn.
func namedLocks(e *env, r *report) {
	l := e.newLoad(r, e.newDir(), plan{odds: 2})
	defer remove(l.data)
	program, err := os.Executable()
	work := filepath.Join(l.data, "work")
	if !r.check("setting up", errors.Join(err, os.MkdirAll(work, 0o700))) {
		return
	}
	var started atomic.Int64
	l.each(14, func(a *agent) {
		started.Add(1)
		a.do(nil, "lock", "run", "storm", "--", "env", guardedVariable+"="+work, program)
	})
	l.over.sleep(time.Duration(e.pick(8, 60)) * time.Second)
	l.finish()
	if both, err := os.ReadFile(filepath.Join(work, "both")); err == nil {
		r.wrong("two had the lock at once: %s", both)
	}
	turns, err := os.ReadFile(filepath.Join(work, "turns"))
	r.check("nobody ever had the lock", err)
	if res := e.on(l.data).run("lock", "list", "--all"); res.exit != 0 || !strings.Contains(res.stdout, `"locks":[]`) {
		r.wrong("all have ended, and yet: %v", res)
	}
	r.add(int(started.Load()), l.killed, strings.Count(string(turns), "\n"))
}

// guardedVariable makes this program one of the commands under the lock: its value is
// the directory in which they work.
const guardedVariable = "TORTURE_GUARDED"

// guardedWork takes a lock of its own without waiting, which nobody else may have, works
// for a moment, and leaves a trace. It has no children, which would outlive it.
func guardedWork(dir string) int {
	fd, err := syscall.Open(filepath.Join(dir, "turns"), syscall.O_CREAT|syscall.O_WRONLY|syscall.O_APPEND, 0o600)
	if err == nil {
		// A process that is killed closes its files by their numbers, which ends their locks of
		// records at once: that of this one before that of the ticket, which lets the next one in.
		err = errors.Join(unix.Dup3(fd, 0, 0), syscall.Close(fd))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	f := os.NewFile(0, "turns")
	if err := unix.FcntlFlock(0, unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Len: 1}); err != nil {
		_ = os.WriteFile(filepath.Join(dir, "both"), []byte(fmt.Sprintf("process %d was the second", os.Getpid())), 0o600)
		return 1
	}
	time.Sleep(rand.N(20 * time.Millisecond))
	if _, err := fmt.Fprintln(f, os.Getpid()); err != nil {
		return 1
	}
	return 0
}
