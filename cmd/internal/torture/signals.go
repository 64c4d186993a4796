//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
