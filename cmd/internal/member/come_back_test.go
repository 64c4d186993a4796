package member

import (
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

// The first write of a turn of the model renews the lease under the lock, although a guardian renews it; the next
// ones do not.
func TestHolderComesBackOncePerTurnOfItsModel(t *testing.T) {
	f, a, _, next := takenByHook(t, turn.DefaultPolicy())
	locks := 0
	for _, ago := range []time.Duration{time.Hour, time.Minute} {
		f.works(a, turn.ActivityIdle, ago)
		f.works(a, turn.ActivityWorking, ago-time.Second)
		*next = func() { locks++ }
		if locks = 0; !a.ComesBack(f.state(a)) {
			t.Fatal("the holder does not come back")
		}
		f.must(a.ComeBack(t.Context(), f.state(a)))
		if a.ComesBack(f.state(a)) || locks != 1 {
			t.Errorf("the holder comes back again, after %d locks", locks)
		}
	}
}

// A holder that was replaced before it has the lock is refused.
func TestHolderComesBackTooLate(t *testing.T) {
	f, a, _, next := takenByHook(t, turn.DefaultPolicy())
	b := f.resumed(a)
	b.Self.ID = "b:1"
	f.works(a, turn.ActivityWorking, 0)
	st := f.state(a)
	*next = func() {
		f.must(b.Take(t.Context(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b:1", Lease: "other"}, Reason: "it was asked for", Operator: true}, &Quiet{}))
	}
	if err := a.ComeBack(t.Context(), st); code.Of(err) != code.TurnMismatch {
		t.Errorf("%v", err)
	}
	if !a.ComesBack(st) {
		t.Error("a refused holder has come back")
	}
}

// That an agent wants the turn ends with what ends it, and not with time.
func TestWantsUntilItEnds(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	wants := func() bool { return a.Facts(f.state(a)).Presence("a:1").Wants }
	f.wants(a)
	f.must(a.own().Mark(wantsFile, time.Now().Add(-time.Hour)))
	if a.Unwant(true); !wants() {
		t.Error("it is forgotten before the agent was called")
	}
	a.Call()
	if a.Unwant(true); wants() {
		t.Error("it is not forgotten when the agent was called")
	}
	f.wants(a)
	a.Call()
	f.wants(a)
	if a.Unwant(true); !wants() {
		t.Error("who was called and refused again is forgotten")
	}
	if f.ends(a); wants() {
		t.Error("one whose process has ended is to be called")
	}
}

// To whom a free turn is offered first is the first of those that want it.
func TestPlaceAfterWhomTheTurnIsOfferedTo(t *testing.T) {
	policy := turn.DefaultPolicy()
	policy.WaiterGrace = 1
	f := newFixture(t)
	a, _ := f.joinBeforeLock("a:1", policy)
	b := f.join("b:1")
	f.try(a)
	for time.Since(f.state(b).Member("b:1").JoinedAt.Time) < 10*time.Millisecond {
	}
	f.must(b.own().Mark(waitingFile, time.Now().Add(-time.Hour))) // its arrival may have been recorded just now
	_, _, err := a.Release(t.Context(), nil, []byte(`{"status":"s","next_action":"n"}`), "")
	f.must(err)
	f.wants(b)
	f.must(b.own().Mark(wantsFile, time.Now().Add(-time.Hour)))
	f.wants(a)
	if place := a.Place(f.state(a)); f.state(a).Pending.Preferred != "b:1" || place != 2 {
		t.Errorf("a is number %d: %+v", place, f.state(a).Pending)
	}
}
