package hosts

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/simulation/machine"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// A host is a machine.
type host struct {
	machine.Machine
	w         *world
	name, dir string
	agents    []string
	windows   map[string]identity.Process // of the agents
	procs     []*proc
	cut       atomic.Bool // it does not reach the engine

	wrong time.Duration // its wall clock
	rate  float64       // of its clock
	// The engine's time as it was told last, and when that was, by the machine's clock. Zero: it is not known.
	engine time.Time
	at     time.Duration
}

func newHost(w *world, name, dir string) *host {
	h := &host{w: w, name: name, dir: dir, agents: []string{"a:" + name}, windows: map[string]identity.Process{},
		wrong: time.Duration(w.rand.IntN(7200)-3600) * time.Second, rate: 1 + (w.rand.Float64()-0.5)/100}
	if name == "host0" {
		h.agents = append(h.agents, "b:"+name)
	}
	h.Host, h.Harness = name, h.harness
	h.Panics = func(_ *machine.Proc, what string) { panic(what) }
	h.boot()
	return h
}

func (h *host) boot() {
	h.Boot()
	h.engine = time.Time{}
	for _, a := range h.agents {
		h.windows[a] = h.NewID()
	}
}

func (h *host) reboot() {
	h.w.logf("%s is booted again", h.name)
	for _, p := range slices.Clone(h.procs) {
		p.kill()
	}
	h.boot()
}

// harness returns the process of a window.
func (h *host) harness(pid int) (p identity.Process, ok bool) {
	for _, id := range h.windows {
		if id.PID == pid {
			return id, true
		}
	}
	return p, false
}

func (h *host) uptime() (boot string, on time.Duration) {
	return h.BootID(), time.Hour + time.Duration(float64(time.Since(h.Booted))*h.rate)
}

// clock is that of the engine as the machine knows it, see Clock of package shared.
func (h *host) clock() turn.Instant {
	boot, on := h.uptime()
	if (h.engine.IsZero() || on-h.at > 10*time.Minute) && !h.cut.Load() {
		h.engine, h.at = engineTime(), on
	}
	if h.engine.IsZero() {
		return turn.At(time.Now().Add(h.wrong), boot, on)
	}
	now := h.engine.Add(on - h.at)
	return turn.Instant{Wall: event.NewTime(now), Boot: "engine:sim", Mono: now.UnixMilli()}
}

// client returns an agent as a process sees it; as the edit guard does, which asks no engine, without one.
func (h *host) client(agent string, p *proc) *member.Client {
	o := fsroom.Options{Host: h.name, Boot: h.BootID(), Now: func() time.Time { return h.clock().Wall.Time }, NoWatch: true,
		SyncDir: func(string) error { return nil }, BlindPoll: 5 * time.Second, BlindPollMax: 20 * time.Second}
	table := h.Aside("guard")
	if p != nil {
		o.Engine, o.Sleep, table = &link{h.w.engine.Through(p.reach), p}, p.await, p.Proc
	}
	store, err := fsroom.Open(h.dir, o)
	if err != nil {
		h.w.find("%s: %v", h.name, err)
	}
	window := h.windows[agent]
	return &member.Client{
		Store: store, Table: table, Self: identity.Agent{ID: agent, Source: identity.SourceOverride, Root: &window},
		Policy: func() (turn.Policy, error) { return policy(), nil }, Executable: os.Executable, Warn: func(string) {},
		Clock: h.clock, Machine: member.Machine{Start: h.start, Kill: h.Kill, Uptime: h.uptime},
	}
}

func policy() turn.Policy {
	p := turn.DefaultPolicy()
	p.OwnerLeaseTTL, p.ClaimTTL, p.HeartbeatInterval = time.Minute.Milliseconds(), (20 * time.Second).Milliseconds(), (15 * time.Second).Milliseconds()
	return p
}

// mayWrite reports whether the edit guard lets the agent write, and in which turn.
func (h *host) mayWrite(agent string) (turnID int64, may bool) {
	r := h.client(agent, nil).Room(h.w.room, h.w.workspace())
	snap, err := r.FS.View()
	if err != nil {
		return 0, false // it refuses
	}
	_, unproved := r.Unproved(snap.State)
	return snap.State.Turn, snap.State.Owner == agent && !unproved
}

// start starts a guardian, as the product asks for.
func (h *host) start(args []string, _ *os.File, _ ...*os.File) (pid int, err error) {
	flag := func(name string) string { return args[slices.Index(args, name)+1] }
	turnID, err := strconv.ParseInt(flag("--turn"), 10, 64)
	p := h.spawn(flag("--agent"), "guardian", func(p *proc) { _ = p.client.Guard(p.ctx, args[1], turnID, flag("--lease")) })
	p.guards = true
	return p.ID.PID, err
}

// A proc is a process. It goes on only when it is let.
type proc struct {
	*machine.Proc
	h      *host
	agent  string
	what   string
	guards bool
	client *member.Client
	ctx    context.Context

	result turn.WaitResult
	seen   string // by status
}

func (h *host) spawn(agent, what string, run func(*proc)) *proc {
	p := &proc{h: h, agent: agent, what: what}
	p.Proc = h.Spawn(agent, h.windows[agent].PID, func(*machine.Proc) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		p.ctx, p.client = ctx, h.client(agent, p)
		run(p)
	})
	h.procs = append(h.procs, p)
	return p
}

// goOn lets the process go on until it stops again.
func (p *proc) goOn() {
	p.h.Step(p.Proc, 1)
	p.h.bury()
}

// kill ends the process where it stands.
func (p *proc) kill() {
	p.h.Kill(p.ID.PID)
	p.h.bury()
}

func (h *host) bury() {
	h.Bury()
	h.procs = slices.DeleteFunc(h.procs, func(p *proc) bool { return p.State == machine.Finished })
}

// reach is where a process stops: before it asks the engine.
func (p *proc) reach() error {
	p.Point()
	if p.Killed || p.h.cut.Load() {
		return memory.ErrAway
	}
	return nil
}

// A link is the engine for a process. Answers to its changes are lost, too, at times because the host is cut off then.
type link struct {
	*memory.Engine
	p *proc
}

func (l *link) Append(ctx context.Context, room string, after engine.Revision, e engine.Entry, keep time.Duration) (engine.Entry, error) {
	h := l.p.h
	lost := func() bool {
		odds := 20
		if l.p.what == "release" {
			odds = 4
		}
		is := l.p.Mine() && !h.w.calm && h.w.chance(odds)
		if is && h.w.chance(2) {
			h.w.logf("%s is cut off with %s of %s", h.name, l.p.what, l.p.agent)
			h.cut.Store(true)
		}
		return is
	}
	inDoubt := code.New(code.InDoubt, "the engine did not say whether the change was made")
	if lost() {
		return e, inDoubt
	}
	e, err := l.Engine.Append(ctx, room, after, e, keep)
	if err == nil && (l.p.Mine() && l.p.reach() != nil || lost()) {
		err = inDoubt
	}
	return e, err
}

// await is how it sleeps.
func (p *proc) await(ctx context.Context, d time.Duration) (changed bool) {
	const most = 10 * time.Second
	if !p.Mine() {
		return false
	}
	p.Await(ctx, min(cmp.Or(d, most), most))
	return true
}

// Answer implements [member.Output].
func (p *proc) Answer(r turn.WaitResult) error { p.result = r; return nil }

// Waiting implements [member.Output].
func (p *proc) Waiting(turn.WaitResult) {}

// run runs a command, and reports whether it did what it says.
func (p *proc) run(what string) bool {
	w, ctx := p.h.w, p.ctx
	r, err := p.client.SelectRoom(w.workspace(), false)
	if err == nil && what != "status" && what != "release" {
		r, _, err = p.client.Join(ctx, w.workspace(), false, false)
	}
	if err == nil {
		switch what {
		case "try":
			err = r.Try(ctx, p)
		case "wait":
			err = r.Wait(ctx, time.Duration(1+w.rand.IntN(90))*time.Second, false, false, p)
		case "take":
			if p.result.Status == turn.YourTurn {
				break
			}
			err = r.Take(ctx, turn.TakeRequest{TryRequest: turn.TryRequest{Agent: p.agent, Lease: fsroom.NewLease()}, Reason: "it is silent"}, p)
		case "release":
			var res turn.ReleaseResult
			if res, _, err = r.Release(ctx, nil, []byte(`{"status":"s","next_action":"n"}`), ""); err == nil {
				w.released(p, res)
			}
		case "status":
			var snap *fsroom.Snapshot[*turn.State]
			if snap, err = r.FS.View(); err == nil {
				p.seen = describe(snap.State)
			}
		}
	}
	answer := p.result.Status
	if err != nil {
		answer = string(code.Of(err))
	}
	w.logf("%s: %s of %s answers %s, turn %d", p.h.name, what, p.agent, answer, p.result.TurnID)
	if answer == "internal" || answer == "corrupt_room" || answer == "engine_rewound" || answer == "engine_restored" {
		w.find("%s of %s: %v", what, p.agent, err)
	}
	if err == nil && p.result.Status == turn.YourTurn && (what == "try" || what == "wait" || what == "take") {
		w.granted(p, p.result)
	}
	return err == nil
}
