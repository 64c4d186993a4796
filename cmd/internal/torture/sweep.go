//go:build linux

package torture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A fixture is a command, and the data directory that it runs in, which is copied for each run.
type fixture struct {
	setup   []string // commands, one per line, that make the room
	command string
	data    string
	before  []event.Event // one that is damaged has no id
	err     error
}

// repair is the command whose room is damaged in the middle.
const repair = "doctor --repair"

// allFixtures has every command that changes a room.
func (e *env) allFixtures() (all []*fixture) {
	const handoff = " --status done --next-action go-on"
	members := []string{"join --agent a:1", "join --agent b:2", "join --agent c:3"}
	owned := slices.Concat(members, []string{"try --agent a:1"})
	given := slices.Concat(owned, []string{"assign b:2 --agent a:1" + handoff})
	told := slices.Concat(owned, []string{"msg send b:2 hello --agent a:1", "ask b:2 which --agent a:1"})
	for _, of := range []struct {
		setup    []string
		commands []string
	}{
		{nil, []string{"join --agent a:1", "wait --timeout 1s --agent a:1"}},
		{members[:1], []string{"leave --agent a:1"}},
		{[]string{"join --agent a:1", "leave --agent a:1"}, []string{"join --agent a:1"}},
		{members, []string{"join --agent d:4", "wait --timeout 1s --agent a:1"}},
		{owned, []string{
			"release --agent a:1" + handoff, "assign b:2 --agent a:1" + handoff, "take --reason stuck --operator-requested --agent c:3",
			"leave --agent b:2", "leave --agent a:1", "close --reason done --agent a:1", "kick c:3 --force --agent a:1",
			"msg send room hello --agent b:2", "ask b:2 which --agent a:1", "notes add remember --agent a:1", "policy --claim-ttl 5m", repair}},
		{given, []string{"try --agent b:2", "close --reason done --agent human:ann"}},
		{told, []string{"msg recv --agent b:2", "inbox --agent b:2"}},
	} {
		for _, command := range of.commands {
			f := &fixture{setup: of.setup, command: command, data: e.newDir()}
			if f.err = e.on(f.data).ok(f.setup...); f.err == nil {
				reap(f.data)
				f.before = events(f.data)
				f.err = f.leaveTraces()
			}
			all = append(all, f)
		}
	}
	return all
}

// leaveTraces leaves in the room what a killed command may leave: a torn tail and
// a temporary file. A room that is to be repaired is damaged.
func (f *fixture) leaveTraces() (err error) {
	found, _ := filepath.Glob(filepath.Join(f.data, "rooms", "*", "journal.jsonl"))
	for _, journal := range found {
		b, _ := os.ReadFile(journal)
		if b = append(b, `{"event_seq":`...); f.command == repair {
			const damaged = 2
			b = bytes.Replace(b, []byte(f.before[damaged].ID), []byte(`"`), 1)
			f.before[damaged].ID = ""
		}
		err = errors.Join(err, os.WriteFile(journal, b, 0o600), os.WriteFile(filepath.Join(filepath.Dir(journal), "tmp", "left"), nil, 0o600))
	}
	return err
}

// changing are the system calls that change files, but for write, by which Go also wakes its threads.
const changing = "fsync,fdatasync,renameat,renameat2,ftruncate,mkdirat,unlinkat,fchmod,fchmodat,linkat,utimensat"

// sweepKills kills each command at each of the calls of its threads that change files.
func sweepKills(e *env, r *report) { e.sweep(r, 500, changing+",write", "signal=KILL") }

// sweepErrors makes each of these calls fail.
func sweepErrors(e *env, r *report) {
	for _, errno := range []string{"EIO", "ENOSPC", "EROFS"} {
		e.sweep(r, 120, changing, "error="+errno)
	}
}

// sweep causes a fault at the first, the second and each later of the calls of each command, until it comes to no such
// call; in a short run at some of them, at random.
func (e *env) sweep(r *report, some int, calls, fault string) {
	const most = 12 // which no thread of a command reaches
	var runs []func()
	for _, f := range e.fixtures() {
		if !r.check(f.command, f.err) {
			continue
		}
		for n := range most {
			runs = append(runs, func() {
				inject := fmt.Sprintf("inject=%s:%s:when=%d", calls, fault, n+1)
				r.check(f.command+", "+inject, e.disturb(r, f, calls, inject))
			})
		}
	}
	e.random().Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	places := make(chan struct{}, 3) // of those that run at once
	var all sync.WaitGroup
	for _, run := range runs[:min(len(runs), e.pick(some, len(runs)))] {
		places <- struct{}{}
		all.Go(func() { run(); <-places })
	}
	all.Wait()
}

// disturb runs the command with the fault at one call of a thread, under strace, which detaches from what the command
// starts, and judges what is left. The data directory is copied with its times, as a backup does.
func (e *env) disturb(r *report, f *fixture, calls, inject string) error {
	dir := e.newDir()
	data, trace := filepath.Join(dir, "data"), filepath.Join(dir, "trace")
	defer remove(dir)
	err := os.Mkdir(dir, 0o700)
	if f.setup != nil {
		err = errors.Join(err, command("cp", "-a", f.data, data))
	}
	if err != nil {
		return err
	}
	h := e.on(data)
	line := []string{"strace", "-f", "-qq", "-b", "execve", "-y", "-e", "trace=" + calls, "-o", trace, "-e", inject}
	p := h.process(append(line, h.command(strings.Fields(f.command)...).Args...)...).run()
	if made, _ := os.ReadFile(trace); p.exit != -1 && !bytes.Contains(made, []byte("(INJECTED)")) {
		r.count("without the fault", 1)
	}
	r.count("points", 1)
	if what := map[int]string{-1: "kills", 0: "acknowledged"}[p.exit]; what != "" {
		r.count(what, 1)
	}
	if f.command == repair { // whatever the first came to, the next one succeeds
		err = h.ok(repair)
	}
	if err != nil {
		return err
	}
	now, err := e.mended(data)
	if err == nil {
		err = f.judge(now, p)
	}
	if err != nil {
		err = fmt.Errorf("%w\n    %v", err, p)
	}
	return err
}

// judge: what was there before is there still, and the command reports success exactly if the change happened, or says
// that it may have happened. It may have been killed before it reported anything.
func (f *fixture) judge(now []event.Event, p *process) error {
	same := func(a, b event.Event) bool {
		return a.ID == "" || a.ID == b.ID && a.Seq == b.Seq && string(a.Payload) == string(b.Payload)
	}
	if n := len(f.before); len(now) < n || !slices.EqualFunc(f.before, now[:n], same) {
		return fmt.Errorf("events that were there are gone: %d, now %d", n, len(now))
	}
	verb, _, _ := strings.Cut(f.command, " ")
	happened := slices.ContainsFunc(now[len(f.before):], func(e event.Event) bool {
		return e.From != fresh && (verb != "wait" || e.Type == turn.Claim) // which may join, and then fail to get the turn
	})
	switch {
	case p.exit < 0, slices.Contains([]string{"msg", "inbox", "ask", "doctor"}, verb) && !strings.HasPrefix(f.command, "msg send"):
		return nil // reads, and moves its cursor; the question is in a topic; the repair was made again
	case p.exit == 0 && !happened:
		return errors.New("acknowledged, but not in the journal")
	case p.exit > 0 && happened:
		for _, text := range []string{"in_doubt", "guardian_failed", "what the command did stands"} {
			if strings.Contains(p.out.String()+p.err.String(), text) {
				return nil
			}
		}
		return errors.New("it happened, but the command failed")
	}
	return nil
}
