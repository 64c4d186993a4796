//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// firstCommands starts many commands at once where there is no data directory yet.
// All of them end up in one room.
func firstCommands(g *rig, r *report) {
	for n := range g.pick(10, 200) {
		err := g.firstCommand(r, n)
		r.add(1, 0, 0)
		if err != nil {
			r.wrong("%v", err)
		}
	}
}

func (g *rig) firstCommand(r *report, n int) error {
	home := g.newDir()
	data := filepath.Join(home, "share", "data") // whose parents are not there either
	defer g.remove(home)
	defer g.reap(data)
	var waiters []*waiter
	for i := range 20 {
		agent := fmt.Sprintf("f:%d", i)
		args := [][]string{{"join", "--agent", agent}, {"try", "--agent", agent}, {"wait", "--timeout", "10ms", "--agent", agent},
			{"state", "--agent", agent}, {"msg", "send", "room", "early", "--agent", agent}}[(i+n)%5]
		w, err := g.startWaiter(data, nil, args...)
		if err != nil {
			return err
		}
		defer w.kill()
		waiters = append(waiters, w)
	}
	var a acks
	for i, w := range waiters {
		<-w.over
		switch command := w.cmd.Args[1]; {
		case w.exit == 0 && command != "state":
			a.joined = append(a.joined, fmt.Sprintf("f:%d", i))
		case w.exit == 0:
		case (command == "state" || command == "msg") && (strings.Contains(w.stderr, `"room_not_found"`) || strings.Contains(w.stderr, `"not_joined"`)):
		default:
			return fmt.Errorf("tt %v: %v", w.cmd.Args[1:], w.result)
		}
	}
	rooms, err := os.ReadDir(filepath.Join(data, "rooms"))
	if err != nil || len(rooms) != 1 || len(a.joined) != 12 {
		return fmt.Errorf("%d rooms, %d members, %v", len(rooms), len(a.joined), err)
	}
	r.add(0, 0, len(a.joined))
	if !r.judgeAll(g, data, a) {
		return fmt.Errorf("see above")
	}
	return nil
}
