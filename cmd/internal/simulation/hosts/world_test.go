package hosts

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/cmd/internal/roomtypes/sharing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// A world is three machines, an engine and what the oracles know.
type world struct {
	t      *testing.T
	rand   *rand.Rand
	dir    string // the workspace, at the same path on all machines
	room   string
	engine *memory.Engine
	hosts  []*host
	calm   bool // nothing goes wrong any more

	history []event.Event // of the engine, as far as it was read
	read    engine.Revision
	state   *turn.State
	leases  map[int64]turn.Fence // by turn
	log     []string
	finding string
}

// simulate runs a seed. It returns what was found, "" for nothing, and what happened.
func simulate(t *testing.T, seed uint64, steps int) (finding string, log []string) {
	base := t.TempDir()
	sharing.Enable()
	synctest.Test(t, func(t *testing.T) {
		lockfile.Pause = func(context.Context, string) { time.Sleep(100 * time.Millisecond) }
		defer func() { lockfile.Pause = nil }()
		w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 0)), dir: base, leases: map[int64]turn.Fence{}}
		w.room = fsroom.RoomName(w.workspace().Identity(base))
		w.state = turn.New(w.room)
		w.engine = memory.New("sim", engineTime)
		for i := range 3 {
			w.hosts = append(w.hosts, newHost(w, fmt.Sprint("host", i), filepath.Join(base, fmt.Sprint(i))))
		}
		for range steps {
			if w.act(); w.finding != "" {
				break
			}
		}
		if w.finding == "" {
			w.finale()
		}
		w.end()
		finding, log = w.finding, w.log
	})
	return finding, log
}

// engineTime is the time on the engine's clock.
func engineTime() time.Time { return time.Now().Add(time.Hour) }

func (w *world) workspace() *workspace.Workspace {
	return &workspace.Workspace{Requested: w.dir, Path: w.dir, Root: w.dir, Shared: "acme/api"}
}

func (w *world) logf(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%9.3f  ", time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).Seconds())+fmt.Sprintf(format, args...))
}

func (w *world) find(format string, args ...any) {
	if w.finding == "" {
		w.finding = fmt.Sprintf(format, args...)
		w.logf("FOUND: %s", w.finding)
	}
}

// chance reports true once in n times.
func (w *world) chance(n int) bool { return w.rand.IntN(n) == 0 }

// act lets one thing happen.
func (w *world) act() {
	h := w.hosts[w.rand.IntN(len(w.hosts))]
	switch n := w.rand.IntN(100); {
	case n < 15:
		w.command(h)
	case n < 70:
		w.step()
	case n < 90:
		w.pass(time.Duration(w.rand.IntN(6_000)) * time.Millisecond)
	case n < 93:
		w.setCut(h, !h.cut.Load() && w.chance(2))
	case n < 96:
		if ready := w.ready(); len(ready) > 0 {
			p := ready[w.rand.IntN(len(ready))]
			w.logf("%s: %s of %s is killed", p.h.name, p.what, p.agent)
			p.kill()
		}
	case n < 97:
		h.reboot()
	case n < 98:
		w.logf("the engine loses what it knows of agents")
		w.engine.LoseRecords(w.name())
	default:
		w.pass(time.Duration(w.rand.IntN(40)) * time.Second)
	}
	w.look()
}

// command starts a command of an agent that runs none.
func (w *world) command(h *host) {
	a := h.agents[w.rand.IntN(len(h.agents))]
	if slices.ContainsFunc(h.procs, func(p *proc) bool { return p.agent == a && !p.guards }) {
		return
	}
	what := []string{"wait", "wait", "wait", "try", "take", "release", "join", "status"}[w.rand.IntN(8)]
	w.logf("%s: %s begins %s", h.name, a, what)
	h.spawn(a, what, func(p *proc) {
		if p.run(what); p.result.Status == turn.TakeoverAvailable {
			p.run("take")
		}
	})
}

// step lets one process go on.
func (w *world) step() {
	ready := w.ready()
	if len(ready) == 0 {
		w.pass(time.Second)
		return
	}
	p := ready[w.rand.IntN(len(ready))]
	for range 1 << w.rand.IntN(6) {
		p.goOn()
	}
}

// ready returns the processes that can go on.
func (w *world) ready() (ready []*proc) {
	for _, h := range w.hosts {
		for _, p := range h.procs {
			if p.CanRun() {
				ready = append(ready, p)
			}
		}
	}
	return ready
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) setCut(h *host, cut bool) {
	if h.cut.Load() == cut {
		return
	}
	w.logf("%s is cut off: %v", h.name, cut)
	h.cut.Store(cut)
	if !cut {
		w.engine.SetAway(false) // whoever listens may have missed something
	}
	synctest.Wait()
}

// name is what the engine calls the room.
func (w *world) name() string { return roomtypes.Stick().Folder + "." + w.room }

// look compares what is with what was promised.
func (w *world) look() {
	w.readHistory()
	var writers []string
	for _, h := range w.hosts {
		for _, a := range h.agents {
			if turn, may := h.mayWrite(a); may {
				writers = append(writers, fmt.Sprintf("%s on %s, turn %d", a, h.name, turn))
			}
		}
	}
	if len(writers) > 1 {
		w.find("two may write: %q", writers)
	}
}

// readHistory folds what the engine has got.
func (w *world) readHistory() {
	err := w.engine.Read(context.Background(), w.name(), 0, func(entry engine.Entry) error {
		if entry.Revision <= w.read {
			return nil
		}
		w.read = entry.Revision
		for line := range bytes.Lines(entry.Lines) {
			e, err := event.Decode(line)
			if err != nil {
				return err
			}
			w.fold(e.Clone())
		}
		return nil
	})
	if err != nil {
		w.find("the engine cannot be read: %v", err)
	}
}

func (w *world) fold(e event.Event) {
	if want := int64(len(w.history) + 1); e.Seq != want {
		w.find("event %d comes where %d is due", e.Seq, want)
	}
	w.history = append(w.history, e)
	if err := roomtypes.Stick().Apply(w.state, &e); err != nil {
		w.find("event %d does not fold: %v", e.Seq, err)
	}
	if !w.state.Open && w.state.Seq > 0 { // its members have left: it goes on as another life
		next := turn.New(w.room)
		roomtypes.Stick().Continue(next, &e)
		w.state = next
	}
	fence := w.state.Fence()
	if before, known := w.leases[fence.Turn]; known && before != fence && fence.Turn > 0 {
		w.find("turn %d was granted as %+v and as %+v", fence.Turn, before, fence)
	}
	if fence.Turn > 0 {
		w.leases[fence.Turn] = fence
	}
}

// granted is called with an answer that an agent has the turn.
func (w *world) granted(p *proc, res turn.WaitResult) {
	w.readHistory()
	if f := w.leases[res.TurnID]; f.Lease != res.LeaseID || f.Agent != p.agent {
		w.find("%s was told that turn %d is its own by %s, and it is that of %+v", p.agent, res.TurnID, res.LeaseID, f)
	}
}

// released is called with an answer that the turn was released.
func (w *world) released(p *proc, res turn.ReleaseResult) {
	w.readHistory()
	if n := res.EventSeq; n < 1 || n > int64(len(w.history)) || w.history[n-1].From != p.agent {
		w.find("%s was told that it has released by event %d, of %d", p.agent, n, len(w.history))
	}
}

// finale lets nothing go wrong any more: what was begun comes to its end, each agent gets the turn, and all see
// the same.
func (w *world) finale() {
	w.calm = true
	for _, h := range w.hosts {
		w.setCut(h, false)
	}
	w.settle(3 * time.Minute)
	got, all := map[string]bool{}, 0
	seen := map[string]string{}
	for round := 0; round < 20 && (round == 0 || len(got) < all); round++ {
		all = 0
		for _, h := range w.hosts {
			for _, a := range h.agents {
				all++
				h.spawn(a, "turn", func(p *proc) {
					p.run("try")
					p.run("take")
					if p.run("release") {
						got[a] = true
					}
				})
			}
		}
		w.settle(2 * time.Minute)
	}
	if len(got) < all {
		w.find("of %d agents these alone get the turn: %v", all, got)
	}
	for _, h := range w.hosts {
		h.spawn(h.agents[0], "status", func(p *proc) { p.run("status"); seen[h.name] = p.seen })
	}
	w.settle(10 * time.Second)
	for _, h := range w.hosts {
		if want := describe(w.state); seen[h.name] != want {
			w.find("%s sees %s, and the engine has %s", h.name, seen[h.name], want)
		}
	}
}

func describe(st *turn.State) string {
	return fmt.Sprintf("event %d, turn %+v", st.Seq, st.Fence())
}

// settle lets all processes run for some time.
func (w *world) settle(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end) && w.finding == ""; w.pass(2 * time.Second) {
		for ready := w.ready(); len(ready) > 0; ready = w.ready() {
			for _, p := range ready {
				p.goOn()
			}
			w.look()
		}
	}
}

// end ends all processes.
func (w *world) end() {
	for _, h := range w.hosts {
		for len(h.procs) > 0 {
			for _, p := range slices.Clone(h.procs) {
				p.kill()
			}
			w.pass(time.Second)
		}
	}
	w.pass(time.Minute)
	_ = w.engine.Close()
}
