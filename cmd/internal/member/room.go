package member

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/journal/event"
)

type (
	files    = fsroom.Room[*turn.State]
	snapshot = fsroom.Snapshot[*turn.State]
)

// A Room is one room as one agent uses it.
type Room struct {
	*Client
	FS        *files // the room as it is stored: its state, its events, and the files of its agents
	Workspace *workspace.Workspace
	News      News   // what the agent is told besides; nil: nothing
	Created   bool   // by SelectRoom: the room did not exist
	Warning   string // by SelectRoom: what the user should know about the choice
	JoinedAt  int64  // by Join: the last event of the room as the agent was found to be a member
	Visits    bool   // by Reaching: the agent works in another tree of the repository
	Asks      bool   // the agent asks for the turn: Join refuses with a [ClosedError] to open a room again of which it knows no end

	hosts     *hosts // the other hosts that share the room; nil: it is of this host alone
	restarted bool   // the guardian of the agent's turn had ended and was replaced
}

// own is the agent's own directory in the room.
func (r *Room) own() fsroom.Agent { return r.FS.Agent(r.Self.ID) }

// Ended reports whether the room counts as ended, see [turn.State.Ended].
func (r *Room) Ended(st *turn.State) bool {
	return st.Ended(r.time(), func() turn.Facts { return r.Facts(st) })
}

// IsMember reports whether the agent is a member.
func (r *Room) IsMember(st *turn.State) bool { return st.Member(r.Self.ID) != nil }

// notify wakes the agents that are concerned by something that is no change of the
// room, see [turn.State.Bystanders]. Changes notify by themselves. Which process renews the lease is for the agents
// of this host alone, which can watch it: [fsroom.Agent.NotifyHere].
func (r *Room) notify(st *turn.State, by func(fsroom.Agent)) {
	for _, id := range st.Bystanders() {
		by(r.FS.Agent(id))
	}
}

// A Decision is an [fsroom.Decision] that also depends on facts of the machine, which are
// valid for this call of it. It may be called more than once.
type Decision func(*turn.State, turn.Facts) ([]event.Event, error)

// Update changes the room and records the presence of the agent. It returns the
// changed room and the new events. seen is the room as the command has just read it, nil: it is read.
func (r *Room) Update(ctx context.Context, seen *snapshot, decide Decision) (*snapshot, []event.Event, error) {
	snap, events, err := r.updateThen(ctx, seen, decide, func() {})
	if err == nil {
		r.RecordPresence(ctx, snap.State)
	}
	return snap, events, err
}

// UpdateAsPerson is [Room.Update] for what a person may do without having joined, and a
// visitor: one who is no member becomes an observer in the same change, unless decide refuses
// or changes nothing. The events of decide are the last ones of the change. Another harness
// has to be a member, and is refused by decide itself.
func (r *Room) UpdateAsPerson(ctx context.Context, seen *snapshot, decide Decision) (*snapshot, []event.Event, error) {
	if !r.IsHuman() && !r.Visits {
		return r.Update(ctx, seen, decide)
	}
	snap, events, err := r.Update(ctx, seen, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
		return turn.Joining(st, f, r.joinRequest(st.Policy, true), func(joined *turn.State) ([]event.Event, error) {
			return decide(joined, f)
		})
	})
	if err == nil {
		r.enterRooms()
	}
	return snap, events, err
}

// updateThen changes the room, and calls committed as [fsroom.Room.UpdateThen] does. An
// agent that has the turn on another host is refused.
func (r *Room) updateThen(ctx context.Context, seen *snapshot, decide Decision, committed func()) (*snapshot, []event.Event, error) {
	return r.change(ctx, seen, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
		if err := r.checkHost(st); err != nil {
			return nil, err
		}
		return decide(st, f)
	}, func(*turn.State) error { return nil }, committed)
}

// change changes the room in two steps. First decide is called on the room as it can be
// read without its lock, or as it was seen a moment ago, and again if that has changed: if it
// refuses or changes nothing, that is the answer, and the verdicts on processes, which are what takes time, are known
// after it. Then it is called on the room while that is locked, with facts that are
// gathered then, and what it returns now is committed, unless prepare, which is called only then, fails.
func (r *Room) change(ctx context.Context, seen *snapshot, decide Decision, prepare func(*turn.State) error, committed func(),
) (*snapshot, []event.Event, error) {
	if seen == nil {
		var err error
		if seen, err = r.FS.View(); err != nil {
			return nil, nil, err
		}
	}
	judged := make(verdicts)
	gather := func(st *turn.State) turn.Facts { return r.facts(st, caller{id: r.Self.ID}, judged) }
	changes := false
	err := r.Steadily(seen, func(now *snapshot) error {
		seen = now
		events, err := decide(seen.State, gather(seen.State))
		changes = err == nil && len(events) > 0
		return err
	})
	if !changes {
		return seen, nil, r.refused(ctx, seen.State, err)
	}
	after, events, err := r.FS.UpdateThen(ctx, func(st *turn.State) (events []event.Event, err error) {
		if events, err = decide(st, gather(st)); err == nil && len(events) > 0 {
			if err = r.hosts.withdrawProof(st, events); err == nil {
				err = prepare(st)
			}
		}
		return events, err
	}, committed)
	return after, events, r.refused(ctx, seen.State, err)
}

// refused records the presence of the agent if its command was refused, which is a
// sign of it as any other command is.
func (r *Room) refused(ctx context.Context, st *turn.State, err error) error {
	if err != nil && !errors.Is(err, errStays) {
		r.RecordPresence(ctx, st)
	}
	return err
}

// errStays is why an agent stays a member whose session has ended. It is no refusal of a command.
var errStays = errors.New("the session goes on in another process, has a job that runs in its turn, or has to be told something when it is resumed")

// Leave removes the agent from the room and ends its turn. isOwed is set for an agent whose session has ended in this process:
// then it fails if that is open in another process by the time the room is locked, if a job runs in its turn, or if isOwed reports
// that something waits for the session to be resumed.
func (r *Room) Leave(ctx context.Context, isOwed func(*turn.State) bool) (res turn.LeaveResult, err error) {
	snap, _, err := r.endTurn(ctx, r.Self.ID, func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
		if err := r.CheckWindow(st); err != nil {
			return nil, err
		}
		works := st.Owner == r.Self.ID && r.RunningJob(r.Self.ID) != nil
		if isOwed != nil && (works || isOwed(st) || r.isOpenBeside(r.processRecord(r.Self.ID).Processes, r.Self.Root)) {
			return nil, errStays
		}
		events, res, err = turn.Leave(st, f, r.Self.ID)
		return events, err
	}, func() {
		r.unwant(r.Self.ID)
		r.leaveRooms(r.Self.ID)
	})
	if err == nil {
		r.CallWanting(snap.State, r.Facts(snap.State))
	}
	return res, err
}

// Kick removes another member.
func (r *Room) Kick(ctx context.Context, request turn.KickRequest) (res turn.LeaveResult, err error) {
	snap, _, err := r.endTurn(ctx, request.Target, func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
		events, res, err = turn.Kick(st, f, request)
		return events, err
	}, func() {
		r.unwant(request.Target)
		r.leaveRooms(request.Target)
	})
	if err == nil {
		r.RecordPresence(ctx, snap.State)
		r.CallWanting(snap.State, r.Facts(snap.State))
	}
	return res, err
}
