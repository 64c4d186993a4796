//go:build linux

package torture

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// randomKills kills and stops processes at random moments while many talk, wait
// and take turns in a room, and readers never see it go back.
func randomKills(e *env, r *report) {
	for range e.pick(2, 1000) {
		r.check("a room", e.randomRound(r))
		if r.counts["kills"] >= 50_000 || r.bad > 0 {
			break
		}
	}
}

// randomRound works in one new room for a time.
func (e *env) randomRound(r *report) error {
	l := e.newLoad(r, e.newDir(), plan{odds: 2})
	defer remove(l.data)
	if err := e.on(l.data).ok(members...); err != nil {
		return err
	}
	l.each(4, (*agent).say)
	l.each(1, (*agent).askQuestion)
	l.each(3, (*agent).takeTurn)
	l.each(1, (*agent).receive)
	l.lanes.Go(func() { l.look(r) })
	l.until(time.Duration(e.pick(9, 30))*time.Second, func(a *acks) bool { return l.killed >= e.pick(600, 4000) && len(a.grants) >= 40 })
	const few = 10
	l.until(stall, func(a *acks) bool { return len(a.grants) >= few })
	l.finish()
	r.add(1, l.killed, l.acks.count())
	r.check("guardians", e.guardiansEnd(l.data))
	r.check("the room", e.judge(l.data, l.acks))
	if len(l.acks.grants) < few {
		r.wrong("%d turns were had", len(l.acks.grants))
	}
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

// askQuestion asks everybody a question, as others talk in the room.
func (a *agent) askQuestion() {
	question := a.text("which")
	a.wrote(question, a.do([]string{"TOPIC_FULL"}, "ask", "room", question))
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
