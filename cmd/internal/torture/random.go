//go:build linux

package torture

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// randomKills kills and stops processes at random moments while many talk, wait
// and take turns in a room, and readers never see it go back.
func randomKills(e *env, r *report) {
	var bus string
	if !r.check("agent-bus", e.build(&bus, "cmd/agent-bus")) {
		return
	}
	for range e.pick(2, 1000) {
		r.check("a room", e.randomRound(r, bus))
		if r.counts["kills"] >= 50_000 || r.bad > 0 {
			break
		}
	}
}

// randomRound works in one new room for a time.
func (e *env) randomRound(r *report, bus string) error {
	l := e.newLoad(r, e.newDir(), plan{odds: 2, bus: bus})
	defer remove(l.data)
	if err := e.on(l.data).ok(members...); err != nil {
		return err
	}
	if err := l.makeTopic(); err != nil {
		return err
	}
	l.each(4, (*agent).say)
	l.each(1, (*agent).askQuestion)
	l.each(3, (*agent).takeTurn)
	l.each(1, (*agent).receive)
	l.lanes.Go(func() { l.look(r) })
	l.lanes.Go(l.measure)
	last, followed := make(chan int64, 1), newLatch()
	go func() { r.check("a follower", l.follow(last)); followed.close() }()
	l.until(time.Duration(e.pick(9, 30))*time.Second, func(a *acks) bool { return l.killed >= e.pick(600, 4000) && len(a.grants) >= 40 })
	const few = 10
	l.until(stall, func(a *acks) bool { return len(a.grants) >= few })
	l.finish()
	events, err := e.events(l.data)
	r.check("the journal", err)
	last <- int64(len(events))
	<-followed.Done()
	r.add(1, l.killed, l.acks.count())
	r.check("guardians", e.guardiansEnd(l.data))
	r.check("the room", e.judge(l.data, l.acks))
	events, err = e.events(l.data)
	if err != nil || len(l.acks.grants) < few {
		r.wrong("%d turns were had, %v", len(l.acks.grants), err)
	}
	r.judgeLateness(l.acks.lateness(events))
	return nil
}

// receive reads the messages of one: reading must work, whatever is killed.
func (a *agent) receive() {
	a.id = agents[a.random.IntN(3)]
	a.do(nil, "msg", "recv")
}

// look reads the room all the time, without a lock, and must never see it go
// back.
func (l *load) look(r *report) {
	room, err := l.room(l.data)
	if !r.check("a reader", err) {
		return
	}
	for seen := int64(0); !l.over.closed(); time.Sleep(2 * time.Millisecond) {
		snap, err := room.View()
		if !r.check("a reader", err) {
			return
		}
		if snap.Position.Seq < seen {
			r.wrong("a reader saw event %d and then %d", seen, snap.Position.Seq)
		}
		seen = snap.Position.Seq
	}
}

// makeTopic makes a topic to ask in.
func (l *load) makeTopic() error {
	p := l.on(l.data).process(l.bus)
	p.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"torture","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"topic_create","arguments":{"name":"pink"}}}
`)
	if res := p.run(); !strings.Contains(res.stdout, "topic_id") {
		return fmt.Errorf("topic_create: %v", res)
	}
	return nil
}

// askQuestion asks a question on the agent bus, as others talk in the room.
func (a *agent) askQuestion() {
	question := a.text("which")
	a.wrote(question, a.do([]string{"TOPIC_FULL"}, "cli", "ask", "pink", question))
}

// follow reads all events of the room as they come, by processes that are killed at random, each
// of which continues after the last event that it was given. When the load has ended, the one that is
// left must soon have the last event of all.
func (l *load) follow(last <-chan int64) error {
	want := int64(-1)
	for seen, random := int64(0), l.random(); want < 0; {
		path := l.newDir()
		out, err := os.Create(path)
		if err != nil {
			return err
		}
		p := l.on(l.data).command("events", "--follow", "--target", "any", "--after", strconv.FormatInt(seen, 10), "--agent", "a:1")
		p.Stdout = out
		if err := p.launch(); err != nil {
			return err
		}
		l.over.sleep(time.Duration(100+random.IntN(1500)) * time.Millisecond)
		if l.over.closed() {
			want = <-last
			eventually(stall, func() bool { n, err := followed(path, seen); return n >= want || err != nil })
		}
		p.kill()
		_ = out.Close()
		l.note(func(*acks) { l.killed++ })
		if seen, err = followed(path, seen); err != nil {
			return err
		}
		if seen < want {
			return fmt.Errorf("it is at event %d of %d after %v", seen, want, stall)
		}
	}
	return nil
}

// followed returns the last event that a follower has printed after another one.
func followed(path string, after int64) (int64, error) {
	events, _, err := eventsIn(path)
	for _, e := range events {
		if e.Seq != after+1 {
			return after, fmt.Errorf("after event %d it was given event %d", after, e.Seq)
		}
		after = e.Seq
	}
	return after, err
}

func isGuardian(pid int) bool { return strings.HasPrefix(commandLine(pid), "tt guard ") }

// guardiansEnd hands over the turns of a room in which nobody waits any more until
// nobody has one, and reports an error if a guardian outlives them. It takes two
// turns: a guardian that was started ahead of a turn waits for that one.
func (e *env) guardiansEnd(data string) error {
	h := e.on(data)
	for range 2 {
		for _, agent := range agents {
			if r := h.run("try", "--agent", agent); strings.Contains(r.stdout, `"your_turn"`) {
				if err := h.ok("release --agent " + agent + handoff); err != nil {
					return err
				}
			}
		}
	}
	var left []int
	if eventually(stall, func() bool {
		left = slices.DeleteFunc(processesOf(data), func(pid int) bool { return !isGuardian(pid) })
		return len(left) == 0
	}) {
		return nil
	}
	return fmt.Errorf("%d guardians of turns that have ended are left; %v", len(left), h.run("state", "--agent", agents[0]))
}

// halt stops a process while it has no lock, without which it would stop others
// too: a process with a lock goes on for a moment.
func halt(pid int) {
	for range 1000 {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		eventually(time.Minute, func() bool { return !anyOf(pid, "task/*/stat", runs) })
		if !anyOf(pid, "fdinfo/*", locks) {
			return
		}
		_ = syscall.Kill(pid, syscall.SIGCONT)
		time.Sleep(5 * time.Millisecond) // for it to release the lock
	}
}

// anyOf reports whether the kernel says so in any file of a process: a thread that is about to stop
// may take a lock still, and of a long list of all locks some can be missed.
func anyOf(pid int, pattern string, is func(text []byte) bool) bool {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/%s", pid, pattern))
	return slices.ContainsFunc(paths, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && is(text)
	})
}

func runs(stat []byte) bool {
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.ContainsAny(state[:min(1, len(state))], "TZX")
}
func locks(fdinfo []byte) bool { return bytes.Contains(fdinfo, []byte("\nlock:")) }
