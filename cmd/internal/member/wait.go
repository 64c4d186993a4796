package member

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// An Output is where the answer to a request for the turn goes.
type Output interface {
	// Answer prints the result. It is called once.
	Answer(turn.WaitResult) error
	// Waiting is called after each look at the room that brought no answer.
	Waiting(turn.WaitResult)
}

// News is what the agent is told with a turn, and what may end a wait besides the turn.
// Package mailbox has it.
type News interface {
	// Briefing returns the briefing for a turn that came with the handoff of an event. st
	// is the room before the grant. When it was printed, shown is called with the room then.
	Briefing(ctx context.Context, st *turn.State, handoff int64) (b turn.Briefing, shown func(*turn.State))
	// Await is [fsroom.Room.AwaitBoth] for the agent, beside all that may have news for it.
	Await(ctx context.Context, inspect fsroom.Inspect[*turn.State]) error
	// Look returns what has come for the agent that it was not shown and that ends a wait.
	Look(ctx context.Context, st *turn.State) (Found, error)
}

// Found is what has come for an agent.
type Found struct {
	News  any           // nil: nothing
	Shown func()        // called when it was printed
	More  time.Duration // how long to wait for what comes together with it
}

// Try looks at the room once, and claims the turn if it is the agent's.
func (r *Room) Try(ctx context.Context, out Output) error {
	t := turnRequest{Room: r, out: out, since: r.waitingSince(), lease: fsroom.NewLease()}
	snap, err := r.FS.View()
	if err != nil {
		return err
	}
	if _, err := t.try(ctx, snap); err != nil {
		return err
	}
	t.actsForOwner()
	return t.answer(ctx)
}

// takePatience is how long a takeover waits for what the turn that it ends has changed.
const takePatience = time.Second

// Take claims the turn or takes it over. The room is one of [Client.SelectRoom]; if it
// exists, an agent that is no member becomes one with the takeover, a person an observer.
func (r *Room) Take(ctx context.Context, request turn.TakeRequest, out Output) (err error) {
	if r.Created {
		r.Asks = true
		var closed *ClosedError
		if _, err := r.join(ctx, false); errors.As(err, &closed) {
			return out.Answer(closed.Result)
		} else if err != nil {
			return err
		}
	}
	snap, err := r.FS.View()
	if err != nil {
		return err
	}
	r.RecordPresence(ctx, snap.State)
	request.Join = r.joinRequest(snap.State.Policy, r.IsHuman())
	request.Waited = r.elapsed(r.waitingSince())
	t := turnRequest{Room: r, out: out, joins: !r.IsMember(snap.State), auto: request.Auto, lease: request.Lease}
	owner, end := snap.State.Owner, (*TurnEnd)(nil)
	if owner != "" && owner != r.Self.ID {
		end = r.turnEndOf(ctx, snap, owner, takePatience, func(st *turn.State) error {
			_, _, err := turn.Take(st, r.Facts(st), request)
			return err
		})
	}
	recorded := sync.OnceFunc(func() { _, _ = end.Result() }) // the beginning is recorded after it
	defer recorded()
	if _, err := t.request(ctx, snap, func(st *turn.State, f turn.Facts) ([]event.Event, turn.WaitResult, error) {
		var changed []event.Event
		if owner != "" && st.Owner == owner {
			changed = end.Events(st)
		}
		request.Trees, request.Window = turn.TreesOf(changed), r.HeldByOtherWindow(st)
		events, res, err := turn.Take(st, f, request)
		if err == nil && len(events) > 0 {
			events = append(changed, events...)
		}
		if code.Of(err) == code.AgentElsewhere {
			err = r.checkHost(st) // it knows the guardian there too
		}
		return events, res, err
	}); err != nil {
		return err
	}
	recorded()
	return t.answer(ctx)
}

// Wait waits until the turn is the agent's, until there is another answer, or until
// the limit has passed. The end of ctx ends it between two looks at the room, or while
// one waits for the room's lock; a turn that was granted is answered even then. With
// park it takes only a turn that is meant for the agent. With inbox it also ends when there
// is something that the agent was not shown. The agent is a member.
func (r *Room) Wait(ctx context.Context, limit time.Duration, park, inbox bool, out Output) error {
	since := r.beginWait()
	if inbox { // first: who sees that the agent waits also sees that it waits for messages
		stop, err := r.own().Hold(inboxFile)
		if err != nil {
			return err
		}
		defer stop()
	}
	stopWaiting, err := r.own().Hold(waitingFile)
	if err != nil {
		return err
	}
	defer stopWaiting()
	if err := r.own().EnsureWakeFile(); err != nil {
		return err
	}
	t := turnRequest{Room: r, out: out, park: park, since: since, inbox: inbox, lease: fsroom.NewLease()}
	if err := t.wait(ctx, limit); err != nil {
		return err
	}
	if t.result.Status != turn.WaitClosed { // the directory of a room that has ended is gone
		_ = r.own().Mark(waitingFile, r.time())
		if t.result.HeldBy == 0 {
			r.recordSeen()
		}
	}
	return t.answer(ctx)
}

// A turnRequest is one request for the turn.
type turnRequest struct {
	Room  *Room
	out   Output
	park  bool
	inbox bool      // end also with what has come for the agent
	since time.Time // when the agent began to wait; zero: it has not waited
	auto  bool      // a hook asks for the agent
	joins bool      // the agent becomes a member with the grant
	lease string    // the id that a grant to this request has

	first    *turn.State     // the room when the request began; nil: not looked at yet
	memberAt int64           // the last event at which the agent was seen to be a member; 0: none
	facts    turn.Facts      // of the last look
	proof    turn.Proof      // begun with the last decision
	grant    grant           // of the turn, as soon as it is about to be granted
	result   turn.WaitResult // of the last look
	isNew    bool            // the turn was granted by this request
	begin    func()          // records the beginning of the turn that was granted; nil: nothing is recorded
	exits    ExitWatcher

	before *turn.State       // the room that the rule decided on
	after  *turn.State       // the room after that
	shown  func(*turn.State) // called when the result was printed; nil: nothing is
}

// wait looks at the room until there is an answer, the limit has passed, or
// untilSignal ends.
func (t *turnRequest) wait(untilSignal context.Context, limit time.Duration) error {
	ctx, stop := context.WithTimeout(untilSignal, limit)
	defer stop()
	defer t.exits.Close()
	var failed error // of a look: returned whatever else ends the wait at the same time
	err := t.await(ctx, func(snap *snapshot) (bool, fsroom.Sleep, error) {
		before := t.Room.Now()         // so that a deadline that passes during the look is still ahead
		var running []identity.Process // jobs, of whose end the wait tells
		if t.inbox {
			running = t.Room.SettleJobs(untilSignal)
		}
		done, err := t.try(untilSignal, snap)
		more := time.Duration(0)
		if err == nil && !done && t.inbox {
			done, more, err = t.lookForNews(ctx, snap.State)
		}
		if err == nil && !done && more == 0 {
			done = t.actsForOwner()
		}
		if away := t.Room.hosts.away(err); away || errors.Is(err, context.Canceled) || (isLockTimeout(err) && ctx.Err() == nil) {
			// The lock was not had, or the engine not reached. There is time to look
			// again, or a signal ends the wait.
			t.result = snap.State.NotYet(t.facts, 0)
			if away {
				return false, fsroom.Sleep{For: awayPoll}, nil
			}
			return false, fsroom.Sleep{For: time.Millisecond}, nil
		}
		if failed = err; done || err != nil {
			return true, fsroom.Sleep{}, err
		}
		t.out.Waiting(t.result)
		st, f := snap.State, t.facts // what was looked up for this look is not looked up again
		if t.after != nil {
			st = t.after
		}
		f.Now = before
		t.exits.Watch(append(t.Room.watched(st), running...))
		sleep := fsroom.Sleep{For: st.NextDeadline(f, t.Room.Self.ID), Exit: t.exits.C()}
		if more > 0 && (sleep.For == 0 || more < sleep.For) {
			sleep.For = more
		}
		return false, sleep, nil
	})
	if failed != nil || (err != nil && ctx.Err() == nil) {
		return err
	}
	unseen := t.result.Status == "" // the first look failed
	if unseen && !errors.Is(err, context.Canceled) && !t.Room.hosts.away(err) {
		return err
	}
	if _, away := t.Room.Unreachable(); unseen || away != nil && t.result.Status == turn.NotYet {
		said := t.result.Evidence
		t.result = t.Room.notYet(away)
		t.result.Evidence = said
	}
	return nil
}

// await is [fsroom.Room.AwaitAs], or with an inbox [News.Await].
func (t *turnRequest) await(ctx context.Context, inspect fsroom.Inspect[*turn.State]) error {
	if !t.inbox {
		return t.Room.FS.AwaitAs(ctx, t.Room.Self.ID, inspect)
	}
	return t.Room.News.Await(ctx, inspect)
}

// actsForOwner reports whether the agent is to wait for one that has started it, which would wait
// for itself if that waits for its end. The result says so.
func (t *turnRequest) actsForOwner() bool {
	owner, r := t.result.CurrentOwner, t.Room
	if t.result.Status != turn.NotYet || owner == "" || owner == r.Self.ID || !r.StartedByOwner(t.after, r.Self.Harness, r.Self.Root) {
		return false
	}
	t.result.Evidence.Hint = owner + " has started you: you act for it, do not wait"
	return true
}

// lookForNews reports whether something has come for the agent that it was not shown,
// and sets the result to it. If more is not zero, the agent waits so long for what comes
// together with it.
func (t *turnRequest) lookForNews(ctx context.Context, st *turn.State) (done bool, more time.Duration, err error) {
	found, err := t.Room.News.Look(context.WithoutCancel(ctx), st)
	if err != nil || found.News == nil {
		return false, 0, err
	}
	if end, limited := ctx.Deadline(); found.More > 0 && (!limited || time.Until(end) > found.More) {
		return false, found.More, nil
	}
	t.shown = func(*turn.State) { found.Shown() }
	t.result.Status, t.result.Inbox = turn.WaitInbox, found.News
	return true, 0, nil
}

// isLockTimeout reports whether err is or comes from lock_timeout.
func isLockTimeout(err error) bool { return comesFrom(err, code.LockTimeout) }

// try requests the turn by [turn.Try].
func (t *turnRequest) try(ctx context.Context, snap *snapshot) (done bool, err error) {
	request := turn.TryRequest{Agent: t.Room.Self.ID, Lease: t.lease, Park: t.park, Auto: t.auto}
	return t.request(ctx, snap, func(st *turn.State, f turn.Facts) ([]event.Event, turn.WaitResult, error) {
		if err := t.Room.checkHost(st); err != nil {
			return nil, turn.WaitResult{}, err
		}
		request.Waited, request.Woken, request.Window = t.Room.elapsed(t.since), t.Room.wasWoken(st), t.Room.HeldByOtherWindow(st)
		return turn.Try(st, f, request)
	})
}

// A turnRule decides on a request for the turn.
type turnRule func(*turn.State, turn.Facts) ([]event.Event, turn.WaitResult, error)

// request requests the turn by a rule and stores the result. It reports whether there
// is nothing to wait for. When it returns nil after a grant, the turn has a guardian.
// ctx ends only the waiting for the room's lock.
func (t *turnRequest) request(ctx context.Context, snap *snapshot, rule turnRule) (done bool, err error) {
	afterLock := context.WithoutCancel(ctx)
	decide := func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
		t.before, t.facts, t.proof = st, f, t.Room.hosts.proof()
		events, t.result, err = rule(st, f)
		return events, err
	}
	prepare := func(st *turn.State) error {
		return t.Room.prepare(&t.grant, t.fence(), st.Policy, t.proof, !t.auto)
	}
	for {
		if t.first == nil {
			t.first, t.memberAt = snap.State, t.Room.JoinedAt
		}
		if t.Room.IsMember(snap.State) {
			t.memberAt = snap.State.Seq
		}
		after, _, err := t.Room.change(ctx, snap, decide, prepare, func() { t.granted(afterLock) })
		if !t.isNew {
			t.Room.abandon(afterLock, &t.grant, err)
		}
		if t.isClosed(afterLock, err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		t.after = after.State
		switch {
		case t.isNew:
			return true, nil
		case t.result.Status == turn.YourTurn && t.grantedToAnother():
			if done, err := t.tellOther(afterLock); done || err != nil {
				return true, err
			}
			if snap, err = t.Room.FS.View(); err != nil {
				return false, err
			}
			continue
		case t.result.Status == turn.YourTurn: // it was when the room was read, without its lock
			err := t.resume(ctx)
			if !isOvertaken(err) {
				return true, err
			}
			if snap, err = t.Room.FS.View(); err != nil {
				return false, err
			}
			continue
		}
		return t.result.Status != turn.NotYet, nil
	}
}

// isClosed reports whether the room was closed while the agent was a member, and adds by whom
// and why to the result. That is also the answer if the agent is no member because the room has
// ended since, or its next life has begun; err is the refusal then.
func (t *turnRequest) isClosed(ctx context.Context, err error) bool {
	late := code.Of(err) == code.NotJoined && t.memberAt > 0
	if !late && (err != nil || t.result.Status != turn.WaitClosed) {
		return false
	}
	closed, by, reason := t.Room.closedSince(ctx, t.memberAt)
	if late && !closed { // a mirror may not know yet that the room has ended since
		snap, err := t.Room.FS.Confirm(ctx)
		closed = err == nil && !snap.State.Open
	}
	if closed {
		t.result = turn.WaitResult{Status: turn.WaitClosed, RoomID: t.Room.FS.Name(), From: by, Reason: reason}
	}
	return closed || !late
}

func (t *turnRequest) fence() turn.Fence {
	return turn.Fence{Agent: t.Room.Self.ID, Turn: t.result.TurnID, Lease: t.result.LeaseID}
}

// granted records a grant when it is durable. The room is still locked.
func (t *turnRequest) granted(ctx context.Context) {
	t.isNew = true
	if t.joins {
		t.Room.recordArrival()
	}
	t.begin = t.Room.Recorder().Begin(ctx, t.before, t.fence(), !t.auto)
	t.result.GuardianPID = t.grant.lease.Guardian.PID
	t.Room.forgetWait()
	t.Room.Unwant(false)
}

// answer prints the result. Nobody is told to write before the beginning of the turn is recorded. What
// was printed counts as seen after that.
func (t *turnRequest) answer(ctx context.Context) error {
	var failed error
	switch {
	case t.isNew && t.grant.failure != nil:
		failed = notStarted(t.result.TurnID, t.grant.failure)
	case t.result.Status == turn.YourTurn:
		failed = ownedError(t.result.TurnID, t.tell(context.WithoutCancel(ctx)))
	}
	if t.begin != nil {
		t.begin()
		if lost := t.Room.StillHolds(t.fence()); isOvertaken(lost) { // since the room was unlocked
			return lost
		}
	}
	if failed == nil {
		failed = t.out.Answer(t.result)
	}
	if failed == nil && t.shown != nil {
		t.shown(t.after)
	}
	return failed
}

// grantedToAnother reports whether the turn that the agent has was granted to another of
// its processes after this request began. That process has been told so, and this one must
// not be told it too: two processes of one agent would work at once.
func (t *turnRequest) grantedToAnother() bool {
	return t.result.TurnID > t.first.Turn && t.result.LeaseID != t.lease
}

// tellOther answers that another process of the agent was granted the turn, and reports
// whether that is still so. The room is locked for it: who is granted a turn records it
// before unlocking the room.
func (t *turnRequest) tellOther(ctx context.Context) (told bool, err error) {
	err = t.Room.FS.Locked(ctx, func(snap *snapshot) error {
		if told = snap.State.Fence() == t.fence(); told {
			f := t.Room.Facts(snap.State)
			t.result = snap.State.NotYet(f, 0)
			t.result.GrantedTo = f.Lease.GrantedTo
		}
		return nil
	})
	return told, err
}

// resume makes sure that a turn the agent already had is still its own and has a
// guardian. If another agent has the turn, the error is that of [turn.State.Check].
func (t *turnRequest) resume(ctx context.Context) (err error) {
	t.Room.recordSeen() // first, see Keep
	t.result.GuardianPID, err = t.Room.Keep(ctx, t.fence(), !t.auto)
	return ownedError(t.result.TurnID, err)
}

// tell adds to the result what the agent is told with its turn: the handoff and the briefing.
func (t *turnRequest) tell(ctx context.Context) (err error) {
	r, res := t.Room, &t.result
	if res.Handoff, res.HandoffLost, err = r.readHandoff(ctx, res.HandoffSeq); err == nil && r.News != nil {
		res.Briefing, t.shown = r.News.Briefing(ctx, t.before, res.HandoffSeq)
	}
	if len(res.Handoff) > 0 {
		res.Verified = r.Recorder().Verified(ctx, t.before)
	}
	return err
}

// isOvertaken reports whether err says that the turn is not the agent's any more.
func isOvertaken(err error) bool {
	switch code.Of(err) {
	case code.TurnMismatch, code.StaleLease, code.RoomClosed:
		return true
	}
	return false
}

// ownedError turns an error that came after the grant into one that says that the turn
// is the agent's all the same.
func ownedError(turnID int64, err error) error {
	if err == nil || isOvertaken(err) || code.Of(err) == code.GuardianFailed {
		return err
	}
	return notStarted(turnID, err)
}

// readHandoff returns the handoff of an event. Event 0 has none. lost reports that the journal has
// lost the event.
func (r *Room) readHandoff(ctx context.Context, seq int64) (handoff json.RawMessage, lost bool, err error) {
	if seq == 0 {
		return nil, false, nil
	}
	e, err := r.FS.Event(ctx, seq)
	if err != nil {
		return nil, false, err
	}
	return e.Handoff, e.Type == event.Damaged, nil
}
