//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// sweepSignals sends each command, at each of its calls, the signals that people
// and terminals send.
func sweepSignals(g *rig, r *report) {
	if !haveStrace() {
		r.skip("there is no strace")
		return
	}
	var runs []func()
	for _, st := range g.stages() {
		for _, f := range []fault{"signal=SIGINT", "signal=SIGTERM", "signal=SIGHUP"} {
			t, points, err := g.trial(r, st, changing+opening, f)
			if err != nil {
				r.wrong("%v", err)
			}
			for _, p := range points {
				runs = append(runs, func() { t.at(p) })
			}
		}
	}
	r.inParallel(g.sample(runs, 400, len(runs)))
}

// interrupted: a command that got a signal dies of it, ends with the status that
// says so, or is done. What it has told is whole, and a turn that it was granted
// and did not die of is told.
func (t *trial) interrupted(res result, happened bool) error {
	signal := t.fault.signal()
	switch {
	case signal == 0 || signal == syscall.SIGKILL:
		return nil
	case !wholeJSON(res.stdout):
		return fmt.Errorf("%v left half a result", signal)
	case res.exit == 128+int(signal) && happened && !strings.Contains(res.stdout, "your_turn"):
		return fmt.Errorf("it happened, and %v kept it from telling", signal)
	case res.exit == 0 || res.signal == signal || res.exit == 128+int(signal):
		return nil
	}
	return fmt.Errorf("%v ended it with status %d", signal, res.exit)
}

// wholeJSON reports whether the text is whole lines of JSON, or nothing.
func wholeJSON(text string) bool {
	if text == "" {
		return true
	}
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return strings.HasSuffix(text, "\n")
		} else if err != nil {
			return false
		}
	}
}

// lostOutputs runs each command with a standard output that takes nothing. The
// change is made, and the failure says so.
func lostOutputs(g *rig, r *report) {
	outputs := map[string]func(*rig, *trial, string) (result, error){
		"a pipe nobody reads": intoClosedPipe, "a full disk": intoFull, "no standard output": without(">&-"), "nothing open": without("<&- >&- 2>&-"),
	}
	for _, st := range g.stages() {
		t := &trial{rig: g, stage: st, report: r}
		for name, run := range outputs {
			if err := t.lost(name, run); err != nil {
				r.wrong("%s, %s: %v", st.name, name, err)
			}
		}
	}
}

func (t *trial) lost(name string, run func(*rig, *trial, string) (result, error)) error {
	data := t.newDir()
	defer t.remove(data)
	if err := errors.Join(t.err, t.copyTo(data)); err != nil {
		return err
	}
	res, err := run(t.rig, t, data)
	if err != nil {
		return err
	}
	t.report.add(1, 0, 0)
	if t.args[1] == "recv" { // a stream, which ends silently
		return t.judge(data, res)
	}
	told := name == "a pipe nobody reads" || name == "a full disk"
	if told && (res.exit != 1 || !strings.Contains(res.stderr, "what the command did stands")) {
		return fmt.Errorf("not told: %v", res)
	}
	now, err := t.events(data)
	if err == nil && !t.repair && !t.happened(now[min(len(now), len(t.before)):]) {
		err = fmt.Errorf("it did not happen: %v", res)
	}
	if err != nil {
		return err
	}
	return t.judge(data, res)
}

func intoClosedPipe(g *rig, t *trial, data string) (result, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return result{}, err
	}
	read.Close()
	defer write.Close()
	return g.into(t, data, write), nil
}

func intoFull(g *rig, t *trial, data string) (result, error) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		return result{}, err
	}
	defer full.Close()
	return g.into(t, data, full), nil
}

// into is the command with its output to a file.
func (g *rig) into(t *trial, data string, out *os.File) result {
	cmd, _, stderr := g.command(data, nil, t.args...)
	cmd.Stdout = out
	err := cmd.Run()
	return ended(err, "", stderr.String())
}

// without is the command with standard files closed, so that the first files it
// opens have their numbers.
func without(closed string) func(*rig, *trial, string) (result, error) {
	return func(g *rig, t *trial, data string) (result, error) {
		return g.runUnder(data, []string{"sh", "-c", `exec "$@" ` + closed, "sh"}, t.args...), nil
	}
}
