//go:build linux

package torture

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// sweepKills kills each command at the entry of each of its calls, which leaves
// every state that there is between two calls. Those that change nothing are for a
// long run.
func sweepKills(e *env, r *report) {
	calls := changing + opening
	if e.size == long {
		calls += ",newfstatat,fstat,getdents64,read,pread64,close"
	}
	e.sweep(r, calls, 1<<30, kills)
}

const kills fault = "signal=SIGKILL"

// sweepErrors makes each call fail in the ways in which it may: once, and in a
// long run also from then on.
func sweepErrors(e *env, r *report) {
	for _, f := range []fault{"error=EIO", "error=ENOSPC", "error=EINTR"} {
		e.sweep(r, changing+opening, 400, f)
	}
	if e.size < long {
		e.sweep(r, "fdatasync", 600, "error=EIO*")
		return
	}
	e.sweep(r, changing, 0, "error=EIO*")
	for _, f := range []fault{"error=EACCES", "error=EMFILE", "error=EROFS", "error=EDQUOT", "error=ENOLCK"} {
		e.sweep(r, changing+opening, 0, f)
	}
}

// sweep causes a fault at each of the calls of each command, or in a short run at
// some of them at random.
func (e *env) sweep(r *report, calls string, some int, f fault) {
	var runs []func()
	for _, fix := range e.fixtures() {
		s := &sweeper{env: e, fixture: fix, report: r, fault: f}
		points, err := s.count(calls)
		r.check(fix.name, err)
		for _, p := range points {
			if p.changes || e.size == long || f != kills {
				runs = append(runs, func() { s.at(p) })
			}
		}
	}
	e.sample(r, runs, some)
}

// sample does some of the runs at random, in a long run all, a few at a time.
func (e *env) sample(r *report, runs []func(), some int) {
	e.random().Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	atOnce(3, runs[:min(len(runs), e.pick(some, len(runs)))])
}

// atOnce does all of the runs, some at a time.
func atOnce(some int, runs []func()) {
	queue := make(chan func())
	var workers sync.WaitGroup
	for range some {
		workers.Go(func() {
			for run := range queue {
				run()
			}
		})
	}
	for _, run := range runs {
		queue <- run
	}
	close(queue)
	workers.Wait()
}

// A sweeper runs the command of a fixture with one fault.
type sweeper struct {
	*env
	*fixture
	report *report
	fault  fault
}

// count runs the command without a fault and returns its calls.
func (s *sweeper) count(calls string) ([]point, error) {
	res, trace, err := s.undisturbed(calls)
	if err == nil && res.exit != 0 {
		err = fmt.Errorf("without a fault: %v", res)
	}
	return pointsIn(trace), err
}

// undisturbed runs the command without a fault.
func (s *sweeper) undisturbed(calls string) (*outcome, string, error) {
	data := s.newDir()
	defer remove(data)
	return s.traced(data, "-e", "trace="+known(calls))
}

// traced runs the command under strace on a copy of the data directory.
func (s *sweeper) traced(data string, how ...string) (*outcome, string, error) {
	if s.err != nil {
		return nil, "", s.err
	}
	if err := s.copyTo(data); err != nil {
		return nil, "", err
	}
	trace := data + ".trace"
	res := s.runUnder(data, strace(append(how, "-o", trace)...), s.args...)
	return res, readTrace(trace), nil
}

// at runs the command with the fault at one point and judges what is left.
func (s *sweeper) at(p point) {
	s.report.reach(fmt.Sprintf("%s, %s at %v", s.name, s.fault, p), func() bool {
		data := s.newDir()
		defer remove(data)
		res, trace, err := s.traced(data, s.fault.at(p)...)
		if err == nil {
			err = s.judge(data, res)
		}
		if err != nil {
			s.report.wrong("%s, %s at %v: %v\n    %v", s.name, s.fault, p, err, res)
		}
		if !s.fault.struck(trace) {
			return err != nil
		}
		s.report.add(1, one(res.exit == -1), one(res.exit == 0))
		return true
	})
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *sweeper) judge(data string, res *outcome) error {
	if s.repair { // whatever the first repair came to, the next one succeeds
		if err := s.ok(data, "doctor --repair"); err != nil {
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
	case s.fault.lasts() && res.exit > 0 && res.stdout+res.stderr == "": // it cannot print
	case res.exit == 0 && !happened:
		return fmt.Errorf("acknowledged, but not in the journal")
	case res.exit > 0 && happened:
		for _, text := range []string{"in_doubt", "guardian_failed", "what the command did stands", "runtime:"} {
			if strings.Contains(res.stderr+res.stdout, text) {
				return nil
			}
		}
		return fmt.Errorf("it happened, but the command failed")
	}
	return nil
}
