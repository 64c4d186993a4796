package member

import (
	"context"
	"testing"

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

// TestTurnIsToldOfTheRoomBefore: what is told with a turn is looked up once, of the room as it was when
// the turn was granted, and not at the first look, after which the room changes.
func TestTurnIsToldOfTheRoomBefore(t *testing.T) {
	f := newFixture(t)
	b := f.join("b:1")
	asked := make(briefer, 2)
	atLook, tries := int64(0), false
	a := f.joinFailing("a:1", turn.DefaultPolicy(), func(s fsroom.Step) error {
		if !tries || s != fsroom.StepLock || atLook != 0 {
			return nil
		}
		atLook = f.state(b).Seq // the first look is over
		_, err := b.Leave(context.Background())
		return err
	})
	a.News, tries = asked, true
	got := f.try(a)
	if got.Status != turn.YourTurn || got.Briefing.NotesTotal != 7 || len(asked) != 1 {
		t.Fatalf("%+v, asked %d times", got, len(asked))
	}
	if at := <-asked; at != atLook+1 {
		t.Errorf("told of the room at %d, which was at %d when it was looked at first", at, atLook)
	}
}
