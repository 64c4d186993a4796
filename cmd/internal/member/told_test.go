package member

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
)

// A briefer is News that tells when it is asked for the briefing of a turn, and of which room.
type briefer chan int64

func (b briefer) Briefing(_ context.Context, st *turn.State, _ int64) (turn.Briefing, func(*turn.State)) {
	b <- st.Seq
	return turn.Briefing{NotesTotal: 7}, func(*turn.State) {}
}

func (briefer) Await(context.Context, fsroom.Inspect[*turn.State]) error { return nil }

func (briefer) Look(context.Context, *turn.State) (Found, error) { return Found{}, nil }

// TestTurnIsToldBesideItsCommit: what is told with a turn is looked up while the grant is being
// written, once, of the room as it is then, and not at the first look, after which the room changes.
func TestTurnIsToldBesideItsCommit(t *testing.T) {
	f := newFixture(t)
	b := f.join("b:1")
	asked := make(briefer, 2)
	var atLook, atCommit atomic.Int64
	var tries atomic.Bool
	a := f.joinFailing("a:1", turn.DefaultPolicy(), func(s fsroom.Step) error {
		switch {
		case !tries.Load():
		case s == fsroom.StepLock && atLook.Load() == 0: // the first look is over
			atLook.Store(f.state(b).Seq)
			_, err := b.Leave(context.Background())
			return err
		case s == fsroom.StepAppend:
			select {
			case seq := <-asked:
				atCommit.Store(seq)
			case <-time.After(time.Minute):
				return errors.New("nothing was looked up before the commit")
			}
		}
		return nil
	})
	a.News = asked
	tries.Store(true)
	got := f.try(a)
	tries.Store(false)
	if got.Status != turn.YourTurn || got.Briefing.NotesTotal != 7 || len(asked) != 0 {
		t.Errorf("%+v, asked %d times more", got, len(asked))
	}
	if atCommit.Load() != atLook.Load()+1 {
		t.Errorf("told of the room at %d, which was at %d when it was looked at first", atCommit.Load(), atLook.Load())
	}
}
