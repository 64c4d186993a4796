package simulation

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/cmd/internal/simulation/machine"
	"github.com/talking-stick/tt/cmd/internal/ttcmd"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
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
			base: base, Disk: machine.Disk{Data: filepath.Join(base, "data")}, began: time.Now(),
			oracle: oracle{grants: map[int64]string{}, events: map[int64]string{}, took: map[string]identity.Process{},
				asleep: map[int64]time.Duration{}, counts: map[string]int{}},
			dir: filepath.Join(base, "w"), home: filepath.Join(base, "home"), policy: map[string]string{ledgerVariable: "off"}, tree: map[string]string{},
		}
		store, _ := fsroom.Open(w.Data, fsroom.Options{NoWatch: true})
		w.room = fsroom.At(store, roomtypes.Stick(), fsroom.RoomName(w.dir))
		w.Room = w.room.Dir()
		w.Machine.Host, w.Locks, w.Harness, w.Panics = "sim", w.locks, w.table, w.panics
		w.Boot()
		lockfile.Pause = w.Pause
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

// patience is the time within which who wants the turn has it or is called once nothing goes wrong any
// more: the longest limit of the policy and some.
const patience = time.Hour

// finale is the end of a run. Nothing more goes wrong: stopped processes go on, calls of tools end, models
// end their turns, and harnesses do what hooks and files ask of them. Who was refused and told that it
// will be called is called then.
func (w *world) finale() {
	for _, p := range w.procs {
		p.Frozen, p.FailAt = false, 0
	}
	id, acted := 0, false
	do := func(x *window, verb string, more ...string) {
		id++
		x.stopping = false // it is still, if its hook was killed before it began
		acted = w.apply(newAct(verb, append([]string{x.name, fmt.Sprintf("e%03d", id)}, more...)...)) || acted
	}
	for end := time.Now().Add(patience); time.Now().Before(end) && w.class == "" && w.steps < 200_000; {
		if w.drain(); w.class != "" {
			return
		}
		waits := false
		acted = false
		for _, x := range w.windows {
			waits = waits || x.alive && x.refused
			switch {
			case !x.alive, w.runsFor(x):
			case x.inTurn && x.called && x.refused: // its model was woken, and tries again
				if x.called = false; strings.Contains(x.reason, "Do: tt take") {
					do(x, "tt", "take", "--reason", "x")
				} else {
					do(x, "edit", "1000")
				}
			case x.offered:
				x.offered = false
				do(x, "tt", "wait", "--timeout", "1s")
			case x.hand:
				x.hand = false
				do(x, "tt", "release", "--status", "s", "--next-action", "n")
			case x.inTurn:
				do(x, "idle")
			case x.unheard:
				do(x, "listen")
			case x.rings():
				do(x, "bell")
			}
		}
		if !acted && !waits {
			break
		}
		if !acted {
			w.pass(time.Minute)
		}
	}
	w.drain()
	has := func(t string) bool { return slices.Contains(w.truths, t) }
	st := w.state
	// Of a holder that has ended, and whose guardian has, nobody is left that could tell.
	// Nor of the turn of a copy that was put back, whose guardian it does not have.
	silent := st != nil && has("guardian of "+st.Owner) && (w.back == st.Turn || has("harness of "+st.Owner))
	for _, x := range w.windows {
		called := func(y *window) bool { return y.agent == x.agent && y.called }
		waits := x.alive && x.refused && strings.Contains(x.reason, "you are called")
		assigned := st != nil && st.ReservedFor != "" && st.Pending.From == x.agent // it waits for that session
		if waits && !silent && !assigned && !slices.ContainsFunc(w.windows, called) {
			w.find("who wants the turn is not called", "%s was refused: %s", x.name, x.reason)
		}
	}
	if w.class == "" {
		w.history()
	}
}

// drain lets all processes run until they wait.
func (w *world) drain() {
	for busy := true; busy && w.class == ""; {
		busy = false
		for _, p := range slices.Clone(w.procs) {
			busy = w.step(p, 0) || busy
		}
	}
}

// runsFor reports whether a process runs of which the model of a window waits for the end.
func (w *world) runsFor(x *window) bool {
	return slices.ContainsFunc(w.procs, func(p *proc) bool {
		return p.window == x && !strings.HasPrefix(p.detail, "listen") && !strings.HasPrefix(p.detail, "bell")
	})
}

// outdate notes that what the processes of this moment acknowledge may be from before something that is undone.
func (w *world) outdate() {
	for _, p := range w.procs {
		p.older = true
	}
}

// forget drops what was acknowledged after the moment to which the room was put back by its user, and who was promised a
// call since then. What writes is excused.
func (w *world) forget() {
	w.look()
	w.back = w.state.Turn
	w.outdate()
	for _, r := range w.reads { // they may have read either room
		r.turn = w.back
	}
	for _, x := range w.windows {
		if !w.state.Open || w.state.Member(x.agent) == nil || !w.room.Agent(x.agent).Has("wants") { // its life may have been closed since
			x.refused = false
		}
		x.called = x.called || w.room.Agent(x.agent).Has("called")
	}
	maps.DeleteFunc(w.grants, func(n int64, _ string) bool { return n > w.state.Turn })
	maps.DeleteFunc(w.events, func(n int64, _ string) bool { return n > w.state.Seq })
	w.overrun("")
}

// history checks the journals of the room: the numbers are used once, and what was acknowledged is there.
func (w *world) history() {
	all := machine.Events(append(w.Glob("archive/*/*"), w.File("journal.jsonl"))...)
	slices.SortStableFunc(all, func(a, b event.Event) int { return int(a.Seq - b.Seq) })
	kinds, grants, lost := map[int64]string{}, map[int64]string{}, int64(0)
	for i, e := range all {
		if i > 0 && e.Seq == all[i-1].Seq && e.ID != all[i-1].ID {
			w.find("a number of an event was used twice", "event %d is a %s and a %s", e.Seq, all[i-1].Type, e.Type)
		}
		kinds[e.Seq] = e.Type
		if e.Type == "journal_damaged" {
			lost = e.Seq
		}
		if e.Type == turn.Claim || e.Type == turn.Takeover {
			if _, ok := grants[e.Turn]; ok && e.ID != all[max(0, i-1)].ID {
				w.find("a turn was given twice", "turn %d is in the journal twice", e.Turn)
			}
			grants[e.Turn] = e.To
		}
	}
	if snap := w.view(); snap != nil && snap.Lost != nil { // what the journal has lost is said with the next change
		lost = snap.State.Seq + 1
	}
	for _, seq := range slices.Sorted(maps.Keys(w.events)) {
		if kind, ok := kinds[seq]; seq >= lost && (!ok || kind != w.events[seq]) {
			w.find("what was acknowledged is gone", "event %d was a %s and is %q", seq, w.events[seq], kind)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(w.grants)) {
		if _, ok := grants[n]; !ok && lost == 0 {
			w.find("what was acknowledged is gone", "turn %d was given", n)
		}
	}
	w.folds()
}

// folds compares the room with what its journal alone makes of it, unless that has lost something.
func (w *world) folds() {
	has := w.view()
	if has == nil || has.Lost != nil || has.Stale || !has.State.Open {
		return
	}
	rules := roomtypes.Stick()
	folded := rules.New(filepath.Base(w.Room))
	log, err := journal.Open(w.File("journal.jsonl"))
	if err == nil {
		defer log.Close()
		_, _, err = log.Scan(journal.Position{}, func(e *event.Event, _ int64) error { return rules.Apply(folded, e) })
	}
	if err != nil {
		w.find("the journal does not fold", "%v", err)
		return
	}
	a, b := wire.Append(nil, has.State), wire.Append(nil, folded)
	if w.counts["folds"]++; !bytes.Equal(a, b) {
		w.find("the journal folds to another state", "the room is %s and its journal makes %s", a, b)
	}
}
