//go:build linux

package torture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// changing are the system calls that change files, but for write, by which Go also wakes its threads.
const changing = "fsync,fdatasync,renameat,renameat2,ftruncate,mkdirat,unlinkat,fchmod,fchmodat,linkat,utimensat"

// A fault is what strace makes of a call.
type fault struct{ calls, does string }

// sweepKills kills each command at each of the calls of its threads that change files.
func sweepKills(e *env, r *report) { e.sweep(r, 500, fault{changing + ",write", "signal=KILL"}) }

// sweepErrors makes each of these calls fail.
func sweepErrors(e *env, r *report) {
	for _, errno := range []string{"EIO", "ENOSPC", "EROFS"} {
		e.sweep(r, 120, fault{changing, "error=" + errno})
	}
}

// sweep causes a fault at the first, the second and each later call of each command, until it comes to no such
// call; in a short run at some of them, at random.
func (e *env) sweep(r *report, some int, f fault) {
	const most = 12 // which no thread of a command reaches
	var runs []func()
	for _, fix := range e.fixtures() {
		if !r.check(fix.name, fix.err) {
			continue
		}
		for n := range most {
			runs = append(runs, func() { (&sweeper{e, fix, r, f}).at(n + 1) })
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

// A sweeper runs the command of a fixture with one fault.
type sweeper struct {
	*env
	*fixture
	report *report
	fault  fault
}

// at runs the command with the fault at the nth call of a thread, under strace, which detaches from what the command
// starts, and judges what is left.
func (s *sweeper) at(n int) {
	data := s.newDir()
	trace := data + ".trace"
	defer func() {
		reap(data)
		_ = errors.Join(os.RemoveAll(data), os.Remove(trace))
	}()
	if !s.report.check(s.name, s.copyTo(data)) {
		return
	}
	h := s.on(data)
	line := []string{"strace", "-f", "-qq", "-b", "execve", "-y", "-e", "trace=" + s.fault.calls, "-o", trace,
		"-e", fmt.Sprintf("inject=%s:%s:when=%d", s.fault.calls, s.fault.does, n)}
	res := h.process(append(line, h.command(s.args...).Args...)...).run()
	if calls, _ := os.ReadFile(trace); res.exit != -1 && !bytes.Contains(calls, []byte("(INJECTED)")) {
		s.report.count("without the fault", 1)
	}
	if err := s.judge(data, res); err != nil {
		s.report.wrong("%s, %s at call %d: %v\n    %v", s.name, s.fault.does, n, err, res)
	}
	s.report.count("points", 1)
	switch res.exit {
	case -1:
		s.report.count("kills", 1)
	case 0:
		s.report.count("acknowledged", 1)
	}
}

func (s *sweeper) judge(data string, res *outcome) error {
	if s.repair { // whatever the first repair came to, the next one succeeds
		if err := s.on(data).ok("doctor --repair"); err != nil {
			return err
		}
	}
	now, err := s.events(data)
	if err != nil {
		return err
	}
	before := slices.Clone(s.before)
	if s.repair && len(now) > damagedLine {
		before[damagedLine] = now[damagedLine]
	}
	if err := kept(before, now); err != nil {
		return err
	}
	if !s.repair {
		if err := s.judgeResult(res, s.happened(now[len(before):])); err != nil {
			return err
		}
	}
	return s.mended(data)
}

// happened reports whether what the command does is among the new events. A wait
// may join, which is a change of its own, and then fail to get the turn.
func (s *sweeper) happened(events []event.Event) bool {
	if s.args[0] == "wait" {
		return slices.ContainsFunc(events, func(e event.Event) bool { return e.Type == turn.Claim })
	}
	return len(events) > 0
}

// judgeResult: the command reports success exactly if the change happened, or says
// that it may have happened.
func (s *sweeper) judgeResult(res *outcome, happened bool) error {
	switch {
	case res.exit < 0: // it was killed before it reported anything
	case s.name == "msg recv", s.name == "inbox": // reads, and moves its cursor
	case s.name == "ask": // the question is in a topic
	case res.exit == 0 && !happened:
		return fmt.Errorf("acknowledged, but not in the journal")
	case res.exit > 0 && happened:
		for _, text := range []string{"in_doubt", "guardian_failed", "what the command did stands"} {
			if strings.Contains(res.stderr+res.stdout, text) {
				return nil
			}
		}
		return fmt.Errorf("it happened, but the command failed")
	}
	return nil
}
