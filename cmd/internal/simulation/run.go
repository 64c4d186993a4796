package simulation

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/ttcmd"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
	"github.com/talking-stick/tt/skills"
)

// An outcome is what a run has come to.
type outcome struct {
	class, text string // of what was found; "" for nothing
	acts        []act  // that meant something
	log         []string
	steps       int
	counts      map[string]int
}

// home makes a home directory in which our hooks are installed for the harness, and returns it.
func home(base string) (string, error) {
	dir := filepath.Join(base, "home")
	settings := filepath.Join(dir, ".claude", "settings.json")
	var b strings.Builder
	for _, e := range harness.Get(harness.ClaudeCode).Hooks.Events {
		fmt.Fprintf(&b, "tt hook %s --harness claude-code\n", e.Kind)
	}
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		return "", err
	}
	return dir, os.WriteFile(settings, []byte(b.String()), 0o600)
}

// simulate runs what next returns, until it returns false or something was found, and then the end of
// the run: all faults are over, and who wants the turn gets it. next is nil there.
func simulate(t *testing.T, next func(*world) (act, bool)) (res outcome) {
	base := filepath.Join(scratch(), fmt.Sprint("tt-simulation-", os.Getpid()))
	if err := os.MkdirAll(base, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "w")
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	userHome, err := home(base)
	must(err)
	must(os.MkdirAll(dir, 0o700))
	must(os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o600))
	must(skills.SetAuto(filepath.Join(base, "data"), "on"))
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		w := &world{dir: dir, home: userHome, policy: map[string]string{ledgerVariable: "off"}, tree: map[string]string{}}
		w.Machine = &Machine{t: t, base: base, data: filepath.Join(base, "data"), live: map[int]*proc{}, others: map[int]identity.Info{},
			began: now, booted: now}
		w.disk = disk{room: filepath.Join(w.data, "rooms", fsroom.RoomName(dir))}
		w.oracle = oracle{w: w, grants: map[int64]string{}, events: map[int64]string{},
			took: map[string]identity.Process{}, asleep: map[int64]time.Duration{}, counts: map[string]int{}}
		w.held.Store(&map[string]*proc{})
		lockfile.Pause = w.pause
		defer func() {
			if r := recover(); r != nil {
				fmt.Fprintf(os.Stderr, "%v\n%s\n%s\n", r, debug.Stack(), strings.Join(w.log, "\n"))
				os.Exit(2) // the goroutines of the run do not end any more
			}
			w.held.Store(&map[string]*proc{})
			lockfile.Pause = nil
		}()
		w.program = ttcmd.Program(ttcmd.Build{Version: "sim", Machine: func(env *cli.Env) *ttcmd.Machine { return w.machine(env) }})
		w.onStep = w.oracle.watch
		for w.oracle.class == "" {
			a, ok := next(w)
			if !ok {
				break
			}
			w.log = append(w.log, a.String())
			if w.apply(a) {
				res.acts = append(res.acts, a)
			} else {
				w.log = w.log[:len(w.log)-1]
			}
		}
		if w.oracle.class == "" {
			w.finale()
		}
		w.end()
		res.class, res.text, res.log, res.steps, res.counts = w.oracle.class, w.oracle.text, w.log, w.passed, w.oracle.counts
	})
	return res
}

// scratch is where files cost no disk.
func scratch() string {
	if _, err := os.Stat("/dev/shm"); err == nil {
		return "/dev/shm"
	}
	return os.TempDir()
}

// replay runs a trace.
func replay(t *testing.T, trace []act) outcome {
	n := 0
	return simulate(t, func(*world) (act, bool) {
		if n == len(trace) {
			return act{}, false
		}
		n++
		return trace[n-1], true
	})
}

// shorten returns a trace that finds the same and has as few acts as it goes.
func shorten(t *testing.T, trace []act, class string) []act {
	finds := func(trace []act) bool { return replay(t, trace).class == class }
	for size := len(trace) / 2; size > 0; size /= 2 {
		for at := 0; at < len(trace); {
			shorter := append(append([]act(nil), trace[:at]...), trace[min(len(trace), at+size):]...)
			if len(shorter) < len(trace) && finds(shorter) {
				trace = shorter
			} else {
				at += size
			}
		}
	}
	return trace
}
