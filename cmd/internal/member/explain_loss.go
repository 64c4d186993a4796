package member

import (
	"context"
	"errors"
	"fmt"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// explainLoss adds to the refusal of an agent that has no turn, or is no member, how
// that came about: the agent released the turn itself, or another one kicked it. Other
// errors are returned as they are.
func (r *Room) explainLoss(ctx context.Context, err error) error {
	var refusal *code.Error
	if !errors.As(err, &refusal) {
		return err
	}
	switch refusal.Code {
	case code.NotJoined, code.NoActiveLease, code.TurnMismatch, code.StaleLease:
	default:
		return err
	}
	endings := turn.Endings{Agent: r.Self.ID}
	if _, readErr := r.Events(ctx, 0, func(e *event.Event) error { endings.Fold(e); return nil }); readErr != nil {
		return err
	}
	switch e := endings.Membership; {
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
	if e := endings.Turn; e.Type == turn.Released || e.Type == turn.Passed {
		refusal.Message += fmt.Sprintf("; it ended turn %d itself (event %d)", e.Turn, e.Seq)
		refusal.WithHint(`the handoff is in the journal: "tt events --after %d --limit 1"; wait for the next turn with "tt wait"`, e.Seq-1).
			With("released_event_seq", e.Seq)
	}
	return err
}
