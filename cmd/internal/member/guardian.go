package member

import (
	"context"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// A guardian is the process that renews the lease of one turn. It ends when the agent's
// processes have ended, when another guardian renews the lease, or when the turn has ended
// and no member is left whom it has to notify that the turn is free.
type guardian struct {
	Room  *Room
	turn  int64
	lease string // a digest of the fencing token of the turn; "": not known
	self  identity.Process
	exits ExitWatcher

	started  turn.Instant
	granted  turn.Instant  // when the turn was first seen; zero: not yet
	notified bool          // the other members know that this process renews the lease
	renewed  turn.Instant  // the last renewal, or attempt
	due      time.Duration // when the next one is due after it
	recorded turn.Instant  // when the tree was recorded last; zero: not by this process
}

const (
	// grantPatience is how long a guardian waits for the grant of its turn, where the room as
	// this host knows it does not have that yet.
	grantPatience = 10 * time.Second
	// firstRenewal is when a guardian first checks that it is recorded as the turn's:
	// a wait that was killed could not write the record.
	firstRenewal = 2 * time.Second
	// retryDelay is how long it waits after a renewal that failed.
	retryDelay = 5 * time.Second
	// publishPatience bounds how long it waits for the engine to have what it says.
	publishPatience = 2 * time.Second
	// notifyDelay is how long after a grant the other members are notified, so that
	// they do not compete for the processor with the agent that has the turn.
	notifyDelay = 20 * time.Millisecond
	// mostFailures is how many looks at the room may fail.
	mostFailures = int(abandonedAfter / retryDelay)
	// abandonedAfter is for how long after the end of the lease a guardian tries to reach an
	// engine that is away. When that is back, the next command of the agent starts another.
	abandonedAfter = 30 * time.Minute
	// guardianPoll is how often a guardian looks whether its turn has ended without a
	// notification, as when the recipient is stopped.
	guardianPoll = time.Second
	// autoPoll is how often it looks whether the holder of a turn that a hook has taken is
	// idle for so long that the turn ends.
	autoPoll = 10 * time.Second
	// shortestTick is how much time is between two records of the tree at least.
	shortestTick = 20 * time.Millisecond
)

// Guard renews the lease of one turn of the agent until the turn ends. It is what a
// guardian process does. lease is the digest of the turn's fencing token.
func (c *Client) Guard(ctx context.Context, roomName string, turnID int64, lease string) error {
	r := c.Room(roomName, nil)
	if !r.FS.Exists() {
		return nil
	}
	g := &guardian{Room: r, turn: turnID, lease: lease, self: c.Table.Self(), started: c.Now(), due: firstRenewal}
	g.renewed = g.started
	look := func(snap *snapshot) (bool, fsroom.Sleep, error) { return g.look(ctx, snap.State) }
	if r.IsShared() {
		away, back := context.WithCancel(ctx)
		defer back()
		go g.recordAway(away, r.Known())
	}
	err := r.FS.AwaitAs(ctx, c.Self.ID, look)
	for tries := 1; err != nil && ctx.Err() == nil && tries < mostFailures; tries++ { // it may be read again soon
		select {
		case <-ctx.Done():
		case <-time.After(retryDelay):
			err = r.FS.AwaitAs(ctx, c.Self.ID, look)
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	if snap, err := r.FS.View(); err == nil {
		r.Recorder(snap.State).Ended(ctx)
	}
	return err
}

// look does what is due, and says whether the guardian's work is done and when it has
// to look again.
func (g *guardian) look(ctx context.Context, st *turn.State) (done bool, sleep fsroom.Sleep, err error) {
	switch {
	case st.Turn < g.turn && st.Open && !g.Room.Now().Expired(g.started, grantPatience):
		return false, fsroom.Sleep{For: grantPatience}, nil
	case st.Turn < g.turn && st.Open && g.isUnderWay(ctx):
		return false, fsroom.Sleep{For: awayPoll}, nil
	case !g.guards(st):
		return g.afterTurn(st)
	}
	if g.Room.IsAuto(st) {
		ended, _, err := g.Room.EndAuto(ctx, g.isOver, func() bool { return false })
		if ended || comesFrom(err, code.LockTimeout) {
			return false, fsroom.Sleep{For: time.Millisecond}, nil
		}
	}
	if g.isGone(st) {
		ended, err := g.endLease(ctx, g.whyGone(st))
		switch {
		case g.isAbandoned(st, err):
			return true, fsroom.Sleep{}, nil
		case g.Room.hosts.away(err): // the others are told when the engine is back
			return false, fsroom.Sleep{For: retryDelay}, nil
		case comesFrom(err, code.LockTimeout), err == nil && !ended:
			return false, fsroom.Sleep{For: time.Millisecond}, nil
		}
		return true, fsroom.Sleep{}, err
	}
	if left := g.notifyOthers(st); left > 0 {
		return false, fsroom.Sleep{For: left}, nil
	}
	return g.renewIfDue(ctx, st)
}

// guards reports whether the turn in progress is the guardian's.
func (g *guardian) guards(st *turn.State) bool {
	return st.Owner == g.Room.Self.ID && st.Turn == g.turn && (g.lease == "" || g.lease == digest(st.Fence()))
}

// facts are those on which the guardian decides.
func (g *guardian) facts(st *turn.State) turn.Facts {
	return g.Room.facts(st, caller{isGuardian: true}, make(verdicts))
}

// isOver reports whether a turn that a hook has taken is over: its process has ended, or its model
// is idle for too long.
func (g *guardian) isOver(st *turn.State) bool {
	return g.guards(st) && (g.isGone(st) || st.IdleFor(g.facts(st)) == 0)
}

// isGone reports whether the agent is known to have ended.
func (g *guardian) isGone(st *turn.State) bool {
	agent := st.Member(g.Room.Self.ID)
	return agent != nil && g.facts(st).Gone(st, agent)
}

// whyGone says in words why isGone holds.
func (g *guardian) whyGone(st *turn.State) string {
	if g.facts(st).Presence(g.Room.Self.ID).SessionEnded {
		return "the agent's session has ended"
	}
	return "the agent's process has ended"
}

// isUnderWay reports whether the grant of the turn, which the guardian has waited for long
// enough, may be being committed: a process has the room's lock, or the engine is away, which
// may have got it. One that is away for so long that it may be gone for good is not waited for.
func (g *guardian) isUnderWay(ctx context.Context) (granted bool) {
	err := g.Room.FS.Locked(ctx, func(snap *snapshot) error {
		granted = snap.State.Turn >= g.turn
		return nil
	})
	return granted || comesFrom(err, code.LockTimeout) || g.Room.hosts.away(err) && !g.Room.Now().Expired(g.started, abandonedAfter)
}

// afterTurn does what is due when the turn has ended and no other one has begun, so that
// no new guardian notifies anybody. The guardian stays while the turn is offered to members
// that listen, one after the other.
func (g *guardian) afterTurn(st *turn.State) (done bool, sleep fsroom.Sleep, err error) {
	if st.Turn != g.turn || st.Owner != "" {
		return true, fsroom.Sleep{}, nil
	}
	g.Room.notify(st, fsroom.Agent.Notify)
	offer := st.Offer(g.facts(st))
	if offer.Notify != "" {
		g.Room.Client.Store.NotifyListener(offer.Notify)
	}
	again := turn.Soonest(offer.Again, g.Room.CallWanting(st, g.facts(st)))
	return again == 0, fsroom.Sleep{Poll: guardianPoll, For: again}, nil
}

// notifyOthers wakes the other members a little after the grant: they have to watch
// for the end of this process now. The guardian of the turn before is woken too, and
// ends. notifyOthers returns how long it is until it has to be called again, 0 when it is done.
func (g *guardian) notifyOthers(st *turn.State) (left time.Duration) {
	if g.notified {
		return 0
	}
	now := g.Room.Now()
	if g.granted.IsZero() {
		g.granted = now
	}
	if left = now.Left(g.granted, notifyDelay); left == 0 {
		g.notified = true
		g.Room.Recorder(st).Begun(st)
		g.Room.notify(st, fsroom.Agent.NotifyHere)
	}
	return left
}

// renewIfDue renews the lease when it is time to, and says when that is next.
func (g *guardian) renewIfDue(ctx context.Context, st *turn.State) (done bool, sleep fsroom.Sleep, err error) {
	g.exits.Watch(g.watched(st))
	interval := st.Renewed(g.Room.recorded(st)).RenewalInterval(st.Policy)
	now := g.Room.Now() // read once: a renewal that fell due between two readings would be forgotten
	first := g.due == firstRenewal
	switch {
	case !now.Expired(g.renewed, min(g.due, interval)):
	case first && interval > firstRenewal && g.Room.recorded(st).Guardian == turn.ProcessID(g.self):
		g.due = interval
	default:
		mine, err := g.renew(ctx)
		switch {
		case g.isAbandoned(st, err):
			return true, fsroom.Sleep{}, nil
		case err != nil: // the lock was not had, or the disk is full: the lease lasts longer than that
			g.renewed, g.due = now, retryDelay
		case !mine:
			return true, fsroom.Sleep{}, nil
		default:
			if first { // the record has named this process only since now
				g.Room.notify(st, fsroom.Agent.NotifyHere)
			}
			g.due = interval
		}
	}
	sleep = fsroom.Sleep{Poll: guardianPoll, For: max(now.Left(g.renewed, min(g.due, interval)), time.Millisecond), Exit: g.exits.C()}
	if gone := st.UntilGone(g.facts(st), g.Room.Self.ID); gone > 0 {
		sleep.For = min(sleep.For, gone)
	}
	if g.Room.IsAuto(st) {
		sleep.For = min(sleep.For, autoPoll)
	}
	sleep.For = turn.Soonest(sleep.For, g.Room.CallWanting(st, g.facts(st)), g.recordIfDue(st, now))
	return false, sleep, nil
}

// recordIfDue has the tree recorded when it is time to, and returns when that is next; 0 if it is not recorded by
// time.
func (g *guardian) recordIfDue(st *turn.State, now turn.Instant) time.Duration {
	every := max(time.Duration(st.Policy.LedgerTick)*time.Millisecond, shortestTick)
	if st.Policy.LedgerTick == 0 {
		return 0
	}
	if g.recorded.IsZero() { // the beginning of the turn was recorded
		g.recorded = now
	}
	if now.Expired(g.recorded, every) {
		g.recorded = now
		g.Room.Recorder(st).During(st)
	}
	return max(now.Left(g.recorded, every), time.Millisecond)
}

// recordAway has the tree recorded by time while the engine is away, until ctx ends: the room is not looked at then.
func (g *guardian) recordAway(ctx context.Context, known *Room) {
	for every := guardianPoll; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		every = guardianPoll
		if _, away := g.Room.Unreachable(); away == nil {
			continue
		}
		if snap, err := known.FS.View(); err == nil && g.guards(snap.State) && snap.State.Policy.LedgerTick > 0 {
			every = max(time.Duration(snap.State.Policy.LedgerTick)*time.Millisecond, shortestTick)
			known.Recorder(snap.State).During(snap.State)
		}
	}
}

// isAbandoned reports whether the engine is away, by the error, and has been for so long that
// it may be gone for good.
func (g *guardian) isAbandoned(st *turn.State, err error) bool {
	l := st.Renewed(g.Room.lease(st))
	return g.Room.hosts.away(err) && g.Room.Now().Expired(l.Renewed, l.TTL+abandonedAfter)
}

// watched returns the processes by whose end the turn may be over: those of the agent, the one that
// took the turn, and those of its jobs.
func (g *guardian) watched(st *turn.State) []identity.Process {
	watched := slices.Clone(g.Room.processRecord(g.Room.Self.ID).Processes)
	if h := identity.Process(g.Room.recorded(st).Holder); h != (identity.Process{}) && !slices.Contains(watched, h) {
		watched = append(watched, h)
	}
	if j := g.Room.RunningJob(g.Room.Self.ID); j != nil && j.Runner != nil {
		watched = append(watched, *j.Runner)
	}
	return watched
}

// renew renews the lease. It reports false when the turn is over or another guardian
// renews the lease.
func (g *guardian) renew(ctx context.Context) (mine bool, err error) {
	var renewed turn.Instant
	err = g.Room.renewLease(ctx, func(st *turn.State, l *turn.Lease) (bool, error) {
		mine = false
		if !g.guards(st) {
			return false, nil
		}
		if pid := g.Room.activeGuardian(st, l); pid != 0 && l.Guardian != turn.ProcessID(g.self) {
			return false, nil // one that is stuck would have let the lease expire
		}
		l.Renew(g.Room.Now(), st.Policy, turn.ProcessID(g.self)) // before others are told: what they believe lasts no longer
		renewed, mine = l.Renewed, true
		return true, nil
	})
	if err == nil && mine {
		g.renewed = renewed
	}
	return mine, err
}

// endLease records why the lease is not renewed any more, and notifies the others. It looks
// at the room anew while that is locked: the agent may be back, whose session was resumed,
// and then the guardian does not end. The proof goes with the record, because the others may
// take the turn over from then on.
func (g *guardian) endLease(ctx context.Context, why string) (ended bool, err error) {
	var left *turn.State // the room whose owner is gone
	err = g.Room.changeLease(ctx, func(st *turn.State, l *turn.Lease) (bool, error) {
		if !g.guards(st) {
			ended = true
			return false, nil
		}
		if ended = g.isGone(st); !ended {
			return false, nil
		}
		left = st
		l.Ended, l.Proof = turn.Ending{Why: why, At: event.NewTime(g.Room.time())}, turn.Proof{}
		return guardianOf(*l) != nil, nil
	})
	if left != nil { // other hosts look at once, and have to find the record
		g.Room.Client.Store.Published(publishPatience)
		g.Room.notify(left, fsroom.Agent.Notify)
		g.Room.CallWanting(left, g.facts(left))
	}
	return ended, err
}
