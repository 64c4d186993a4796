//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// A follower reads all events of a room as they come, with a process that is
// killed or stopped every now and then, and goes on where it was.
type follower struct {
	*load
	seen   atomic.Int64 // the last event
	calm   atomic.Bool  // it is not disturbed any more
	done   atomic.Bool
	now    atomic.Pointer[os.Process]
	over   chan struct{}
	kills  int
	failed string
}

func (l *load) follow() *follower {
	f := &follower{load: l, over: make(chan struct{})}
	go f.run()
	return f
}

func (f *follower) run() {
	defer close(f.over)
	for random := f.random(); !f.done.Load() && f.failed == ""; f.kills++ {
		after := strconv.FormatInt(f.seen.Load(), 10)
		cmd := exec.Command(f.tt, "events", "--follow", "--target", "any", "--after", after, "--agent", "a:1", "--json")
		cmd.Env, cmd.Dir = f.env(f.data), f.workspace
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			f.failed = err.Error()
			return
		}
		f.now.Store(cmd.Process)
		life := time.AfterFunc(time.Duration(100+random.IntN(1500))*time.Millisecond, func() {
			if !f.calm.Load() {
				_ = cmd.Process.Kill()
			}
		})
		f.read(out, func() { _ = cmd.Process.Signal(syscall.SIGSTOP) }, func() { _ = cmd.Process.Signal(syscall.SIGCONT) })
		life.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// read takes in what one process says, and stops it for a moment now and then.
func (f *follower) read(out io.Reader, stop, goOn func()) {
	lines := bufio.NewReader(out)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return // what is left of a line was written by a killed process
		}
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil || e.Seq != f.seen.Load()+1 {
			f.failed = "after event " + strconv.FormatInt(f.seen.Load(), 10) + " a follower was told " + string(line)
			return
		}
		f.seen.Store(e.Seq)
		if n%100 == 0 && !f.calm.Load() {
			stop()
			time.AfterFunc(10*time.Millisecond, goOn)
		}
	}
}

// end ends the follower, once it has been told all there is: soon after the load
// has ended.
func (f *follower) end(r *report) {
	f.calm.Store(true)
	began, last := time.Now(), int64(-1)
	if room, err := f.room(f.data); err == nil {
		if snap, err := room.View(); err == nil {
			last = snap.Position.Seq
		}
	}
	eventually(8*time.Second, func() bool { return f.seen.Load() == last })
	if took := time.Since(began); took > atLatest {
		r.wrong("a follower is at event %d of %d after %v", f.seen.Load(), last, took.Round(time.Millisecond))
	}
	f.done.Store(true)
	for ended := false; !ended; {
		select {
		case <-f.over:
			ended = true
		case <-time.After(10 * time.Millisecond):
			if p := f.now.Load(); p != nil {
				_ = p.Kill()
			}
		}
	}
	if f.failed != "" {
		r.wrong("%s", f.failed)
	}
}
