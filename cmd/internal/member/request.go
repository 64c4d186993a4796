package member

import (
	"context"
	"encoding/json"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A turnRequest is one request for the turn.
type turnRequest struct {
	Room  *Room
	out   Output
	park  bool
	inbox bool            // end also with what has come for the agent
	since time.Time       // when the agent began to wait; zero: it has not waited
	auto  bool            // a hook asks for the agent
	ended *hearing.Ending // of a wait: how the session had ended before; nil: it is none
	joins bool            // the agent becomes a member with the grant
	lease string          // the id that a grant to this request has

	first    *turn.State            // the room when the request began; nil: not looked at yet
	memberAt int64                  // the last event at which the agent was seen to be a member; 0: none
	facts    turn.Facts             // of the last look
	proof    turn.Proof             // begun with the last decision
	grant    grant                  // of the turn, as soon as it is about to be granted
	result   turn.WaitResult        // of the last look
	isNew    bool                   // the turn was granted by this request
	begin    func() json.RawMessage // records the beginning of the turn that was granted, see [Recorder]; nil: nothing is recorded
	exits    ExitWatcher
	found    Found // what has come for the agent while it waited; a room that is closed has it no more

	before *turn.State       // the room that the rule decided on
	after  *turn.State       // the room after that
	shown  func(*turn.State) // called when the result was printed; nil: nothing is
}

// try requests the turn by [turn.Try].
func (t *turnRequest) try(ctx context.Context, snap *snapshot) (done bool, err error) {
	request := turn.TryRequest{Agent: t.Room.Self.ID, Lease: t.lease, Park: t.park, Auto: t.auto}
	return t.request(ctx, snap, func(st *turn.State, f turn.Facts) ([]event.Event, turn.WaitResult, error) {
		if err := t.Room.checkHost(st); err != nil {
			return nil, turn.WaitResult{}, err
		}
		if t.isOver() {
			return nil, st.NotYet(f), nil
		}
		request.Waited, request.Woken = t.Room.elapsed(t.since), t.Room.wasWoken(st)
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
		case t.result.Status == turn.YourTurn && t.result.TurnID > t.first.Turn && t.result.LeaseID != t.lease:
			// It was granted to another process of the agent after this request began. That one has been told so,
			// and this one must not be told it too: two processes of one agent would work at once.
			if done, err := t.tellOther(afterLock); done || err != nil {
				return true, err
			}
		case t.result.Status == turn.YourTurn: // it was when the room was read, without its lock
			if err := t.resume(ctx); !IsOvertaken(err) {
				return true, err
			}
		default:
			return t.result.Status != turn.NotYet, nil
		}
		if snap, err = t.Room.FS.View(); err != nil { // it has changed hands
			return false, err
		}
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
	end, _ := t.Room.closing(ctx, t.memberAt, true)
	if late && end == nil { // a mirror may not know yet that the room has ended since
		if snap, err := t.Room.FS.Confirm(ctx); err == nil && !snap.State.Open {
			end = &event.Event{}
		}
	}
	if end != nil {
		t.result = turn.WaitResult{Status: turn.WaitClosed, RoomID: t.Room.FS.Name(), From: end.From, Reason: end.Reason}
	}
	return end != nil || !late
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
	t.begin = t.Room.Recorder(t.before).Begin(ctx, t.before, t.fence(), !t.auto)
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
		t.Room.forgetWait()
		failed = ownedError(t.result.TurnID, t.tell(context.WithoutCancel(ctx)))
	}
	if t.begin != nil {
		if outside := t.begin(); outside != nil {
			t.result.Briefing.AddChange(outside)
		}
		if lost := t.Room.StillHolds(t.fence()); IsOvertaken(lost) { // since the room was unlocked
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

// tellOther answers that another process of the agent was granted the turn, and reports
// whether that is still so. The room is locked for it: who is granted a turn records it
// before unlocking the room.
func (t *turnRequest) tellOther(ctx context.Context) (told bool, err error) {
	err = t.Room.FS.Locked(ctx, func(snap *snapshot) error {
		if told = snap.State.Fence() == t.fence(); told {
			f := t.Room.Facts(snap.State)
			t.result = snap.State.NotYet(f)
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
		res.Verified = r.Recorder(t.before).Verified(ctx, t.before)
	}
	res.Briefing.Changes, res.Verified = append([]json.RawMessage{}, res.Briefing.Changes...), orEmpty(res.Verified)
	return err
}

// orEmpty returns a list as JSON, an empty one for nil.
func orEmpty(list json.RawMessage) json.RawMessage {
	if list == nil {
		return json.RawMessage("[]")
	}
	return list
}

// IsOvertaken reports whether err says that the turn is not the agent's any more.
func IsOvertaken(err error) bool {
	switch code.Of(err) {
	case code.TurnMismatch, code.StaleLease, code.RoomClosed:
		return true
	}
	return false
}

// ownedError turns an error that came after the grant into one that says that the turn
// is the agent's all the same.
func ownedError(turnID int64, err error) error {
	if err == nil || IsOvertaken(err) || code.Of(err) == code.GuardianFailed {
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
