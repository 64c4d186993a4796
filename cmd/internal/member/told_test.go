package member

import (
	"context"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
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
		_, err := b.Leave(context.Background(), nil)
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

// The guardian of a turn that was released wakes those to whom it is offered after the first, and those that want it.
func TestAfterTurn(t *testing.T) {
	policy := turn.DefaultPolicy()
	policy.WaiterGrace, policy.WakeGrace = 1, 1
	f := newFixture(t)
	a, _ := f.joinBeforeLock("a:1", policy)
	long := time.Now().Add(-time.Hour)
	rooms := map[string]*Room{}
	for _, id := range []string{"b:1", "c:1", "d:1"} { // d wants the turn, and nothing listens for it that is known
		r := f.join(id)
		rooms[id] = r
		if id != "d:1" {
			release, err := r.Client.Hearing().Hold()
			f.must(err)
			t.Cleanup(release)
			f.must(r.Client.Hearing().Save(&hearing.Listener{How: hearing.ByExec, Heard: event.NewTime(time.Now())}))
		}
		f.must(r.Client.Hearing().Dir().Mark(fsroom.ListenerWakeFile, long))
	}
	g := &guardian{Room: a, turn: f.try(a).TurnID, self: a.Table.Self()}
	f.killGuardian(a)
	_, _, err := a.Release(t.Context(), nil, []byte(`{"status":"s","next_action":"n"}`), "")
	f.must(err)
	for _, r := range rooms {
		f.must(r.Client.Hearing().Dir().Mark(fsroom.ListenerWakeFile, long))
	}
	f.wants(rooms["d:1"])
	done := false
	for n := 0; !done && n < 10_000; n++ {
		done, _, err = g.afterTurn(f.state(a))
		f.must(err)
	}
	for _, id := range []string{"c:1", "d:1"} { // the release has woken b
		if r := rooms[id]; !r.Client.Hearing().Dir().Marked(fsroom.ListenerWakeFile).After(long) {
			t.Errorf("%s is not notified", id)
		}
	}
}
