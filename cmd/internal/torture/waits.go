//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A waitCase is a way in which a waiter may fail to be woken. Unless it says
// otherwise the turn is handed to the waiter, which is told so promptly.
type waitCase struct {
	name   string
	under  []string                        // programs that the waiter runs below
	slow   func(*relay) []string           // and those that the owner runs below
	soon   bool                            // the turn is handed over while the waiter is on its way to sleep
	before func(*relay, *waiter) error     // what is done to the waiter
	change func(*relay) error              // what happens instead
	after  func(y *relay, w *waiter) error // what is done to the waiter when it has happened
	told   []string                        // what the waiter may be told instead
	most   time.Duration                   // how late it may be told, where nobody can wake it
	gone   bool                            // the room is not there any more
	long   bool                            // takes many seconds
}

// safetyPoll is how soon is told whom nobody wakes: other hands have moved the
// directory.
const safetyPoll = 6 * time.Second

// inject is strace that does something to calls.
func inject(calls, what string) []string {
	return strace("-e", "trace="+calls, "-e", "inject="+calls+":"+what, "-o", "/dev/null")
}

func waitCases() []waitCase {
	ended := []string{"closed", "not_joined", "room_not_found"}
	cases := []waitCase{
		{name: "a waiter that stands still", before: stopAnd((*relay).chat), after: goOnAgain},
		{name: "a waiter whose queue is flooded", before: stopAnd((*relay).flood), after: goOnAgain},
		{name: "a room without state.json", before: inRoom(func(dir string, _ *relay) error { return os.Remove(filepath.Join(dir, "state.json")) })},
		{name: "a room replaced by its copy", before: inRoom(exchangeForCopy), most: safetyPoll},
		{name: "a room renamed away", change: renameAway, told: ended, most: safetyPoll, gone: true},
		{name: "a room renamed away and made anew", change: func(y *relay) error {
			if err := renameAway(y); err != nil {
				return err
			}
			return y.ok(y.data, "join", "--agent", "d:4")
		}, told: ended, most: safetyPoll},
		{name: "a room that ends", change: (*relay).end, told: ended},
		{name: "a room that ends and begins anew", change: func(y *relay) error {
			if err := y.end(); err != nil {
				return err
			}
			return y.ok(y.data, "join", "--agent", "d:4")
		}, told: ended},
		{name: "a waiter on a slow disk", under: inject("fsync,fdatasync", "delay_exit=500ms"), most: safetyPoll},
		{name: "a writer on a slow disk", slow: func(*relay) []string { return inject("fsync,fdatasync", "delay_exit=500ms") }},
		{name: "a writer that is slow to begin", slow: slowAppend},
		{name: "a writer that holds the lock for longer than anybody waits", long: true, most: safetyPoll,
			slow: func(*relay) []string { return inject("fdatasync", "delay_enter=12s") }},
	}
	for _, call := range []string{"flock", "utimensat", "write", "fdatasync", "fsync", "renameat"} {
		cases = append(cases, waitCase{name: "a writer that stands still at its " + call,
			slow: func(*relay) []string { return inject(call, "delay_enter=1500ms:when=1") }})
	}
	for _, delay := range []string{"inotify_add_watch:delay_exit", "inotify_add_watch:delay_enter", "inotify_init1:delay_exit"} {
		call, how, _ := strings.Cut(delay, ":")
		cases = append(cases, waitCase{name: "a waiter slow at " + delay, soon: true, under: inject(call, how+"=200ms")})
	}
	for _, fault := range []string{"inotify_init1:error=EMFILE", "inotify_init1:error=ENFILE", "inotify_init1:error=ENOSYS",
		"inotify_add_watch:error=ENOSPC", "inotify_add_watch:error=ENOMEM", "inotify_add_watch:error=EACCES", "inotify_rm_watch:error=EINVAL"} {
		call, what, _ := strings.Cut(fault, ":")
		cases = append(cases, waitCase{name: "a waiter with " + fault, under: inject(call, what)})
	}
	return cases
}

// waiters takes away, breaks and floods what waits are woken by, and stops those
// who wait and those they wait for.
func waiters(g *rig, r *report) {
	if !haveStrace() {
		r.skip("there is no strace")
		return
	}
	cases := waitCases()
	under, end, err := noWatchers()
	if err != nil {
		r.skip(fmt.Sprintf("watchers cannot be limited: %v", err))
	} else {
		defer end()
		cases = append(cases, waitCase{name: "no watcher left", under: under})
	}
	var all sync.WaitGroup
	free := make(chan struct{}, 4)
	for _, c := range cases {
		if c.long && !g.long {
			continue
		}
		free <- struct{}{}
		all.Go(func() {
			for range g.pick(2, 40) {
				r.add(1, 0, 0)
				if err := g.waitCase(r, c); err != nil {
					r.wrong("%s: %v", c.name, err)
				}
			}
			<-free
		})
	}
	all.Wait()
	r.tellLate()
}

func (g *rig) waitCase(r *report, c waitCase) error {
	y, err := g.newRelay(r)
	if err != nil {
		return err
	}
	defer g.remove(y.data)
	if c.under != nil {
		if err := y.mail(c.under); err != nil {
			return fmt.Errorf("a message: %w", err)
		}
	}
	if err := y.run(c); err != nil || c.gone {
		return err
	}
	return g.mended(y.data)
}

// slowAppend lets half a second pass before a line is written to the journal.
func slowAppend(y *relay) []string {
	room, err := y.room(y.data)
	if err != nil {
		return nil
	}
	return append(inject("write,pwrite64", "delay_enter=500ms"), "-P", room.JournalPath())
}

// stopAnd stops the waiter and does something while it stands still.
func stopAnd(do func(*relay) error) func(*relay, *waiter) error {
	return func(y *relay, w *waiter) error {
		if err := w.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		return do(y)
	}
}

func goOnAgain(_ *relay, w *waiter) error { return w.cmd.Process.Signal(syscall.SIGCONT) }

func (y *relay) chat() error { return y.talk(30) }

// flood fills the queue of whatever the waiter watches below the data directory,
// which holds 16 384 events: two names are exchanged, since the kernel merges equal
// events. Then there are real changes as well.
func (y *relay) flood() error {
	err := filepath.WalkDir(y.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		one, other := filepath.Join(path, "one"), filepath.Join(path, "other")
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
	})
	if err != nil {
		return err
	}
	return y.talk(3)
}

// end removes the waiter and leaves, which ends the room.
func (y *relay) end() error {
	if err := y.ok(y.data, "kick", y.waiter, "--force", "--agent", y.owner); err != nil {
		return err
	}
	return y.ok(y.data, "leave", "--agent", y.owner)
}

// inRoom does something to the room's directory.
func inRoom(do func(dir string, y *relay) error) func(*relay, *waiter) error {
	return func(y *relay, _ *waiter) error {
		room, err := y.room(y.data)
		if err != nil {
			return err
		}
		return do(room.Dir(), y)
	}
}

func exchangeForCopy(dir string, y *relay) error {
	other := y.newDir()
	if err := copyDir(dir, other); err != nil {
		return err
	}
	return unix.Renameat2(unix.AT_FDCWD, other, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)
}

func renameAway(y *relay) error {
	return inRoom(func(dir string, y *relay) error { return os.Rename(dir, y.newDir()) })(y, nil)
}

// noWatchers is how a program runs without a watcher to be had: in a user namespace
// of its own a shell may forbid them.
func noWatchers() (under []string, end func(), err error) {
	holder := exec.Command("unshare", "-Ur", "sh", "-c", "echo 0 >/proc/sys/user/max_inotify_instances && echo ready && exec sleep 600")
	out, err := holder.StdoutPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		return nil, nil, err
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		return nil, nil, fmt.Errorf("%v: %v", holder.Args, holder.Wait())
	}
	end = func() { _ = holder.Process.Kill(); _ = holder.Wait() }
	return []string{"nsenter", "--user", "--preserve-credentials", "--target", strconv.Itoa(holder.Process.Pid)}, end, nil
}
