//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

// mutants are builds that are wrong on purpose. Each must be caught, or the
// attacks above prove nothing.
func mutants(g *rig, r *report) {
	g.mutant(r, "torture_nojournalsync", g.caughtByCut(ext4))
	g.mutant(r, "torture_nostatesync", g.caughtByCut(ext4.with("noauto_da_alloc")))
	g.mutant(r, "torture_noreplay", caughtBySweep)
	g.mutant(r, "torture_norings", caughtByWaiting)
}

func (g *rig) mutant(r *report, tag string, caught func(g *rig, r *report, tag string) bool) {
	tt, err := g.build("torture," + tag)
	if err != nil {
		r.wrong("%v", err)
		return
	}
	m := &rig{base: g.newDir(), workspace: g.workspace, tt: tt, seed: g.seed}
	if err := os.Mkdir(m.base, 0o755); err != nil {
		r.wrong("%v", err)
		return
	}
	if !caught(m, r, tag) {
		r.wrong("%s was not caught", tag)
	}
}

const mostCuts = 20

func (g *rig) caughtByCut(kind fileSystem) func(*rig, *report, string) bool {
	return func(m *rig, r *report, tag string) bool {
		if why := canMount(); why != "" {
			r.skip(tag + ": " + why)
			return true
		}
		from, err := g.newDisk(g.tt, kind)
		if err != nil {
			r.wrong("%v", err)
			return true
		}
		for n := range mostCuts {
			acked, err := m.powerCut(m.tt, from, inTheMidst)
			r.add(1, 0, acked)
			var found finding
			if err != nil && !errors.As(err, &found) {
				r.wrong("%s: %v", tag, err)
				return true
			}
			if err != nil {
				r.tell("%s caught by power cut %d: %v", tag, n+1, err)
				return true
			}
		}
		return false
	}
}

// caughtBySweep kills the build at each call of one command, in a room that is in
// order when it begins.
func caughtBySweep(m *rig, r *report, tag string) bool {
	if _, err := exec.LookPath("strace"); err != nil {
		r.skip(tag + ": there is no strace")
		return true
	}
	found := &report{name: tag, quiet: true}
	s := scene{name: "msg send", before: []string{"join --agent b:2"}, args: "msg send room hello --agent b:2", orderly: true}
	t, points, err := m.prepare(found, s, changing+",openat,flock", "signal=SIGKILL")
	if err != nil {
		r.wrong("%s: %v", tag, err)
		return true
	}
	for _, p := range points {
		t.at(p)
	}
	r.add(found.points, found.kills, 0)
	r.tell("%s caught at %d of %d kill points", tag, found.bad, found.points)
	return found.bad > 0
}

// caughtByWaiting hands a turn to one who waits, and sees it sleep on.
func caughtByWaiting(m *rig, r *report, tag string) bool {
	found := &report{name: tag, quiet: true}
	y, err := m.newRelay(found)
	if err == nil {
		err = y.round(nil, nothing, nothing)
	}
	r.add(1, 0, 0)
	if err != nil {
		r.wrong("%s: %v", tag, err)
		return true
	}
	late := found.late[0]
	r.tell("%s caught by a wait that was told after %v", tag, late.Round(time.Millisecond))
	return late > atLatest
}
