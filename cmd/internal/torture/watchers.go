//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watchers takes away, breaks and floods what waits are woken by.
func watchers(g *rig, r *report) {
	jobs := []func(){
		func() { g.fewInstances(r) },
		func() { g.relays(r, "a flooded queue", nil, nil, nil) },
	}
	for _, what := range []string{"renamed away", "renamed away and made anew", "replaced by its copy", "without state.json"} {
		jobs = append(jobs, func() { g.movedRooms(r, what) })
	}
	if _, err := exec.LookPath("strace"); err != nil {
		r.skip("there is no strace")
	} else {
		for _, fault := range []string{"inotify_init1:error=EMFILE", "inotify_init1:error=ENFILE", "inotify_init1:error=ENOSYS",
			"inotify_add_watch:error=ENOSPC", "inotify_add_watch:error=ENOMEM", "inotify_add_watch:error=EACCES", "inotify_rm_watch:error=EINVAL"} {
			call, _, _ := strings.Cut(fault, ":")
			under := strace("-e", "trace="+call, "-e", "inject="+fault, "-o", "/dev/null")
			jobs = append(jobs, func() { g.relays(r, fault, under, nothing, nothing) })
		}
	}
	atOnce(3, jobs)
	r.tellLate()
}

// atOnce runs jobs, some of them at a time.
func atOnce(most int, jobs []func()) {
	var all sync.WaitGroup
	free := make(chan struct{}, most)
	for _, job := range jobs {
		free <- struct{}{}
		all.Go(func() { job(); <-free })
	}
	all.Wait()
}

// relays hands a turn to waiters that all have the same trouble. Without
// something to do before and after, their queues are flooded while they stand
// still.
func (g *rig) relays(r *report, name string, under []string, before, after func(*waiter) error) {
	y, err := g.newRelay(r)
	if err != nil {
		r.wrong("%v", err)
		return
	}
	defer g.remove(y.data)
	rounds := g.pick(2, 20)
	if before == nil {
		rounds = g.pick(1, 5)
		before = y.flood
		after = func(w *waiter) error { return w.cmd.Process.Signal(syscall.SIGCONT) }
	}
	for range rounds {
		r.add(1, 0, 0)
		err := y.round(under, before, after)
		if err == nil {
			err = y.mail(under, 100*time.Millisecond)
		}
		if err != nil {
			r.wrong("%s: %v", name, err)
			return
		}
	}
	if err := g.mended(y.data); err != nil {
		r.wrong("%s: %v", name, err)
	}
}

// flood stops the waiter and fills the queue of whatever it watches below the
// data directory, which holds 16 384 events: two names are exchanged, since the
// kernel merges equal events. Then there are real changes as well.
func (y *relay) flood(w *waiter) error {
	if err := w.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	err := filepath.WalkDir(y.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return exchange(filepath.Join(path, "one"), filepath.Join(path, "other"))
	})
	if err != nil {
		return err
	}
	return y.talk(3)
}

func exchange(one, other string) error {
	if err := os.WriteFile(one, nil, 0o600); err != nil {
		return err
	}
	for range 8_400 {
		if err := os.Rename(one, other); err != nil {
			return err
		}
		if err := os.Rename(other, one); err != nil {
			return err
		}
	}
	return os.Remove(one)
}

// fewInstances lets more wait than there are watchers for: in a user namespace of
// its own a shell may forbid all but a few.
func (g *rig) fewInstances(r *report) {
	for _, left := range []int{0, 5} {
		holder := exec.Command("unshare", "-Ur", "sh", "-c", fmt.Sprintf("echo %d >/proc/sys/user/max_inotify_instances && echo ready && exec sleep 600", left))
		if err := startReady(holder); err != nil {
			r.skip(fmt.Sprintf("watchers cannot be limited: %v", err))
			return
		}
		under := []string{"nsenter", "--user", "--preserve-credentials", "--target", strconv.Itoa(holder.Process.Pid)}
		if left == 0 {
			g.relays(r, "no watcher left", under, nothing, nothing)
		} else {
			r.add(1, 0, 0)
			if err := g.crowd(r, g.pick(20, 150), under); err != nil {
				r.wrong("a crowd of waiters: %v", err)
			}
		}
		_ = holder.Process.Kill()
		_ = holder.Wait()
	}
}

// startReady starts a program and waits for its first word.
func startReady(cmd *exec.Cmd) error {
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("%v: %v", cmd.Args, cmd.Wait())
	}
	return nil
}

// crowd lets many wait at once, more than there are watchers for, and hands the
// turn to each of them.
func (g *rig) crowd(r *report, n int, under []string) error {
	y, err := g.newRelay(r)
	if err != nil {
		return err
	}
	defer g.remove(y.data)
	waiters := map[string]*waiter{}
	for i := range n {
		agent := fmt.Sprintf("w:%d", i)
		w, err := g.startWait(y.data, under, agent)
		if err != nil {
			return err
		}
		defer w.kill()
		waiters[agent] = w
	}
	for agent, w := range waiters {
		if err := g.ok(y.data, "assign", agent, "--status", "s", "--next-action", "n", "--agent", y.owner); err != nil {
			return err
		}
		late, err := w.told(time.Now())
		if err != nil || w.exit != 0 {
			return fmt.Errorf("one of %d was told %v, %v", n, w.result, err)
		}
		r.wereTold(late)
		y.owner = agent
	}
	return g.mended(y.data)
}

// safetyPoll is how soon is told whom nobody wakes: other hands have moved the
// directory, or a process does not know how others are woken.
const safetyPoll = 6 * time.Second

func (g *rig) movedRooms(r *report, what string) {
	for range g.pick(1, 5) {
		r.add(1, 0, 0)
		late, err := g.movedRoom(what)
		if err != nil {
			r.wrong("a room %s under a waiter: %v", what, err)
		} else if late > promptly {
			r.tell("a room %s under a waiter was told after %v", what, late.Round(time.Millisecond))
		}
	}
}

// movedRoom does something to the directory of a room in which two wait. They
// must be told, be it of a turn or of the room's end.
func (g *rig) movedRoom(what string) (late time.Duration, err error) {
	data := g.newDir()
	defer g.remove(data)
	if r := g.run(data, "try", "--agent", "a:1"); r.exit != 0 {
		return 0, fmt.Errorf("try: %v", r)
	}
	var waiters []*waiter
	for _, agent := range agents[1:] {
		w, err := g.startWait(data, nil, agent)
		if err != nil {
			return 0, err
		}
		defer w.kill()
		waiters = append(waiters, w)
	}
	room, err := g.room(data)
	if err != nil {
		return 0, err
	}
	// Told of a turn is one of them, of the end are both.
	toldOf, n := []string{`"closed"`, `"not_joined"`}, 2
	switch what {
	case "renamed away":
		err = os.Rename(room.Dir(), g.newDir())
	case "renamed away and made anew":
		if err = os.Rename(room.Dir(), g.newDir()); err == nil {
			err = g.ok(data, "join", "--agent", "d:4")
		}
	case "replaced by its copy":
		other := g.newDir()
		if err = copyDir(room.Dir(), other); err == nil {
			err = unix.Renameat2(unix.AT_FDCWD, other, unix.AT_FDCWD, room.Dir(), unix.RENAME_EXCHANGE)
		}
		if err == nil {
			err = g.ok(data, "release", "--status", "s", "--next-action", "n", "--agent", "a:1")
		}
		toldOf, n = []string{`"your_turn"`}, 1
	case "without state.json":
		if err = os.Remove(filepath.Join(room.Dir(), "state.json")); err == nil {
			err = g.ok(data, "release", "--status", "s", "--next-action", "n", "--agent", "a:1")
		}
		toldOf, n = []string{`"your_turn"`}, 1
	}
	if err != nil {
		return 0, err
	}
	return toldSoon(waiters, n, toldOf...)
}

// toldSoon waits for n of the waiters to end, and returns how long the last of them
// took from now.
func toldSoon(waiters []*waiter, n int, of ...string) (late time.Duration, err error) {
	since, done := time.Now(), make(chan *waiter, len(waiters))
	for _, w := range waiters {
		go func() { <-w.over; done <- w }()
	}
	for range n {
		select {
		case w := <-done:
			if !slices.ContainsFunc(of, func(s string) bool { return strings.Contains(w.stdout+w.stderr, s) }) {
				return 0, fmt.Errorf("a waiter was told %v, want %v", w.result, of)
			}
			if late = w.ended.Sub(since); late > safetyPoll {
				return 0, fmt.Errorf("a waiter was told %v late", late.Round(time.Millisecond))
			}
		case <-time.After(10 * time.Second):
			return 0, fmt.Errorf("a waiter was not told within 10 seconds, want %v", of)
		}
	}
	return late, nil
}

// missedWakes makes changes while waiters are on their way to sleep: between
// their look and their watch, which takes a fifth of a second here.
func missedWakes(g *rig, r *report) {
	if _, err := exec.LookPath("strace"); err != nil {
		r.skip("there is no strace")
		return
	}
	const lanes = 6
	var all sync.WaitGroup
	for range lanes {
		random := g.random()
		all.Go(func() {
			y, err := g.newRelay(r)
			for range g.pick(6, 170) {
				if err == nil {
					err = y.missed(random)
				}
				r.add(1, 0, 0)
			}
			if err != nil {
				r.wrong("%v", err)
				return
			}
			if err := g.mended(y.data); err != nil {
				r.wrong("%v", err)
			}
			g.remove(y.data)
		})
	}
	all.Wait()
	r.tellLate()
}

// missed hands over, or sends a message, at a random moment of the waiter's first
// half second.
func (y *relay) missed(random *rand.Rand) error {
	after := time.Duration(random.Int64N(int64(400 * time.Millisecond)))
	delay := []string{"inotify_add_watch:delay_exit", "inotify_add_watch:delay_enter", "inotify_init1:delay_exit"}[random.IntN(3)]
	call, _, _ := strings.Cut(delay, ":")
	under := strace("-e", "trace="+call, "-e", "inject="+delay+"=200ms", "-o", "/dev/null")
	if random.IntN(3) == 0 {
		return y.mail(under, after)
	}
	w, err := y.startWaiter(y.data, under, "wait", "--timeout", "60s", "--agent", y.waiter)
	if err != nil {
		return err
	}
	defer w.kill()
	time.Sleep(after)
	if err := y.handOver(w, nothing); err != nil {
		return fmt.Errorf("%s: %w", delay, err)
	}
	return nil
}
