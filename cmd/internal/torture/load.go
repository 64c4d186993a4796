//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A load is several processes at work in one room, one after another in each of
// its lanes. What it was told to be done it remembers.
type load struct {
	*rig
	tt      string
	data    string
	killing bool // some commands are killed on the way

	mu      sync.Mutex
	acked   []string
	running map[*exec.Cmd]bool
	kills   int
	failed  string // the first command that failed by itself
	paused  bool
	resumed *sync.Cond
	stopped bool
	lanes   sync.WaitGroup
}

// startLoad lets lanes of agents talk in the room, which they have joined.
func (g *rig) startLoad(tt, data string, lanes int, killing bool) *load {
	l := &load{rig: g, tt: tt, data: data, killing: killing, running: map[*exec.Cmd]bool{}}
	l.resumed = sync.NewCond(&l.mu)
	for lane := range lanes {
		random := g.random()
		l.lanes.Go(func() { l.talk(lane, random) })
	}
	return l
}

func (l *load) talk(lane int, random *rand.Rand) {
	for n := 0; ; n++ {
		body := fmt.Sprintf("%d/%d/%d", lane, n, random.Uint64())
		args := []string{"msg", "send", "room", body, "--agent", []string{"a:1", "b:2", "c:3"}[lane%3], "--json"}
		if !l.once(args, body, random) {
			return
		}
	}
}

// once runs one command. It reports false when the load is over.
func (l *load) once(args []string, body string, random *rand.Rand) bool {
	cmd := exec.Command(l.tt, args...)
	cmd.Env, cmd.Dir = l.env(l.data), l.workspace
	l.mu.Lock()
	for l.paused && !l.stopped {
		l.resumed.Wait()
	}
	if l.stopped {
		l.mu.Unlock()
		return false
	}
	err := cmd.Start()
	l.running[cmd] = true
	l.mu.Unlock()
	victim := l.killing && random.IntN(2) == 0
	if victim && err == nil {
		time.Sleep(time.Duration(random.IntN(4000)) * time.Microsecond)
		_ = cmd.Process.Kill()
	}
	if err == nil {
		err = cmd.Wait()
	}
	l.note(cmd, err, victim, body)
	return true
}

func (l *load) note(cmd *exec.Cmd, err error, victim bool, body string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, cmd)
	switch killed := victim && err != nil; {
	case err == nil:
		l.acked = append(l.acked, body)
	case killed:
		l.kills++
	case !l.stopped && l.failed == "":
		l.failed = fmt.Sprintf("%v: %v", cmd.Args[1:], err)
	}
}

// acknowledgements are those so far.
func (l *load) acknowledgements() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.acked)
}

// freeze stops every process in the middle of what it does. What was acknowledged
// by then is returned.
func (l *load) freeze() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = true
	for cmd := range l.running {
		if cmd.Process != nil {
			_ = cmd.Process.Signal(syscall.SIGSTOP)
		}
	}
	return slices.Clone(l.acked)
}

// end kills what runs and waits for it.
func (l *load) end() {
	l.mu.Lock()
	l.stopped = true
	for cmd := range l.running {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
		}
	}
	l.resumed.Broadcast()
	l.mu.Unlock()
	l.lanes.Wait()
}

// finish lets what runs come to its end.
func (l *load) finish() {
	l.mu.Lock()
	l.stopped = true
	l.resumed.Broadcast()
	l.mu.Unlock()
	l.lanes.Wait()
}

// members makes a room with three members.
func (g *rig) members(tt, data string) error {
	for _, id := range []string{"a:1", "b:2", "c:3"} {
		cmd := exec.Command(tt, "join", "--agent", id, "--json")
		cmd.Env, cmd.Dir = g.env(data), g.workspace
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("join: %v: %s", err, out)
		}
	}
	return nil
}

// randomKills kills at random moments while many contend for the room, and a
// reader never sees it go back.
func randomKills(g *rig, r *report) {
	data := g.newDir()
	if err := g.members(g.tt, data); err != nil {
		r.wrong("%v", err)
		return
	}
	room, err := g.room(data)
	if err != nil {
		r.wrong("%v", err)
		return
	}
	l := g.startLoad(g.tt, data, 6, true)
	seen := int64(0)
	for began := time.Now(); time.Since(began) < time.Duration(g.pick(20, 600))*time.Second; {
		snap, err := room.View()
		if err != nil {
			r.wrong("a reader fails: %v", err)
			break
		}
		if snap.Position.Seq < seen {
			r.wrong("a reader saw event %d and then %d", seen, snap.Position.Seq)
		}
		seen = snap.Position.Seq
		time.Sleep(time.Millisecond)
	}
	l.finish()
	r.add(1, l.kills, len(l.acked))
	if l.failed != "" {
		r.wrong("%s", l.failed)
	}
	r.judge(g, data, l.acked)
}

// judge checks a data directory that a load has left.
func (r *report) judge(g *rig, data string, acked []string) bool {
	events, err := g.events(data)
	if err == nil {
		err = counted(bodies(events), acked)
	}
	if err == nil {
		err = g.mended(data)
	}
	if err != nil {
		r.wrong("%v", err)
	}
	return err == nil
}

// copyHot is copyDir of a directory at work. cp may complain that state.json was
// replaced, or a temporary file went, under its hands: neither is needed.
func copyHot(from, to string) error {
	out, err := exec.Command("cp", "-a", from, to).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "/state.json") && !strings.Contains(line, "/tmp/") && !strings.Contains(line, "/agents/") {
			return fmt.Errorf("cp: %v: %s", err, out)
		}
	}
	return nil
}

// hotCopies copies the data directory while it is worked in.
func hotCopies(g *rig, r *report) {
	data := g.newDir()
	if err := g.members(g.tt, data); err != nil {
		r.wrong("%v", err)
		return
	}
	l := g.startLoad(g.tt, data, 3, false)
	for range g.pick(100, 1000) {
		acked := l.acknowledgements()
		to := g.newDir()
		if err := copyHot(data, to); err != nil {
			r.wrong("%v", err)
			continue
		}
		r.judge(g, to, acked)
		r.add(1, 0, 0)
		g.remove(to)
	}
	l.finish()
	r.add(0, 0, len(l.acked))
	if l.failed != "" {
		r.wrong("%s", l.failed)
	}
	r.judge(g, data, l.acked)
}
