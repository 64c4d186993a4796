//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// A mutant is a build that is wrong on purpose. It must be caught, or the attacks
// prove nothing.
type mutant struct {
	name   string
	edits  []edit
	caught func(g, m *rig, r *report, name string) bool // m has the build
}

func mutantsAll() []mutant {
	return []mutant{
		{"no sync of the journal", []edit{
			{"journal/sync_linux.go", "err := unix.Fdatasync(int(f.Fd()))", "var err error"},
		}, caughtByCut(ext4)},
		{"no sync of state.json", []edit{
			{"lockfile/replace_unix.go", "err = file.CloseAtomicallyReplace()", "err = file.File.Close()\n\t\tif err == nil {\n\t\t\terr = os.Rename(file.Name(), path)\n\t\t}"},
			{"lockfile/replace_unix.go", "\"errors\"\n", "\"errors\"\n\t\"os\"\n"},
		}, caughtByCut(ext4.with("noauto_da_alloc"))},
		{"no sync of directories", []edit{
			{"lockfile/files_unix.go", "err = f.Sync()", "err = nil"},
		}, caughtByNames},
		{"no replay", []edit{
			{"fsroom/load.go", "cached.covers(info)", "true"},
		}, caughtBySweep},
		{"nobody is woken", []edit{
			{"fsroom/wake_file.go", "if r.rules.Notify == nil {\n\t\treturn\n", "if true {\n\t\treturn\n"},
		}, caughtByWaiting},
		{"who is woken looks at once", []edit{
			{"lockfile/lock.go", "unlock, err := locker{path: path, open: openShared}", "return nil\n\tunlock, err := locker{path: path, open: openShared}"},
		}, caughtBySlowWaiting},
	}
}

func mutants(g *rig, r *report) {
	for _, mu := range mutantsAll() {
		if err := g.mutant(r, mu); err != nil {
			r.wrong("%s: %v", mu.name, err)
		}
	}
}

func (g *rig) mutant(r *report, mu mutant) error {
	m := &rig{base: g.newDir(), workspace: g.workspace, seed: g.seed}
	if err := os.Mkdir(m.base, 0o755); err != nil {
		return err
	}
	var err error
	if m.tt, err = m.build("tt", mu.edits...); err != nil {
		return err
	}
	if !mu.caught(g, m, r, mu.name) {
		return errors.New("not caught")
	}
	return nil
}

const mostCuts = 20

func caughtByCut(kind fileSystem) func(g, m *rig, r *report, name string) bool {
	return func(g, m *rig, r *report, name string) bool {
		if why := canMount(); why != "" {
			r.skip(name + ": " + why)
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
				r.wrong("%s: %v", name, err)
				return true
			}
			if err != nil {
				r.tell("%s: caught by power cut %d: %v", name, n+1, err)
				return true
			}
		}
		return false
	}
}

// caughtBySweep kills the build at each call of one command, in a room that is in
// order when it begins.
func caughtBySweep(_, m *rig, r *report, name string) bool {
	if !haveStrace() {
		r.skip(name + ": there is no strace")
		return true
	}
	found := &report{name: name, quiet: true}
	s := scene{name: "msg send", before: []string{"join --agent b:2"}, args: "msg send room hello --agent b:2", orderly: true}
	t, points, err := m.prepare(found, s, changing+",openat,flock", "signal=SIGKILL")
	if err != nil {
		r.wrong("%s: %v", name, err)
		return true
	}
	for _, p := range points {
		t.at(p)
	}
	r.add(found.points, found.kills, 0)
	r.tell("%s: caught at %d of %d kill points", name, found.bad, found.points)
	return found.bad > 0
}

// caughtByWaiting hands a turn to one who waits, and sees it sleep on.
func caughtByWaiting(_, m *rig, r *report, name string) bool { return m.sleepsOn(r, name, nil) }

// caughtBySlowWaiting does so with half a second before the event is written: the
// waiter is woken before that, and must find it all the same.
func caughtBySlowWaiting(_, m *rig, r *report, name string) bool {
	if !haveStrace() {
		r.skip(name + ": there is no strace")
		return true
	}
	return m.sleepsOn(r, name, slowAppend)
}

func (g *rig) sleepsOn(r *report, name string, slow func(*relay) []string) bool {
	found := &report{name: name, quiet: true}
	y, err := g.newRelay(found)
	if err == nil {
		err = y.run(waitCase{slow: slow})
	}
	r.add(1, 0, 0)
	if err != nil {
		r.tell("%s: caught: %v", name, err)
		return true
	}
	late := found.late[0]
	r.tell("%s: a wait was told after %v", name, late.Round(time.Millisecond))
	return late > atLatest
}

// caughtByNames looks whether the names of a new room are put on the disk.
func caughtByNames(_, m *rig, r *report, name string) bool {
	if !haveStrace() {
		r.skip(name + ": there is no strace")
		return true
	}
	for _, c := range nameCases() {
		r.add(1, 0, 0)
		if err := m.names(c); err != nil {
			r.tell("%s: caught: %v", name, fmt.Sprint(err))
			return true
		}
	}
	return false
}
