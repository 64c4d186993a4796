package ttcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// myFence is what the caller shows to act on its turn. Without a turn it is
// refused, as a stranger if it is one.
func (s *seat) myFence(ctx context.Context) (turn.Fence, error) {
	if h := s.myHold(); h != nil {
		return h.fence(), nil
	}
	snap, err := s.room.View()
	switch st := snap; {
	case err != nil:
		return turn.Fence{}, err
	case !s.isMember(st.State):
		return turn.Fence{}, s.explainLoss(ctx, turn.NotJoined(st.State, s.me.ID))
	default:
		return turn.Fence{}, s.explainLoss(ctx, turn.NoActiveLease(st.State, s.facts(st.State), s.me.ID))
	}
}

// explainLoss adds to a refusal of an agent that has no turn, or is no member, how
// that came about: it released the turn itself, somebody took it over, or somebody
// kicked the agent. Other errors are returned as they are.
func (s *seat) explainLoss(ctx context.Context, err error) error {
	var refusal *code.Error
	if !errors.As(err, &refusal) {
		return err
	}
	switch refusal.Code {
	case code.NotJoined, code.NoActiveLease, code.TurnMismatch, code.StaleLease:
	default:
		return err
	}
	loss := turn.Endings{Agent: s.me.ID}
	if _, readErr := s.room.Events(ctx, 0, func(e *event.Event) error { loss.Fold(e); return nil }); readErr != nil {
		return err
	}
	switch e := loss.Membership; {
	case e.Type == turn.Kicked:
		refusal.Message += fmt.Sprintf("; %s removed it (event %d)", e.From, e.Seq)
		if e.Reason != "" {
			refusal.Message += ": " + e.Reason
		}
		refusal.With("kicked_by", e.From).With("kick_event_seq", e.Seq)
		return err
	case refusal.Code == code.NotJoined:
		return err
	}
	if e := loss.Turn; e.Type == turn.Released || e.Type == turn.Passed {
		refusal.Message += fmt.Sprintf("; it ended turn %d itself (event %d)", e.Turn, e.Seq)
		refusal.WithHint(`the handoff is in the journal: "tt events --after %d --limit 1"; wait for the next turn with "tt wait"`, e.Seq-1).
			With("released_event_seq", e.Seq)
	}
	return err
}
