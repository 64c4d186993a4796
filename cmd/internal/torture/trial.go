//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A trial is a stage under one kind of fault.
type trial struct {
	*rig
	*stage
	report *report
	fault  fault
}

// prepare makes the trial of one scene, and counts its points.
func (g *rig) prepare(r *report, s scene, calls string, f fault) (*trial, []point, error) {
	st, _ := g.stage(s)
	return g.trial(r, st, calls, f)
}

func (g *rig) trial(r *report, st *stage, calls string, f fault) (*trial, []point, error) {
	t := &trial{rig: g, stage: st, report: r, fault: f}
	if st.err != nil {
		return nil, nil, fmt.Errorf("%s: %v", st.name, st.err)
	}
	points, err := t.count(calls)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %v", st.name, err)
	}
	return t, points, nil
}

// count runs the command without a fault and counts its calls.
func (t *trial) count(calls string) ([]point, error) {
	data := t.newDir()
	if err := t.copyTo(data); err != nil {
		return nil, err
	}
	defer t.remove(data)
	res, trace := t.traced(data, []string{"-e", "trace=" + known(t.fault.among(calls))})
	if res.exit != 0 {
		return nil, fmt.Errorf("without a fault: %v", res)
	}
	return pointsIn(trace), nil
}

func (t *trial) copyTo(data string) error {
	if _, err := os.Stat(t.data); err != nil {
		return nil // the scene begins without a data directory
	}
	return copyDir(t.data, data)
}

// traced runs the command under strace.
func (t *trial) traced(data string, how []string) (result, string) {
	trace := data + ".trace"
	res := t.runUnder(data, strace(append(how, "-o", trace)...), t.args...)
	return res, readTrace(trace)
}

// at runs the scene with the fault at one point and judges what is left.
func (t *trial) at(p point) {
	t.report.reach(fmt.Sprintf("%s, %s at %v", t.name, t.fault, p), func() (hit bool) {
		data := t.newDir()
		defer t.remove(data)
		if err := t.copyTo(data); err != nil {
			t.report.wrong("%v", err)
			return true
		}
		res, trace := t.traced(data, t.fault.at(p))
		hit = t.fault.struck(trace)
		if hit {
			t.report.hit(t.fault, res.exit == -1, res.exit == 0)
		}
		if err := t.judge(data, res); err != nil {
			t.report.wrong("%s: tt %s, %s at %v: %v\n    %v", t.name, strings.Join(t.args, " "), t.fault, p, err, res)
		}
		return hit
	})
}

func (t *trial) judge(data string, res result) error {
	if t.repair {
		return t.judgeRepair(data)
	}
	now, err := t.events(data)
	if err != nil {
		return err
	}
	if err := kept(t.before, now); err != nil {
		return err
	}
	happened := t.happened(now[len(t.before):])
	if err := t.interrupted(res, happened); err != nil {
		return err
	}
	if err := t.acknowledged(res, happened); err != nil {
		return err
	}
	return t.mended(data)
}

// judgeRepair: whatever the first repair came to, the next one ends well, and
// each event that could be read has its number and its content.
func (t *trial) judgeRepair(data string) error {
	if r := t.run(data, "doctor", "--repair"); r.exit != 0 {
		return fmt.Errorf("repair cannot be repeated: %v", r)
	}
	now, err := t.events(data)
	if err != nil {
		return err
	}
	before := slices.Clone(t.before)
	if len(now) > damagedLine {
		before[damagedLine] = now[damagedLine]
	}
	if err := kept(before, now); err != nil {
		return err
	}
	return t.mended(data)
}

// happened reports whether what was asked for is among the new events. A wait
// may join, which is a change of its own, and then fail to get the turn.
func (t *trial) happened(events []event.Event) bool {
	if strings.HasPrefix(t.name, "wait") {
		return slices.ContainsFunc(events, func(e event.Event) bool { return e.Type == turn.Claim })
	}
	return len(events) > 0
}

// acknowledged: success was told exactly if there is something to show for it.
func (t *trial) acknowledged(res result, happened bool) error {
	switch {
	case t.fault.signal() != 0 && res.exit != 0: // it has not told a failure, but was ended
		return nil
	case strings.HasPrefix(t.args[0], "msg") && t.args[1] == "recv": // reads, and moves its cursor
		return nil
	case res.exit == 0 && !happened:
		return fmt.Errorf("acknowledged, but not in the journal")
	case res.exit > 0 && happened && !t.saysSo(res):
		return fmt.Errorf("it happened, but failure was told")
	}
	return nil
}

// saysSo reports whether a failure tells that what was asked for may have
// happened. One that cannot write a byte can tell nothing.
func (t *trial) saysSo(r result) bool {
	if t.fault.lasts() && r.stdout+r.stderr == "" {
		return true
	}
	for _, s := range []string{"in_doubt", "guardian_failed", "what the command did stands", "runtime:"} {
		if strings.Contains(r.stderr+r.stdout, s) {
			return true
		}
	}
	return false
}
