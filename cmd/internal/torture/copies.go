//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"strings"
)

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

// copiesPerRoom: to check a copy is to read it, and a room at work grows.
const copiesPerRoom = 50

// hotCopies copies data directories while they are worked in.
func hotCopies(g *rig, r *report) {
	for n := g.pick(100, 1000); n > 0; n -= copiesPerRoom {
		g.copiesOfOne(r, min(n, copiesPerRoom))
	}
}

func (g *rig) copiesOfOne(r *report, n int) {
	l := g.loaded(r)
	if l == nil {
		return
	}
	data := l.data
	defer g.remove(data)
	l.talkers(2)
	l.waiters()
	for range n {
		acked, to := l.acknowledgements(), g.newDir()
		if err := copyHot(data, to); err != nil {
			r.wrong("%v", err)
			continue
		}
		r.judgeAll(g, to, acked)
		r.add(1, 0, 0)
		g.remove(to)
	}
	l.finish()
	r.add(0, 0, l.acks.count())
	if l.failed != "" {
		r.wrong("%s", l.failed)
	}
	r.judgeAll(g, data, l.acks)
}
