package ttcmd

import (
	"context"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/journal/event"
)

// A seat is the caller's place in one room.
type seat struct {
	*desk
	room      *room
	workspace *workspace.Workspace
	first     *snapshot  // how the room was found; nil if it was not read yet
	decided   turn.Facts // of the last decision, see update
	draft     *draft     // the handoff being written in an editor; nil: none is
	proxy     bool       // a guardian works in the agent's name: that is no sign of the agent
}

// view returns the room: as it was found if that was just now, else read anew.
func (s *seat) view() (*snapshot, error) {
	if snap := s.first; snap != nil {
		s.first = nil
		return snap, nil
	}
	return s.room.View()
}

// mine is the caller's own directory in the room.
func (s *seat) mine() fsroom.Agent { return s.room.Agent(s.me.ID) }

// ended reports whether the room counts as ended, see [turn.State.Ended].
func (s *seat) ended(st *turn.State) bool {
	return st.Ended(time.Now(), func() turn.Facts { return s.facts(st) })
}

// wake makes those look at the room whom something concerns that is no change of
// it, see [turn.WhoToNotify]. Changes wake by themselves.
func (s *seat) wake(c turn.Change) {
	for _, id := range turn.WhoToNotify(c) {
		s.room.Agent(id).Notify()
	}
}

// isMember reports whether the caller is a member.
func (s *seat) isMember(st *turn.State) bool { return st.Member(s.me.ID) != nil }

// present records that the caller was here, if it is a member, and gives a turn
// of its own whose guardian has ended a new one. Presence is no event: it is
// written without lock or sync, and losing it loses a timestamp.
func (s *seat) present(ctx context.Context, st *turn.State) {
	if !s.isMember(st) {
		return
	}
	s.touch()
	s.mendGuardian(ctx, st)
}

// touch is present for a caller that is known to be a member.
func (s *seat) touch() {
	_ = s.mine().Mark(markSeen, time.Now())
	s.recordProcess()
}

// update changes the room. The facts that decide are gathered outside the lock,
// by deciding once on the room as it can be read without it; a refusal there
// is the answer.
func (s *seat) update(ctx context.Context, decide decision) (*snapshot, []event.Event, error) {
	return s.updateThen(ctx, decide, func() {})
}

// A decision is [fsroom.Decision] with what the machine knows.
type decision func(*turn.State, turn.Facts) ([]event.Event, error)

// updateThen is update that calls committed, see [fsroom.Room.UpdateThen].
func (s *seat) updateThen(ctx context.Context, decide decision, committed func()) (*snapshot, []event.Event, error) {
	snap, err := s.view()
	if err != nil {
		return nil, nil, err
	}
	facts := s.facts(snap.State)
	s.decided = facts
	events, err := decide(snap.State, facts)
	if err != nil || len(events) == 0 {
		return snap, nil, s.explainLoss(ctx, err)
	}
	after, events, err := s.room.UpdateThen(ctx, func(st *turn.State) ([]event.Event, error) {
		if st.Seq != snap.State.Seq {
			facts = s.facts(st) // what was known was of another turn
		}
		facts.Now = now()
		s.renewal(st, &facts)
		return decide(st, facts)
	}, committed)
	return after, events, s.explainLoss(ctx, err)
}
