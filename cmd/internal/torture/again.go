//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sweepRecoveries kills each command, and then kills the command that finds what
// is left, or lets it fail, at each of its calls.
func sweepRecoveries(g *rig, r *report) {
	if !haveStrace() {
		r.skip("there is no strace")
		return
	}
	random, calls := g.random(), changing
	stages := slices.Clone(g.stages())
	random.Shuffle(len(stages), func(i, j int) { stages[i], stages[j] = stages[j], stages[i] })
	if g.long {
		calls += opening
	}
	var pairs []func()
	for _, st := range stages[:g.pick(6, len(stages))] {
		for _, left := range g.leftovers(r, st) {
			pairs = append(pairs, g.recoveries(r, left, calls)...)
		}
	}
	r.tell("%d pairs of a call and the next command's call", len(pairs))
	r.inParallel(g.sample(pairs, 400, 4000))
}

// recoveries are the runs of the command that finds the leftovers.
func (g *rig) recoveries(r *report, left *stage, calls string) (runs []func()) {
	killed, points, err := g.trial(r, left, calls, "signal=SIGKILL")
	if err != nil {
		r.wrong("%v", err)
		return nil
	}
	failing := *killed
	failing.fault = "error=EIO"
	for _, p := range points {
		runs = append(runs, func() { killed.at(p) }, func() { failing.at(p) })
	}
	return runs
}

// leftovers are the different data directories that the command of a stage may
// leave when it is killed, each with the command that comes next.
func (g *rig) leftovers(r *report, st *stage) (all []*stage) {
	t, points, err := g.trial(r, st, changing, "signal=SIGKILL")
	if err != nil {
		r.wrong("%v", err)
		return nil
	}
	seen := map[string]bool{}
	keep := func(data, how string) {
		if print := shape(data); !seen[print] {
			seen[print] = true
			all = append(all, g.leftover(st, data, how))
		}
	}
	for _, p := range points {
		r.reach(fmt.Sprintf("%s, killed at %v", st.name, p), func() bool {
			data, err := t.killedAt(p)
			if err == errPassed {
				return false
			}
			if err != nil {
				r.wrong("%s: %v", st.name, err)
				return true
			}
			r.add(0, 1, 0)
			keep(data, p.String())
			if half := g.newDir(); p.call == "fdatasync" && g.halveLastLine(data, half, len(st.before)) {
				keep(half, "half a line")
			}
			return true
		})
	}
	return all
}

// killedAt runs the command, killed at a point, and returns what it leaves;
// errPassed if it did not come to the point.
func (t *trial) killedAt(p point) (string, error) {
	data := t.newDir()
	if err := t.copyTo(data); err != nil {
		return "", err
	}
	_, trace := t.traced(data, t.fault.at(p))
	t.reap(data)
	if !t.fault.struck(trace) {
		return "", errPassed
	}
	return data, nil
}

func (g *rig) leftover(st *stage, data, how string) *stage {
	next := &stage{scene: st.scene, data: data, args: []string{"join", "--agent", "z:9", "--json"}, before: st.before}
	if st.repair {
		next.args = st.args
	} else {
		next.before, next.err = g.events(data)
	}
	next.name = "after " + st.name + " killed at " + how
	return next
}

var digits = regexp.MustCompile(`[0-9]+$`)

// shape is the names and sizes of the files.
func shape(data string) string {
	var b strings.Builder
	_ = filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if name := digits.ReplaceAllString(strings.TrimPrefix(path, data), ""); d.IsDir() {
			fmt.Fprintln(&b, name)
		} else if info, err := d.Info(); err == nil {
			fmt.Fprintln(&b, name, info.Size())
		}
		return nil
	})
	return b.String()
}

// halveLastLine makes a copy in which the journal's last line is half there, as
// when the kernel was at it. It reports false unless the line came on top of the
// events before.
func (g *rig) halveLastLine(data, to string, before int) bool {
	if now, err := g.events(data); err != nil || len(now) == before || copyDir(data, to) != nil {
		return false
	}
	room, err := g.room(to)
	if err != nil {
		return false
	}
	b, err := os.ReadFile(room.JournalPath())
	if err != nil {
		return false
	}
	start := strings.LastIndexByte(strings.TrimSuffix(string(b), "\n"), '\n') + 1
	return os.Truncate(room.JournalPath(), int64(start+(len(b)-start)/2)) == nil
}
