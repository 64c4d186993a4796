//go:build linux

package torture

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// A mutant is a program that is wrong on purpose. It must be caught, or the attacks
// prove nothing. All that are tt are one build: each has MUTANT where its edits are to work, which is
// true where mutantVariable has its name.
type mutant struct {
	name    string
	needs   []string
	program string
	edits   []edit
	caught  func(m *env, r *report) (how string, err error) // m has the build; how is "" if it was not caught
	from    size
}

func mutants() []mutant {
	strace, disks := []string{"strace"}, []string{"mount", "mkfs.ext4"}
	return []mutant{
		{"no sync of the journal", disks, "cmd/tt", []edit{
			{File: "journal/sync_linux.go", Old: "err := unix.Fdatasync(int(f.Fd()))", New: "var err error\n\t\tif !(MUTANT) {\n\t\t\terr = unix.Fdatasync(int(f.Fd()))\n\t\t}"},
		}, caughtByCut(ext4), short},
		{"no sync of state.json", disks, "cmd/tt", []edit{
			{File: "lockfile/replace_unix.go", Old: "err = file.CloseAtomicallyReplace()", New: "if !(MUTANT) {\n\t\t\terr = file.CloseAtomicallyReplace()\n\t\t} else if err = file.File.Close(); err == nil {\n\t\t\terr = os.Rename(file.Name(), path)\n\t\t}"},
			{File: "lockfile/replace_unix.go", Old: "\"errors\"\n", New: "\"errors\"\n\t\"os\"\n"},
		}, caughtByCut(ext4.with("noauto_da_alloc")), short},
		{"no sync of directories", strace, "cmd/tt", []edit{
			{File: "lockfile/files_unix.go", Old: "err = f.Sync()", New: "if !(MUTANT) {\n\t\terr = f.Sync()\n\t}"},
		}, caughtByNames, short},
		{"no replay", strace, "cmd/tt", []edit{
			{File: "fsroom/load.go", Old: "cached.covers(info)", New: "(MUTANT || cached.covers(info))"},
		}, caughtBySweep, short},
		{"nobody is woken", nil, "cmd/tt", []edit{
			{File: "fsroom/wake_file.go", Old: "if r.rules.Notify != nil {\n\t\tfor", New: "if !(MUTANT) && r.rules.Notify != nil {\n\t\tfor"},
		}, caughtByWaiting(nil), short},
		{"a woken waiter looks at once", strace, "cmd/tt", []edit{
			{File: "lockfile/lock.go", Old: "unlock, err := locker{path: path, open: openShared, Wait: w}", New: "if MUTANT {\n\t\treturn nil\n\t}\n\tunlock, err := locker{path: path, open: openShared, Wait: w}"},
		}, caughtByWaiting(slowAppend), short}, // the waiter is woken half a second before the event is written
	}
}

const (
	appends = "cmd/tt-nats/jetstream/append.go"
	server1 = "cmd/tt-natsd/server.go"
)

func mutantsOnHosts() []mutant {
	unsynced := []edit{
		{File: server1, Old: "opts.SyncAlways, opts.NoSigs = true, o.store, true, true", New: "opts.SyncAlways, opts.NoSigs = true, o.store, false, true"},
		{File: server1, Old: "config == nil || !config.SyncAlways", New: "config == nil"},
	}
	return []mutant{
		{"the server acknowledges what is not on its disk", nil, "cmd/tt-natsd", unsynced, caughtBy(cutsOf(1)), short},
		{"three servers acknowledge what is not on their disks", nil, "cmd/tt-natsd", unsynced, caughtBy(cutsOf(3)), normal},
		{"a change is appended whatever came before it", nil, "cmd/tt-nats", []edit{
			{File: appends, Old: "		m.Header.Set(headerExpected, strconv.FormatUint(uint64(after), 10))\n		if entry.Note", New: "		if entry.Note"},
		}, caughtBy(contention), short},
		{"a change without an answer counts as refused", nil, "cmd/tt-nats", []edit{
			{File: appends, Old: "sent = sent || !unsent; !sent && (", New: "sent = false; !sent && (err != nil || unsent || "},
		}, caughtBy(lostAnswers), normal},
	}
}

// tryMutants tries mutants, two at a time: some only wait.
func tryMutants(all []mutant) func(*env, *report) {
	return func(e *env, r *report) {
		var runs []func()
		tt := sync.OnceValues(func() (string, error) { return e.buildMutants(all) })
		for _, mu := range all {
			if mu.from > e.size {
				continue
			}
			if why := missing(mu.needs...); why != "" {
				r.skip(mu.name + ": " + why)
				continue
			}
			runs = append(runs, func() { r.check(mu.name, e.tryMutant(r, mu, tt)) })
		}
		atOnce(2, runs)
	}
}

// mutantVariable has the name of the mutant that tt is.
const mutantVariable = "TT_TORTURE_MUTANT"

// buildMutants builds the tt that is each mutant.
func (e *env) buildMutants(all []mutant) (path string, err error) {
	var edits []edit
	for _, mu := range all {
		if mu.program == "cmd/tt" {
			for _, edit := range mu.edits {
				edit.New = strings.ReplaceAll(edit.New, "MUTANT", fmt.Sprintf("os.Getenv(%q) == %q", mutantVariable, mu.name))
				edits = append(edits, edit)
			}
		}
	}
	o, err := e.other()
	if err == nil {
		err = o.buildTT(edits)
	}
	return o.tt, err
}

func (e *env) tryMutant(r *report, mu mutant, tt func() (string, error)) error {
	m, err := e.other()
	defer os.RemoveAll(m.base)
	if err != nil {
		return err
	}
	switch mu.program {
	case "cmd/tt":
		m.mutant = mu.name
		m.tt, err = tt()
	case "cmd/tt-natsd":
		err = m.build(&m.natsd, mu.program, mu.edits...)
	default:
		err = m.build(&m.tt, mu.program, mu.edits...)
	}
	if err != nil {
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

// caughtBy runs an attack, which must find something wrong.
func caughtBy(attack func(*env, *report)) func(*env, *report) (string, error) {
	return func(m *env, r *report) (string, error) {
		tried := &report{quiet: true}
		attack(m, tried)
		r.mu.Lock()
		r.faults += tried.faults
		r.mu.Unlock()
		return tried.first, nil
	}
}

const mostCuts = 20

func caughtByCut(kind fileSystem) func(*env, *report) (string, error) {
	return func(m *env, r *report) (string, error) {
		from, err := m.newDisk(kind, members...)
		for n := 0; err == nil && n < mostCuts; n++ {
			err = m.powerCut(r, from, inTheMidst)
			var found finding
			if errors.As(err, &found) {
				return fmt.Sprintf("power cut %d: %v", n+1, found), nil
			}
		}
		return "", err
	}
}

// caughtBySweep kills the build at each call of one command, in a room that is in
// order when it begins.
func caughtBySweep(m *env, r *report) (string, error) {
	found := &report{quiet: true}
	c := sweepCase{name: "msg send", setup: members[1:2], args: "msg send room hello --agent b:2", clean: true}
	s := &sweeper{env: m, fixture: m.fixture(c), report: found, fault: kills}
	points, err := s.count()
	for _, p := range points {
		s.at(p)
	}
	r.add(found.points, found.kills, 0)
	return found.first, err
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
		h, err := m.newHandover()
		if err != nil {
			return "", err
		}
		defer remove(h.data)
		late, err := h.run(slow)
		if err != nil {
			return err.Error(), nil
		}
		if late > atLatest {
			return fmt.Sprintf("a wait that returned after %v", late.Round(time.Millisecond)), nil
		}
		return "", nil
	}
}
