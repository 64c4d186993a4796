//go:build linux

package torture

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// sweepKills kills each command before each of its calls, which leaves every state that there is
// between two calls. Those that open what is there are for a long run.
func sweepKills(e *env, r *report) { e.sweep(r, nil, 1<<30, kills) }

// sweepErrors makes each call fail in the ways in which it may: once, and in a
// long run also from then on.
func sweepErrors(e *env, r *report) {
	for _, errno := range []unix.Errno{unix.EIO, unix.ENOSPC, unix.EINTR} {
		e.sweep(r, nil, 250, fails(errno))
	}
	if e.size < long {
		e.sweep(r, func(p point) bool { return p.call == unix.SYS_FDATASYNC }, 600, breaks(unix.EIO))
		return
	}
	e.sweep(r, func(p point) bool { return p.call != unix.SYS_OPENAT && p.call != unix.SYS_FLOCK }, 0, breaks(unix.EIO))
	for _, errno := range []unix.Errno{unix.EACCES, unix.EMFILE, unix.EROFS, unix.EDQUOT, unix.ENOLCK} {
		e.sweep(r, nil, 0, fails(errno))
	}
}

// sweep causes a fault at each of the calls of each command, or in a short run at
// some of them: at those that are wanted, if that is said.
func (e *env) sweep(r *report, wanted func(point) bool, some int, f fault) {
	var runs []sampled
	for _, fix := range e.fixtures() {
		s := &sweeper{env: e, fixture: fix, report: r, fault: f}
		for _, p := range s.count() {
			if (p.changes || e.size == long || f != kills) && (wanted == nil || wanted(p)) {
				runs = append(runs, sampled{kind: fix.name + callNames[p.call], run: func() { s.at(p) }})
			}
		}
	}
	e.sample(runs, some)
}

// A sampled run is of a kind, such as that of all syncs of one command.
type sampled struct {
	kind  string
	round int // how many of its kind come before it
	run   func()
}

// sample does some of the runs at random, in a long run all, a few at a time. None of a kind is
// done again before one of each kind was done.
func (e *env) sample(runs []sampled, some int) {
	e.random().Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	done := map[string]int{}
	for i, s := range runs {
		runs[i].round = done[s.kind]
		done[s.kind]++
	}
	slices.SortStableFunc(runs, func(a, b sampled) int { return a.round - b.round })
	atOnce(3, min(len(runs), e.pick(some, len(runs))), func(i int) { runs[i].run() })
}

// atOnce does n runs, some at a time.
func atOnce(some, n int, run func(i int)) {
	places := make(chan struct{}, some)
	var all sync.WaitGroup
	for i := range n {
		places <- struct{}{}
		all.Go(func() { run(i); <-places })
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

// count runs the command without a fault and returns its calls.
func (s *sweeper) count() []point {
	data := s.newDir()
	defer remove(data)
	var list []called
	p, notes, err := s.prepare(data, fault{}, point{})
	if err == nil {
		res := p.run()
		if list, err = readCalls(notes); err == nil && res.exit != 0 && !s.refusable {
			err = fmt.Errorf("without a fault: %v", res)
		}
	}
	if !s.report.able(s.name, err) {
		return nil
	}
	if s.toHandoff {
		list = list[:readsInput(list)]
	}
	return pointsIn(list)
}

// prepare returns the command on a copy of the data directory, with a fault, and the file
// that says whether it came.
func (s *sweeper) prepare(data string, f fault, at point) (p *process, notes string, err error) {
	if err = s.err; err == nil {
		err = s.copyTo(data)
	}
	notes = data + ".calls"
	p = s.on(data).command(s.args...)
	p.Env = append(p.Env, f.at(at, notes))
	return p, notes, err
}

// at runs the command with the fault at one point and judges what is left.
func (s *sweeper) at(p point) {
	s.report.reach(fmt.Sprintf("%s, %s at %v", s.name, s.fault.name, p), func() bool {
		data := s.newDir()
		defer remove(data)
		command, notes, err := s.prepare(data, s.fault, p)
		if err != nil {
			s.report.wrong("%s: %v", s.name, err)
			return true
		}
		res := command.run()
		err = s.judge(data, res)
		if err != nil {
			s.report.wrong("%s, %s at %v: %v\n    %v", s.name, s.fault.name, p, err, res)
		}
		if came, _ := readCalls(notes); len(came) == 0 {
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
	case s.fault.lasts && res.exit > 0 && res.stdout+res.stderr == "": // it cannot print
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
