//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// slowDisk lets every sync take half a second, so that a change takes a second,
// while six talk at once and one waits. The sixth has to wait for its lock as long
// as anybody does, and may be told so; then it says it again. Nobody else fails,
// and who waits is told as soon as there is something to tell.
func slowDisk(g *rig, r *report) {
	if _, err := exec.LookPath("strace"); err != nil {
		r.skip("there is no strace")
		return
	}
	y, err := g.newRelay(r)
	if err != nil {
		r.wrong("%v", err)
		return
	}
	defer g.remove(y.data)
	slow := slowSyncs
	for n := range g.pick(1, 5) {
		said, late, err := y.slowWriters(slow, n)
		r.add(len(said), 0, len(said))
		if err != nil {
			r.wrong("%v", err)
		} else if late > 0 {
			r.tell("%d of six writers had to try again", late)
		}
		r.judge(g, y.data, said)
		// A waiter on a slow disk has to sync its own claim, which takes a second.
		if err := y.round(slow, nothing, nothing); err != nil {
			r.wrong("a slow waiter: %v", err)
		}
		y.slow = slow
		if err := y.round(nil, nothing, nothing); err != nil {
			r.wrong("a slow writer: %v", err)
		}
		if y.slow, err = slowAppend(y); err == nil {
			err = y.round(nil, nothing, nothing)
		}
		if err != nil {
			r.wrong("a writer that is slow to begin: %v", err)
		}
		y.slow = nil
	}
	stalledWriters(g, r)
}

// slowSyncs lets every sync take half a second.
var slowSyncs = strace("-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:delay_exit=500ms", "-o", "/dev/null")

// slowAppend lets half a second pass before a line is written to the journal.
func slowAppend(y *relay) ([]string, error) {
	room, err := y.room(y.data)
	if err != nil {
		return nil, err
	}
	return strace("-P", room.JournalPath(), "-e", "trace=write,pwrite64", "-e", "inject=write,pwrite64:delay_enter=500ms", "-o", "/dev/null"), nil
}

// lockPatience is how long a command waits for its lock.
const lockPatience = 5 * time.Second

// slowWriters lets six talk at once. At most one may have to try again.
func (y *relay) slowWriters(slow []string, round int) (said []string, late int, err error) {
	began := time.Now()
	var writers []*waiter
	for i := range 6 {
		body := fmt.Sprintf("slow %d/%d", round, i)
		w, err := y.startWaiter(y.data, slow, "msg", "send", "room", body, "--agent", y.owner)
		if err != nil {
			return nil, 0, err
		}
		defer w.kill()
		said, writers = append(said, body), append(writers, w)
	}
	for i, w := range writers {
		<-w.over
		if late == 0 && w.ended.Sub(began) >= lockPatience && strings.Contains(w.stderr, `"lock_timeout"`) {
			late++
			w.exit = y.run(y.data, "msg", "send", "room", said[i], "--agent", y.owner).exit
		}
		if w.exit != 0 {
			return nil, 0, fmt.Errorf("a writer on a slow disk: %v", w.result)
		}
	}
	return said, late, nil
}

// stalledWriters stops whoever hands over the turn for a second and a half in the
// middle of it. When it goes on, who waits is told.
func stalledWriters(g *rig, r *report) {
	var all sync.WaitGroup
	for _, call := range []string{"flock", "utimensat", "write", "fdatasync", "fsync", "renameat"} {
		all.Go(func() {
			y, err := g.newRelay(r)
			for range g.pick(1, 5) {
				if err == nil {
					err = y.stalled(call)
				}
				r.add(1, 0, 0)
			}
			if err != nil {
				r.wrong("a writer that stands still at its %s: %v", call, err)
				return
			}
			r.judge(g, y.data, nil)
			g.remove(y.data)
		})
	}
	all.Wait()
}

// stalled is a round in which assign stops after its first call of a kind.
func (y *relay) stalled(call string) error {
	w, err := y.startWait(y.data, nil, y.waiter)
	if err != nil {
		return err
	}
	defer w.kill()
	under := strace("-e", "trace="+call, "-e", "inject="+call+":signal=SIGSTOP:when=1", "-o", "/dev/null")
	writer, err := y.startWaiter(y.data, under, "assign", y.waiter, "--status", "s", "--next-action", "n", "--agent", y.owner)
	if err != nil {
		return err
	}
	room, err := y.room(y.data)
	if err != nil {
		return err
	}
	pid, err := stoppedHolderOf(filepath.Join(room.Dir(), "lock"))
	if err != nil {
		return err
	}
	time.Sleep(1500 * time.Millisecond)
	since := time.Now()
	for over := false; !over; {
		_ = syscall.Kill(pid, syscall.SIGCONT)
		select {
		case <-writer.over:
			over = true
		case <-time.After(50 * time.Millisecond):
		}
	}
	if writer.exit != 0 {
		return fmt.Errorf("assign: %v", writer.result)
	}
	return y.taken(w, since)
}
