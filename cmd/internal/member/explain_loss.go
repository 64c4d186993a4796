package member

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// LostTurn reports whether the turn that the agent has recorded last was ended by somebody
// else.
func (r *Room) LostTurn(st *turn.State) bool {
	fence := r.recordedFence()
	return fence != (turn.Fence{}) && fence != r.CurrentFence(st)
}

// explainLoss adds to the refusal of an agent that has no turn, or is no member, how
// that came about: the agent released the turn itself, or another one kicked it. Other
// errors are returned as they are.
func (r *Room) explainLoss(ctx context.Context, err error) error {
	var refusal *code.Error
	if !errors.As(err, &refusal) || !turn.NeedsEndings(refusal.Code) {
		return err
	}
	if endings, readErr := r.endings(ctx); readErr == nil {
		endings.Explain(refusal)
	}
	return err
}

// TakenOver says to the agent that the turn that it has recorded last was taken over, "" if it
// was not.
func (r *Room) TakenOver(ctx context.Context, st *turn.State) string {
	if !r.LostTurn(st) {
		return ""
	}
	endings, _ := r.endings(ctx)
	return endings.TakenOver()
}

func (r *Room) endings(ctx context.Context) (endings turn.Endings, err error) {
	endings.Agent = r.Self.ID
	_, err = r.FS.Events(ctx, 0, func(e *event.Event) error { endings.Fold(e); return nil })
	return endings, err
}
