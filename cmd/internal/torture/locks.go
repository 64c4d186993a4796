//go:build linux

package torture

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// namedLocks runs commands under one named lock, and kills, ends, stops and continues
// them at random, while they wait and while they have the lock. No two of them ever work
// at the same time, and in the end every one that is left gets its turn.
func namedLocks(e *env, r *report) {
	s := &lockStorm{env: e, report: r, random: e.random(), data: e.newDir()}
	defer remove(s.data)
	s.work = filepath.Join(s.data, "work")
	if err := os.MkdirAll(s.work, 0o700); err != nil {
		r.wrong("%v", err)
		return
	}
	s.rage(time.Duration(e.pick(8, 60)) * time.Second)
	s.settle()
	s.judge()
}

// A lockStorm is some commands that run under a lock, or wait for it.
type lockStorm struct {
	*env
	*report
	random  *rand.Rand
	data    string
	work    string // where the commands leave their traces
	running []*lockRun
	started int
	signals int
}

type lockRun struct {
	*process
	hit bool // a signal was sent that may have ended it
}

// guardedVariable makes this program one of the commands of a [lockStorm]: its value is
// the directory in which they work.
const guardedVariable = "TORTURE_GUARDED"

// guardedWork takes a lock of its own without waiting, which nobody else may have, works
// for a moment, and leaves a trace. It has no children, which would outlive it.
func guardedWork(dir string) int {
	fd, err := syscall.Open(filepath.Join(dir, "turns"), syscall.O_CREAT|syscall.O_WRONLY|syscall.O_APPEND, 0o600)
	if err == nil {
		// A process that is killed closes its files by their numbers: this one before
		// the ticket, which lets the next one in.
		err = errors.Join(unix.Dup3(fd, 0, 0), syscall.Close(fd))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	f := os.NewFile(0, "turns")
	if err := syscall.Flock(0, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = os.WriteFile(filepath.Join(dir, "both"), []byte(fmt.Sprintf("process %d was the second", os.Getpid())), 0o600)
		return 1
	}
	time.Sleep(rand.N(20 * time.Millisecond))
	if _, err := fmt.Fprintln(f, os.Getpid()); err != nil {
		return 1
	}
	return 0
}

// rage makes a step every five milliseconds, so that commands get to work between them.
func (s *lockStorm) rage(long time.Duration) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(long); ; {
		select {
		case <-tick.C:
			s.step()
		case <-end:
			return
		}
	}
}

func (s *lockStorm) step() {
	const atMost = 14
	s.collect()
	if len(s.running) < atMost {
		s.start()
	}
	if s.random.IntN(3) == 0 {
		run := s.running[s.random.IntN(len(s.running))]
		signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGSTOP, syscall.SIGCONT}[s.random.IntN(4)]
		run.hit = run.hit || signal == syscall.SIGKILL || signal == syscall.SIGTERM
		run.signal(signal)
		s.signals++
	}
	for _, run := range s.running {
		if s.random.IntN(10) == 0 {
			run.signal(syscall.SIGCONT)
		}
	}
}

func (s *lockStorm) start() {
	program, err := os.Executable()
	if err != nil {
		s.wrong("%v", err)
		return
	}
	cmd := s.command(s.data, s.tt, "lock", "run", "storm", "--", program)
	cmd.Env = append(cmd.Env, guardedVariable+"="+s.work)
	if err := cmd.launch(nil); err != nil {
		s.wrong("%v", err)
		return
	}
	s.started++
	s.running = append(s.running, &lockRun{process: cmd})
}

// collect forgets the commands that have ended.
func (s *lockStorm) collect() {
	s.running = slices.DeleteFunc(s.running, func(run *lockRun) bool {
		over := run.isOver()
		if over && run.outcome.exit != 0 && !run.hit {
			s.wrong("nobody ended it, and it failed: %v", run.result())
		}
		return over
	})
}

// settle lets all go on until they have ended.
func (s *lockStorm) settle() {
	for deadline := time.Now().Add(time.Minute); len(s.running) > 0; time.Sleep(10 * time.Millisecond) {
		for _, run := range s.running {
			run.signal(syscall.SIGCONT)
		}
		s.collect()
		if time.Now().After(deadline) {
			s.wrong("%d commands do not end: %s", len(s.running), s.run(s.data, "lock", "list", "--all"))
			for _, run := range s.running {
				run.kill()
			}
			return
		}
	}
}

func (s *lockStorm) judge() {
	both, err := os.ReadFile(filepath.Join(s.work, "both"))
	switch {
	case err == nil:
		s.wrong("two had the lock at once: %s", strings.TrimSpace(string(both)))
	case !errors.Is(err, os.ErrNotExist):
		s.wrong("%v", err)
	}
	turns, err := os.ReadFile(filepath.Join(s.work, "turns"))
	if err != nil {
		s.wrong("nobody ever had the lock: %v", err)
	}
	if res := s.run(s.data, "lock", "list", "--all"); res.exit != 0 || !strings.Contains(res.stdout, `"locks":[]`) {
		s.wrong("all have ended, and yet: %v", res)
	}
	s.add(s.started, s.signals, strings.Count(string(turns), "\n"))
}
