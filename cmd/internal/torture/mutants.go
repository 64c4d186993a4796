//go:build linux

package torture

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
	needs  []string
	edits  []edit
	caught func(m *env, r *report) (how string, err error) // m has the build; how is "" if it was not caught
}

func (e *env) mutants() []mutant {
	strace, disks := []string{"strace"}, []string{"mount", "mkfs.ext4"}
	return []mutant{
		{"no sync of the journal", disks, []edit{
			{"journal/sync_linux.go", "err := unix.Fdatasync(int(f.Fd()))", "var err error"},
		}, e.caughtByCut(ext4)},
		{"no sync of state.json", disks, []edit{
			{"lockfile/replace_unix.go", "err = file.CloseAtomicallyReplace()", "err = file.File.Close()\n\t\tif err == nil {\n\t\t\terr = os.Rename(file.Name(), path)\n\t\t}"},
			{"lockfile/replace_unix.go", "\"errors\"\n", "\"errors\"\n\t\"os\"\n"},
		}, e.caughtByCut(ext4.with("noauto_da_alloc"))},
		{"no sync of directories", strace, []edit{
			{"lockfile/files_unix.go", "err = f.Sync()", "err = nil"},
		}, caughtByNames},
		{"no replay", strace, []edit{
			{"fsroom/load.go", "cached.covers(info)", "true"},
		}, caughtBySweep},
		{"nobody is woken", nil, []edit{
			{"fsroom/wake_file.go", "if r.rules.Notify != nil {\n\t\tfor", "if false {\n\t\tfor"},
		}, caughtByWaiting(nil)},
		{"a woken waiter looks at once", strace, []edit{
			{"lockfile/lock.go", "unlock, err := locker{path: path, open: openShared}", "return nil\n\tunlock, err := locker{path: path, open: openShared}"},
		}, caughtByWaiting(slowAppend)}, // the waiter is woken half a second before the event is written
	}
}

func mutants(e *env, r *report) {
	for _, mu := range e.mutants() {
		if why := missing(mu.needs...); why != "" {
			r.skip(mu.name + ": " + why)
		} else {
			r.check(mu.name, e.mutant(r, mu))
		}
	}
}

func (e *env) mutant(r *report, mu mutant) error {
	m := &env{base: e.newDir(), workspace: e.workspace, seed: e.seed}
	if err := os.Mkdir(m.base, 0o755); err != nil {
		return err
	}
	var err error
	if m.tt, err = m.build("tt", mu.edits...); err != nil {
		return err
	}
	how, err := mu.caught(m, r)
	if err == nil && how == "" {
		err = errors.New("not caught")
	}
	if err == nil {
		r.say("%s: caught by %s", mu.name, how)
	}
	return err
}

const mostCuts = 20

func (e *env) caughtByCut(kind fileSystem) func(*env, *report) (string, error) {
	return func(m *env, r *report) (string, error) {
		from, err := e.newDisk(kind, members...)
		if err != nil {
			return "", err
		}
		for n := range mostCuts {
			err := m.powerCut(r, from, inTheMidst)
			var found finding
			if errors.As(err, &found) {
				return fmt.Sprintf("power cut %d: %v", n+1, found), nil
			}
			if err != nil {
				return "", err
			}
		}
		return "", nil
	}
}

// caughtBySweep kills the build at each call of one command, in a room that is in
// order when it begins.
func caughtBySweep(m *env, r *report) (string, error) {
	found := &report{quiet: true}
	c := sweepCase{name: "msg send", setup: members[1:2], args: "msg send room hello --agent b:2", clean: true}
	s := &sweeper{env: m, fixture: m.fixture(c), report: found, fault: "signal=SIGKILL"}
	points, err := s.count(changing + opening)
	for _, p := range points {
		s.at(p)
	}
	r.add(found.points, found.kills, 0)
	if found.bad == 0 {
		return "", err
	}
	return fmt.Sprintf("%d of %d kill points", found.bad, found.points), err
}

// caughtByNames checks whether the names of a new room are put on the disk.
func caughtByNames(m *env, r *report) (string, error) {
	for _, c := range nameCases() {
		r.add(1, 0, 0)
		if err := m.names(c); err != nil {
			return err.Error(), nil
		}
	}
	return "", nil
}

// caughtByWaiting hands a turn to a waiter, which does not return in time.
func caughtByWaiting(slow func(*handover) []string) func(*env, *report) (string, error) {
	return func(m *env, r *report) (string, error) {
		r.add(1, 0, 0)
		found := &report{quiet: true}
		h, err := m.newHandover(found)
		if err != nil {
			return "", err
		}
		defer m.remove(h.data)
		if err := h.run(waitCase{slow: slow}); err != nil {
			return err.Error(), nil
		}
		if late := found.late[0]; late > atLatest {
			return fmt.Sprintf("a wait that returned after %v", late.Round(time.Millisecond)), nil
		}
		return "", nil
	}
}
