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
	"time"

	"golang.org/x/sys/unix"
)

// A waitCase is a way in which a waiter may fail to be woken. Unless it says
// otherwise the turn is handed to the waiter, which is woken promptly.
type waitCase struct {
	name    string
	under   []string                 // programs below which the waiter runs
	slow    func(*handover) []string // and those below which the owner runs
	early   bool                     // the turn is handed over while the waiter is about to sleep
	stopped bool                     // the waiter is stopped from before until after the handover
	before  func(*handover) error    // what is done while it waits
	change  func(*handover) error    // what happens instead of the handover
	printed []string                 // what the waiter may print instead of your_turn
	most    time.Duration            // how late it may be, where nobody can wake it
	gone    bool                     // the room is not there any more
	long    bool                     // takes many seconds
}

// safetyPoll is how soon a waiter looks that nobody wakes, as when the room's
// directory was moved.
const safetyPoll = 6 * time.Second

// inject is strace that does something to calls.
func inject(calls, what string) []string {
	return strace("-e", "trace="+calls, "-e", "inject="+calls+":"+what, "-o", "/dev/null")
}

func waitCases() []waitCase {
	ended := []string{"closed", "not_joined", "room_not_found"}
	slow := func(calls, what string) func(*handover) []string {
		return func(*handover) []string { return inject(calls, what) }
	}
	cases := []waitCase{
		{name: "a waiter that is stopped", stopped: true, before: func(h *handover) error { return h.talk(30) }},
		{name: "a waiter whose queue is flooded", stopped: true, before: (*handover).flood},
		{name: "a room without state.json", before: inRoom(func(dir string, _ *handover) error { return os.Remove(filepath.Join(dir, "state.json")) })},
		{name: "a room replaced by its copy", before: inRoom(exchangeForCopy), most: safetyPoll},
		{name: "a room renamed away", change: renameAway, printed: ended, most: safetyPoll, gone: true},
		{name: "a room renamed away and made anew", change: andAnew(renameAway), printed: ended, most: safetyPoll},
		{name: "a room that ends", change: (*handover).endRoom, printed: ended},
		{name: "a room that ends and begins anew", change: andAnew((*handover).endRoom), printed: ended},
		{name: "a waiter on a slow disk", under: inject("fsync,fdatasync", "delay_exit=500ms"), most: safetyPoll},
		{name: "a writer on a slow disk", slow: slow("fsync,fdatasync", "delay_exit=500ms")},
		{name: "a writer that is slow to begin", slow: slowAppend},
		{name: "a writer that holds the lock for longer than anybody waits", long: true, most: safetyPoll, slow: slow("fdatasync", "delay_enter=12s")},
	}
	for _, call := range []string{"flock", "utimensat", "write", "fdatasync", "fsync", "renameat"} {
		cases = append(cases, waitCase{name: "a writer delayed at its " + call, slow: slow(call, "delay_enter=1500ms:when=1")})
	}
	for _, delay := range []string{"inotify_add_watch:delay_exit", "inotify_add_watch:delay_enter", "inotify_init1:delay_exit"} {
		call, how, _ := strings.Cut(delay, ":")
		cases = append(cases, waitCase{name: "a waiter slow at " + delay, early: true, under: inject(call, how+"=200ms")})
	}
	for _, fault := range []string{"inotify_init1:error=EMFILE", "inotify_init1:error=ENFILE", "inotify_init1:error=ENOSYS",
		"inotify_add_watch:error=ENOSPC", "inotify_add_watch:error=ENOMEM", "inotify_add_watch:error=EACCES", "inotify_rm_watch:error=EINVAL"} {
		call, what, _ := strings.Cut(fault, ":")
		cases = append(cases, waitCase{name: "a waiter with " + fault, under: inject(call, what)})
	}
	return cases
}

// waits breaks and floods what wakes waiters, and stops waiters and those they
// wait for.
func waits(e *env, r *report) {
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
		if c.long && !e.long {
			continue
		}
		free <- struct{}{}
		all.Go(func() {
			for range e.pick(2, 40) {
				r.add(1, 0, 0)
				r.check(c.name, e.waitCase(r, c))
			}
			<-free
		})
	}
	all.Wait()
	r.judgeLateness()
}

func (e *env) waitCase(r *report, c waitCase) error {
	h, err := e.newHandover(r)
	if err != nil {
		return err
	}
	defer e.remove(h.data)
	if c.under != nil {
		if err := h.mail(c.under); err != nil {
			return fmt.Errorf("a message: %w", err)
		}
	}
	if err := h.run(c); err != nil || c.gone {
		return err
	}
	return e.mended(h.data)
}

// slowAppend delays by half a second the write of a line to the journal.
func slowAppend(h *handover) []string {
	room, err := h.room(h.data)
	if err != nil {
		return nil
	}
	return append(inject("write,pwrite64", "delay_enter=500ms"), "-P", room.JournalPath())
}

// flood fills the queue of whatever the waiter watches below the data directory,
// which holds 16 384 events: two names are exchanged, since the kernel merges equal
// events. Then there are real changes as well.
func (h *handover) flood() error {
	err := filepath.WalkDir(h.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		one, other := filepath.Join(path, "one"), filepath.Join(path, "other")
		if err := os.WriteFile(one, nil, 0o600); err != nil {
			return err
		}
		for range 16_800 {
			if err := os.Rename(one, other); err != nil {
				return err
			}
			one, other = other, one
		}
		return os.Remove(one)
	})
	if err != nil {
		return err
	}
	return h.talk(3)
}

// endRoom removes the waiter and leaves, which ends the room.
func (h *handover) endRoom() error {
	return h.ok(h.data, "kick "+waiter+" --force --agent "+owner, "leave --agent "+owner)
}

// andAnew makes the room anew after a change.
func andAnew(change func(*handover) error) func(*handover) error {
	return func(h *handover) error {
		if err := change(h); err != nil {
			return err
		}
		return h.ok(h.data, "join --agent d:4")
	}
}

// inRoom does something to the room's directory.
func inRoom(do func(dir string, h *handover) error) func(*handover) error {
	return func(h *handover) error {
		room, err := h.room(h.data)
		if err != nil {
			return err
		}
		return do(room.Dir(), h)
	}
}

var renameAway = inRoom(func(dir string, h *handover) error { return os.Rename(dir, h.newDir()) })

func exchangeForCopy(dir string, h *handover) error {
	other := h.newDir()
	if err := command("cp", "-a", dir, other); err != nil {
		return err
	}
	return unix.Renameat2(unix.AT_FDCWD, other, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)
}

// noWatchers is how a program runs that can have no watcher: in a user namespace of
// its own a shell may forbid them.
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
