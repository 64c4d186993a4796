//go:build linux

package torture

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
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
	attack  func(*env, *report) // that catches it
	from    int                 // the smallest size that has it
}

func mutants() []mutant {
	strace, disks := []string{"strace"}, []string{"mount", "mkfs.ext4"}
	return []mutant{
		{"no sync of the journal", disks, "cmd/tt", []edit{
			{File: "journal/sync_linux.go", Old: "err := unix.Fdatasync(int(f.Fd()))", New: "var err error\n\t\tif !(MUTANT) {\n\t\t\terr = unix.Fdatasync(int(f.Fd()))\n\t\t}"},
		}, cuts(ext4), short},
		{"no sync of state.json", disks, "cmd/tt", []edit{
			{File: "lockfile/replace_unix.go", Old: "err = file.CloseAtomicallyReplace()", New: "if !(MUTANT) {\n\t\t\terr = file.CloseAtomicallyReplace()\n\t\t} else if err = file.File.Close(); err == nil {\n\t\t\terr = os.Rename(file.Name(), path)\n\t\t}"},
			{File: "lockfile/replace.go", Old: "err = sync(f)", New: "if !(MUTANT) {\n\t\t\terr = sync(f)\n\t\t}"},
		}, cuts(ext4.with("noauto_da_alloc")), short},
		{"no sync of directories", strace, "cmd/tt", []edit{
			{File: "lockfile/files_unix.go", Old: "err = f.Sync()", New: "if !(MUTANT) {\n\t\terr = f.Sync()\n\t}"},
		}, syncedNames, short},
		{"no replay", strace, "cmd/tt", []edit{
			{File: "fsroom/load.go", Old: "cached.covers(info)", New: "(MUTANT || cached.covers(info))"},
		}, killedSends, short},
		{"nobody is woken", nil, "cmd/tt", []edit{
			{File: "fsroom/wake_file.go", Old: "if r.rules.Notify != nil {\n\t\tfor", New: "if !(MUTANT) && r.rules.Notify != nil {\n\t\tfor"},
		}, promptTurns, short},
		{"a woken waiter looks at once", nil, "cmd/tt", []edit{ // it is woken half a second before the event is written
			{File: "fsroom/wake_file.go", Old: "Notify() // other hosts hear of the change itself\n\t\t}\n", New: "Notify()\n\t\t}\n\t\tif MUTANT {\n\t\t\ttime.Sleep(time.Second / 2)\n\t\t}\n"},
			{File: "lockfile/lock.go", Old: "unlock, err := locker{path: path, open: openShared, Wait: w}", New: "if MUTANT {\n\t\treturn nil\n\t}\n\tunlock, err := locker{path: path, open: openShared, Wait: w}"},
		}, promptTurns, short},
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
		{"the server acknowledges what is not on its disk", nil, "cmd/tt-natsd", unsynced, cutsOf(1), short},
		{"three servers acknowledge what is not on their disks", nil, "cmd/tt-natsd", unsynced, cutsOf(3), normal},
		{"a change is appended whatever came before it", nil, "cmd/tt-nats", []edit{
			{File: appends, Old: "		m.Header.Set(headerExpected, strconv.FormatUint(uint64(after), 10))\n		if entry.Note", New: "		if entry.Note"},
		}, plan{servers: 1, hosts: 4, agents: 6, talk: true, enough: 500}.try, short},
		{"a change without an answer counts as refused", nil, "cmd/tt-nats", []edit{
			{File: appends, Old: "sent = sent || !unsent; !sent && (", New: "sent = false; !sent && (err != nil || unsent || "},
		}, plan{servers: 1, hosts: 4, agents: 6, talk: true, enough: 7, disks: true, faults: slices.Repeat([]failure{
			{"the server's disk is frozen", ofLeader(freeze), 2 * time.Second}, // a little longer than a request takes
		}, 10)}.try, normal},
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
		atOnce(2, len(runs), func(i int) { runs[i]() })
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
	tried := &report{quiet: true}
	mu.attack(m, tried)
	for what, n := range tried.counts {
		r.count(what, n)
	}
	if tried.bad == 0 {
		return cmp.Or(tried.failed, errors.New("not caught"))
	}
	r.say("%s: caught by %s", mu.name, tried.first)
	return nil
}

// cuts cuts the power under processes that talk, until something is wrong.
func cuts(kind fileSystem) func(*env, *report) {
	return func(e *env, r *report) {
		from, err := e.newDisk(kind, members...)
		for n := 1; r.able(kind.name, err) && n <= 20 && r.bad == 0 && r.failed == nil; n++ {
			e.powerCut(r, fmt.Sprint("power cut ", n), from, inTheMidst)
		}
	}
}

// killedSends kills one command at each of its calls, in a room that is in order when it begins.
func killedSends(e *env, r *report) {
	f := &fixture{name: "msg send", setup: members[1:2], command: "msg send room hello --agent b:2", clean: true}
	s := &sweeper{env: e, fixture: e.set(f), report: r, fault: kills}
	for _, p := range s.count() {
		s.at(p)
	}
}

// promptTurns has turns of two agents, each of which must be woken by the other alone.
func promptTurns(e *env, r *report) {
	l := e.newLoad(r, e.newDir(), plan{halts: true})
	defer remove(l.data)
	if !r.able("setting up", e.on(l.data).ok(members[:2]...)) {
		return
	}
	l.each(2, (*agent).takeTurn)
	l.until(longest, func(a *acks) bool { return len(a.ends) >= 4 })
	l.finish()
	r.add(1, 0, l.acks.count())
	events, err := e.events(l.data)
	r.check("the journal", err)
	for _, late := range l.acks.lateness(events) {
		if late.took > atLatest {
			r.wrong("one was woken %v late", late.took.Round(time.Millisecond))
		}
	}
}
