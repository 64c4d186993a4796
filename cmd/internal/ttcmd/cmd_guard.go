package ttcmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// guardCommand is the guardian: it is started by wait, try and take, never by
// hand.
var guardCommand = &cli.Command{
	Name:   "guard",
	Hidden: true,
	Args:   []cli.Arg{{Name: "room", Usage: "the room's id"}},
	Short:  "keep the lease of one turn alive",
	Flags: func(f *cli.Flags) {
		f.Int64("turn", "N", 0, "the turn to keep")
	},
	Run: runGuard,
}

func runGuard(ctx context.Context, c *cli.Invocation) error {
	// A hang-up is meant for those at the terminal, which the guardian outlives.
	signal.Ignore(syscall.SIGHUP)
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	s := &seat{desk: d, room: fsroom.At(d.store, rules, c.Arg("room")), proxy: true}
	if !s.room.Exists() {
		return nil
	}
	g := &guardian{seat: s, turn: c.Int64("turn"), self: d.table.Self()}
	ctx, stop := onSignal(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return g.run(ctx)
}

// A guardian keeps one turn: it renews the lease, and ends with the turn, with
// its agent, or when another guardian has its place.
type guardian struct {
	*seat
	turn  int64
	self  identity.Process
	exits exits

	started turn.Instant
	granted turn.Instant  // when the turn was first seen; zero: not yet
	told    bool          // whether the others know of it
	beat    turn.Instant  // the last renewal, or try
	due     time.Duration // when the next is due after it
}

const (
	// grantPatience is how long a guardian that was started ahead of its turn
	// waits for the grant.
	grantPatience = 10 * time.Second
	// firstBeat is when a guardian first looks whether the turn is recorded as
	// its own: a wait that was killed could not write that down.
	firstBeat = 2 * time.Second
	// beatRetry is how long it waits after a heartbeat that failed.
	beatRetry = 5 * time.Second
	// notifyDelay is how long after a grant the other members are woken, so that
	// they do not compete with the agent that has the turn.
	notifyDelay = 20 * time.Millisecond
)

func (g *guardian) run(ctx context.Context) error {
	g.started = now()
	g.due, g.beat = firstBeat, g.started
	err := g.room.AwaitAs(ctx, g.me.ID, func(snap *snapshot) (bool, fsroom.Sleep, error) {
		st := snap.State
		switch {
		case st.Turn < g.turn && st.Open && !now().Expired(g.started, grantPatience):
			return false, fsroom.Sleep{For: grantPatience}, nil
		case st.Owner != g.me.ID || st.Turn != g.turn:
			if st.Turn == g.turn { // not taken yet, so that no other guardian wakes anybody
				g.wake(turn.Change{After: st, Unclaimed: true})
			}
			return true, fsroom.Sleep{}, nil
		}
		if agent := st.Member(g.me.ID); agent != nil && g.facts(st).Gone(st, agent) {
			return true, fsroom.Sleep{}, g.giveUp(ctx, st, "the agent's process has ended")
		}
		if left := g.tell(st); left > 0 {
			return false, fsroom.Sleep{For: left}, nil
		}
		return g.keep(ctx, st)
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// tell wakes the other members a little after the turn was granted: from now on
// this process is the one whose end they have to watch for. The guardian of the
// turn before is woken with them, and ends. tell returns how long it is until then.
func (g *guardian) tell(st *turn.State) (left time.Duration) {
	if g.told {
		return 0
	}
	at := now()
	if g.granted.IsZero() {
		g.granted = at
	}
	if left = at.Left(g.granted, notifyDelay); left == 0 {
		g.told = true
		g.wake(turn.Change{After: st, GuardianChanged: true})
	}
	return left
}

// keep renews the lease when it is time to, and says when that is next. That the
// turn has ended is found out soon even if nobody rings, as when its recipient is
// stopped.
func (g *guardian) keep(ctx context.Context, st *turn.State) (done bool, sleep fsroom.Sleep, err error) {
	g.exits.watch(g.agentProcesses())
	interval := st.Policy.RenewalInterval()
	at := now() // one moment for both: a beat that falls due in between would be forgotten
	if at.Expired(g.beat, min(g.due, interval)) {
		if g.due == firstBeat && interval > firstBeat && g.recorded(st) {
			g.due = interval
			return false, fsroom.Sleep{Poll: time.Second, For: at.Left(g.beat, interval), Exit: g.exits.any()}, nil
		}
		mine, err := g.renew(ctx)
		switch {
		case err != nil: // a lock not had, a disk that is full: the lease has time
			g.beat, g.due = at, beatRetry
		case !mine:
			return true, fsroom.Sleep{}, nil
		default:
			if g.due == firstBeat { // only now is it recorded which process keeps the turn
				g.wake(turn.Change{After: st, GuardianChanged: true})
			}
			g.due = interval
		}
	}
	sleep = fsroom.Sleep{Poll: time.Second, For: max(at.Left(g.beat, min(g.due, interval)), time.Millisecond), Exit: g.exits.any()}
	if gone := st.UntilGone(g.facts(st), g.me.ID); gone > 0 {
		sleep.For = min(sleep.For, gone)
	}
	return false, sleep, nil
}

// recorded reports whether the turn is written down as this guardian's.
func (g *guardian) recorded(st *turn.State) bool {
	h := g.holdOf(st)
	return h != nil && h.Guardian != nil && *h.Guardian == g.self
}

// agentProcesses are those whose end ends the agent.
func (g *guardian) agentProcesses() []identity.Process {
	var r processRecord
	g.mine().Read(fileProcesses, &r)
	return r.Processes
}

// renew is the heartbeat. It reports false when the turn is over or another
// guardian keeps it.
func (g *guardian) renew(ctx context.Context) (mine bool, err error) {
	err = g.room.Locked(ctx, func(snap *snapshot) error {
		st := snap.State
		if st.Owner != g.me.ID || st.Turn != g.turn {
			return nil
		}
		h := hold{Agent: g.me.ID, Turn: st.Turn, Lease: st.Grant.Lease, Guardian: &g.self}
		var recorded hold
		if g.mine().Read(fileHold, &recorded) && recorded.of(st) {
			if other := recorded.Guardian; other != nil && *other != g.self && g.alive(other) && !st.LeaseExpired(g.facts(st)) {
				return nil // it keeps the lease, too, as one that is stuck does not
			}
		}
		h.Renewed = now()
		g.beat, mine = h.Renewed, true
		return g.mine().Write(fileHold, &h)
	})
	return mine, err
}

// giveUp records why nobody renews the lease any more, and wakes the others.
func (g *guardian) giveUp(ctx context.Context, st *turn.State, why string) error {
	defer g.wake(turn.Change{After: st, GuardianChanged: true})
	return g.room.Locked(ctx, func(snap *snapshot) error {
		var h hold
		if !g.mine().Read(fileHold, &h) || !h.of(snap.State) {
			return nil
		}
		h.Ended, h.EndedAt = why, event.NewTime(time.Now())
		return g.mine().Write(fileHold, &h)
	})
}
