//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// endedRooms ends rooms under those who wait in them for the turn, and under
// those who wait for their lock.
func endedRooms(g *rig, r *report) {
	for n := range g.pick(6, 100) {
		r.add(1, 0, 0)
		if err := g.endUnderWaiters(r, n%2 == 1); err != nil {
			r.wrong("a room ends under three waiters: %v", err)
		}
	}
	r.tellLate()
	if _, err := exec.LookPath("strace"); err != nil {
		r.skip("there is no strace")
		return
	}
	for range g.pick(6, 100) {
		r.add(1, 0, 0)
		if err := g.endUnderQueue(r); err != nil {
			r.wrong("a room ends under three who wait for its lock: %v", err)
		}
	}
}

// endUnderWaiters removes three who wait and leaves, and perhaps begins a new life
// at once. The three are told that theirs has ended.
func (g *rig) endUnderWaiters(r *report, again bool) error {
	data := g.newDir()
	defer g.remove(data)
	if err := g.ok(data, "try", "--agent", "h:0"); err != nil {
		return err
	}
	var waiters []*waiter
	for _, agent := range agents {
		w, err := g.startWait(data, nil, agent)
		if err != nil {
			return err
		}
		defer w.kill()
		waiters = append(waiters, w)
	}
	for _, agent := range agents {
		if err := g.ok(data, "kick", agent, "--force", "--agent", "h:0"); err != nil {
			return err
		}
	}
	if err := g.ok(data, "leave", "--agent", "h:0"); err != nil {
		return err
	}
	if again {
		if err := g.ok(data, "join", "--agent", "d:4"); err != nil {
			return err
		}
	}
	since := time.Now()
	for _, w := range waiters {
		late, err := w.told(since)
		if err != nil || w.exit == -1 {
			return fmt.Errorf("told %v, %v", w.result, err)
		}
		r.wereTold(late)
		if strings.Contains(w.stdout, `"`+turn.YourTurn+`"`) {
			return fmt.Errorf("who was removed has a turn: %v", w.result)
		}
	}
	events, err := g.events(data)
	if err != nil {
		return err
	}
	if err := (acks{}).checkTurns(events); err != nil {
		return err
	}
	return g.mended(data)
}

// endUnderQueue holds the lock in the middle of a leave that ends the room, while
// others wait for it to join, to talk and to have the turn.
func (g *rig) endUnderQueue(r *report) error {
	data := g.newDir()
	defer g.remove(data)
	if err := g.ok(data, "try", "--agent", "h:0"); err != nil {
		return err
	}
	slow := strace("-e", "trace=renameat", "-e", "inject=renameat:delay_enter=100ms", "-o", "/dev/null")
	leave, err := g.startWaiter(data, slow, "leave", "--agent", "h:0")
	if err != nil {
		return err
	}
	defer leave.kill()
	sometime(g.random(), 150*time.Millisecond)
	var queue []*waiter
	for _, args := range [][]string{
		{"join", "--agent", "a:1"}, {"msg", "send", "room", "in the queue", "--agent", "h:0"}, {"try", "--agent", "b:2"},
	} {
		w, err := g.startWaiter(data, nil, args...)
		if err != nil {
			return err
		}
		defer w.kill()
		queue = append(queue, w)
	}
	for _, w := range append(queue, leave) {
		if _, err := w.told(time.Now()); err != nil {
			return err
		}
	}
	join, send, try := queue[0], queue[1], queue[2]
	var a acks
	if a.joined = []string{"h:0", "a:1", "b:2"}; join.exit != 0 || try.exit != 0 || leave.exit != 0 {
		return fmt.Errorf("join: %v; try: %v; leave: %v", join.result, try.result, leave.result)
	}
	switch {
	case send.exit == 0:
		a.said = []string{"in the queue"}
	case !strings.Contains(send.stderr, `"not_joined"`) && !strings.Contains(send.stderr, `"room_not_found"`):
		return fmt.Errorf("msg send: %v", send.result)
	}
	if !r.judgeAll(g, data, a) {
		return fmt.Errorf("see above")
	}
	r.add(0, 0, a.count())
	return nil
}
