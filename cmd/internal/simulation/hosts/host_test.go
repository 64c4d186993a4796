package hosts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
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
	w         *world
	name, dir string
	agents    []string
	windows   map[string]identity.Process // of the agents
	procs     []*proc
	cut       atomic.Bool // it does not reach the engine

	boots  int
	booted time.Time
	wrong  time.Duration // its wall clock
	rate   float64       // of its clock
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
	h.boot()
	return h
}

func (h *host) boot() {
	h.boots++
	h.booted, h.engine = time.Now(), time.Time{}
	for _, a := range h.agents {
		h.windows[a] = h.newID()
	}
}

func (h *host) reboot() {
	h.w.logf("%s is booted again", h.name)
	for _, p := range slices.Clone(h.procs) {
		p.kill()
	}
	h.boot()
}

func (h *host) newID() identity.Process {
	h.w.pids++
	const beyond = 5_000_000 // no process of the real machine has such a pid
	return identity.Process{Host: h.name, Boot: h.bootID(), Namespace: "ns", PID: beyond + h.w.pids, Start: uint64(1000 * h.w.pids)}
}

func (h *host) bootID() string { return fmt.Sprint(h.name, " boot ", h.boots) }

func (h *host) uptime() (boot string, on time.Duration) {
	return h.bootID(), time.Hour + time.Duration(float64(time.Since(h.booted))*h.rate)
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
	o := fsroom.Options{Host: h.name, Boot: h.bootID(), Now: func() time.Time { return h.clock().Wall.Time }, NoWatch: true,
		SyncDir: func(string) error { return nil }, BlindPoll: 5 * time.Second, BlindPollMax: 20 * time.Second}
	if p != nil {
		o.Engine, o.Sleep = &link{h.w.engine.Through(p.reach), p}, p.await
	}
	store, err := fsroom.Open(h.dir, o)
	if err != nil {
		h.w.find("%s: %v", h.name, err)
	}
	window := h.windows[agent]
	return &member.Client{
		Store: store, Table: table{h, p}, Self: identity.Agent{ID: agent, Source: identity.SourceOverride, Root: &window},
		Policy: func() (turn.Policy, error) { return policy(), nil }, Executable: os.Executable, Warn: func(string) {},
		Clock: h.clock, Machine: member.Machine{Start: h.start, Kill: h.killPID, Uptime: h.uptime},
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
	return p.id.PID, err
}

func (h *host) killPID(pid int) {
	for _, p := range h.procs {
		if p.id.PID == pid {
			p.killed.Store(true)
		}
	}
}

// A proc is a process. It goes on only when it is let.
type proc struct {
	h      *host
	id     identity.Process
	agent  string
	what   string
	guards bool
	client *member.Client
	ctx    context.Context
	cancel context.CancelFunc
	goid   string

	resume chan struct{}
	busy   atomic.Bool // it has not stopped
	killed atomic.Bool
	over   atomic.Bool
	until  time.Time // when it wakes up; zero: it can go on

	result turn.WaitResult
	seen   string // by status
}

var errKilled = errors.New("killed")

func (h *host) spawn(agent, what string, run func(*proc)) *proc {
	p := &proc{h: h, id: h.newID(), agent: agent, what: what, resume: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	h.procs = append(h.procs, p)
	go func() {
		<-p.resume
		p.goid = goid()
		defer func() {
			if r := recover(); r != nil && r != any(errKilled) {
				panic(r)
			}
			p.over.Store(true)
			p.busy.Store(false)
			p.cancel()
		}()
		if !p.killed.Load() {
			p.client = h.client(agent, p)
			run(p)
		}
	}()
	return p
}

func (p *proc) canRun() bool {
	return !p.busy.Load() && !p.over.Load() && (p.killed.Load() || !time.Now().Before(p.until))
}

// goOn lets the process go on until it stops again.
func (p *proc) goOn() {
	if p.canRun() {
		p.busy.Store(true)
		p.resume <- struct{}{}
		synctest.Wait()
	}
	p.h.procs = slices.DeleteFunc(p.h.procs, func(p *proc) bool { return p.over.Load() })
}

// kill ends the process where it stands.
func (p *proc) kill() {
	p.killed.Store(true)
	p.goOn()
}

// isMain reports whether its own goroutine calls, not one that helps it.
func (p *proc) isMain() bool { return goid() == p.goid }

// park stops the process until a time.
func (p *proc) park(until time.Time) {
	p.until = until
	p.busy.Store(false)
	<-p.resume
	p.check()
}

// check ends a process that was killed.
func (p *proc) check() {
	if p.killed.Load() && p.ctx.Err() == nil {
		p.cancel()
		panic(errKilled)
	}
}

// reach is where a process stops: before it asks the engine.
func (p *proc) reach() error {
	if p.isMain() && p.ctx.Err() == nil {
		p.park(time.Time{})
	}
	if p.killed.Load() || p.h.cut.Load() {
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
		is := l.p.isMain() && !h.w.calm && h.w.chance(odds)
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
	if err == nil && (l.p.isMain() && l.p.reach() != nil || lost()) {
		err = inDoubt
	}
	return e, err
}

// await is how it sleeps.
func (p *proc) await(ctx context.Context, d time.Duration) (changed bool) {
	if !p.isMain() {
		return false
	}
	const most = 10 * time.Second
	if d == 0 || d > most {
		d = most
	}
	end := time.Now().Add(d)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(end) {
		end = deadline
	}
	p.park(end)
	return true
}

func goid() string {
	var b [32]byte
	id, _, _ := strings.Cut(string(b[len("goroutine "):runtime.Stack(b[:], false)]), " ")
	return id
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
		r, _, err = p.client.Join(ctx, w.workspace(), false)
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
			err = r.Take(ctx, turn.TakeRequest{Agent: p.agent, Lease: fsroom.NewLease(), Reason: "it is silent"}, p)
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

// A table is the table of processes of a machine as one of them sees it.
type table struct {
	h *host
	p *proc // nil: one that lives for a moment
}

func (t table) Self() identity.Process {
	if t.p == nil {
		return identity.Process{Host: t.h.name, Boot: t.h.bootID(), Namespace: "ns", PID: 4_999_999, Start: 1}
	}
	return t.p.id
}

func (t table) Inspect(pid int) (identity.Info, error) {
	for _, p := range t.h.procs {
		if p.id.PID == pid && !p.killed.Load() {
			return identity.Info{Process: p.id, PPID: t.h.windows[p.agent].PID, Name: "tt", Args: []string{"tt"}}, nil
		}
	}
	for _, id := range t.h.windows {
		if id.PID == pid {
			return identity.Info{Process: id, PPID: 1, Name: "claude", Args: []string{"claude"}}, nil
		}
	}
	return identity.Info{}, fs.ErrNotExist
}

func (t table) Look(pid int) (identity.Info, error) { return t.Inspect(pid) }

func (t table) Verdict(p identity.Process) identity.Verdict {
	return identity.Judge(p, t.Self(), t.Inspect)
}
