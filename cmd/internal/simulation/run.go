package simulation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/cmd/internal/ttcmd"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
	"github.com/talking-stick/tt/skills"
)

// simulate runs what next returns, until it returns no act or something was found, and then the end of
// the run: all faults are over, and who wants the turn gets it. It returns what the world has come to.
func simulate(t *testing.T, next func(*world) act) (w *world) {
	shm := "/dev/shm" // where files cost no disk
	if _, err := os.Stat(shm); err != nil {
		shm = os.TempDir()
	}
	base := filepath.Join(shm, fmt.Sprint("tt-simulation-", os.Getpid()))
	defer os.RemoveAll(base)
	hooks := "" // ours are installed
	for _, e := range harness.Get(harness.ClaudeCode).Hooks.Events {
		hooks += fmt.Sprintf("tt hook %s --harness claude-code\n", e.Kind)
	}
	err := skills.SetAuto(filepath.Join(base, "data"), "on")
	for name, text := range map[string]string{"w/go.mod": "", "home/.claude/settings.json": hooks} {
		path := filepath.Join(base, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w = &world{
			machine: machine{base: base, data: filepath.Join(base, "data"), began: time.Now(), booted: time.Now()},
			oracle: oracle{grants: map[int64]string{}, events: map[int64]string{}, took: map[string]identity.Process{},
				asleep: map[int64]time.Duration{}, counts: map[string]int{}},
			dir: filepath.Join(base, "w"), home: filepath.Join(base, "home"), policy: map[string]string{ledgerVariable: "off"}, tree: map[string]string{},
		}
		store, _ := fsroom.Open(w.data, fsroom.Options{NoWatch: true})
		w.room = fsroom.At(store, roomtypes.Stick(), fsroom.RoomName(w.dir))
		w.folder = w.room.Dir()
		w.held.Store(&map[string]*proc{})
		lockfile.Pause = w.pause
		defer func() {
			if r := recover(); r != nil {
				fmt.Fprintf(os.Stderr, "%v\n%s\n%s\n", r, debug.Stack(), strings.Join(w.log, "\n"))
				os.Exit(2) // the goroutines of the run do not end any more
			}
			lockfile.Pause = nil
		}()
		w.program = ttcmd.Program(ttcmd.Build{Version: "sim", Machine: w.machineOf})
		w.onStep = w.watch
		for a := next(w); a.verb != "" && w.class == ""; a = next(w) {
			w.log = append(w.log, a.String())
			if w.apply(a) {
				w.acts = append(w.acts, a)
			} else {
				w.log = w.log[:len(w.log)-1]
			}
		}
		if w.class == "" {
			w.finale()
		}
		w.end()
	})
	return w
}

// replay runs a trace.
func replay(t *testing.T, trace []act) *world {
	return simulate(t, func(*world) (a act) {
		if len(trace) > 0 {
			a, trace = trace[0], trace[1:]
		}
		return a
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
