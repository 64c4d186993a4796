package member

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/roomtypes/sharing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// A hostTable is the process table of this machine as if it were that of a host with a name,
// in a boot.
type hostTable struct {
	identity.Table
	host, boot string
}

func (h hostTable) own(p identity.Process) identity.Process {
	p.Host, p.Boot = h.host, h.boot
	return p
}

func (h hostTable) Self() identity.Process { return h.own(h.Table.Self()) }

func (h hostTable) Inspect(pid int) (identity.Info, error) {
	info, err := h.Table.Inspect(pid)
	info.Process = h.own(info.Process)
	return info, err
}

func (h hostTable) Verdict(p identity.Process) identity.Verdict {
	if p.Host != h.host {
		return identity.Unknown
	}
	real := h.Table.Self()
	p.Host, p.Boot = real.Host, real.Boot
	return h.Table.Verdict(p)
}

// A team is several hosts that share a room by an engine in memory, whose clock is an hour
// ahead of that of the hosts, and stands still.
type team struct {
	*fixture
	engine *memory.Engine
	mu     sync.Mutex
	at     time.Time
}

func newTeam(t *testing.T) *team {
	sharing.Enable()
	w := &team{fixture: newFixture(t), at: time.Now().Add(time.Hour)}
	w.engine = memory.New("team", w.now)
	return w
}

func (w *team) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *team) later(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

func sharedPolicy() turn.Policy {
	p := turn.DefaultPolicy()
	p.OwnerLeaseTTL, p.ClaimTTL, p.HeartbeatInterval = (5 * time.Minute).Milliseconds(), (5 * time.Minute).Milliseconds(), (30 * time.Second).Milliseconds()
	return p
}

// join makes an agent on a host a member. The engine is wrapped, if wrap is not nil.
func (w *team) join(host, boot, dir, id string, wrap func(engine.Engine) engine.Engine) *Room {
	w.Helper()
	var e engine.Engine = w.engine
	if wrap != nil {
		e = wrap(e)
	}
	store, err := fsroom.Open(dir, fsroom.Options{Engine: e, Host: host, Boot: boot, Now: w.now})
	w.must(err)
	table := hostTable{identity.System(), host, boot}
	self := table.Self()
	c := &Client{
		Store: store, Table: table, Self: identity.Agent{ID: id, Source: identity.SourceOverride, Root: &self},
		Policy:     func() (turn.Policy, error) { return sharedPolicy(), nil },
		Executable: os.Executable, Warn: func(string) {},
		Clock: func() turn.Instant {
			now := event.NewTime(w.now())
			return turn.Instant{Wall: now, Boot: "engine:team", Mono: now.UnixMilli()}
		},
	}
	r, _, err := c.Join(context.Background(), w.workspace(), false, false)
	w.must(err)
	w.Cleanup(func() { _, _ = r.Leave(context.Background(), nil) })
	return r
}

func (w *team) onHost(host, id string) *Room { return w.join(host, "boot 1", w.TempDir(), id, nil) }

// member returns how a member is shown to another, whose records are fetched anew.
func (w *team) member(r *Room, id string) turn.MemberView {
	w.Helper()
	r = r.Client.Room(r.FS.Name(), r.Workspace)
	st := w.state(r)
	for _, m := range st.MemberViews(r.Facts(st)) {
		if m.AgentID == id {
			return m
		}
	}
	w.Fatalf("%s is no member", id)
	return turn.MemberView{}
}

func (w *team) tryAnew(r *Room) turn.WaitResult {
	w.Helper()
	return w.try(r.Client.Room(r.FS.Name(), r.Workspace))
}

// guardianOn is the guardian of the turn that the agent has.
func (w *team) guardianOn(r *Room, turnID int64) *guardian {
	return &guardian{Room: r.Client.Room(r.FS.Name(), nil), turn: turnID, self: *guardianOf(r.recorded(w.state(r)))}
}
