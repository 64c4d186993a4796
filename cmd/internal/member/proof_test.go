package member

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/roomtypes/sharing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// onHost is join for a host that shares its rooms by an engine.
func (f *fixture) onHost(e *memory.Engine, host int, id string) *Room {
	f.Helper()
	store, err := fsroom.Open(f.TempDir(), fsroom.Options{Engine: e, Host: fmt.Sprint("host ", host)})
	f.must(err)
	c := &Client{
		Store: store, Table: identity.System(), Self: identity.Agent{ID: id, Source: identity.SourceOverride},
		Policy:     func() (turn.Policy, error) { return turn.DefaultPolicy(), nil },
		Executable: os.Executable, Warn: func(string) {},
	}
	r, _, err := c.Join(context.Background(), f.workspace(), false, false)
	f.must(err)
	f.Cleanup(func() {
		e.SetFault(func() memory.Fault { return memory.None })
		_, _ = r.Leave(context.Background(), nil)
	})
	return r
}

// A turn is proved by its grant and by each renewal that the engine has confirmed, and by
// nothing else.
func TestWhatProvesATurn(t *testing.T) {
	sharing.Enable()
	f, ctx := newFixture(t), context.Background()
	e := memory.New("one", time.Now)
	a, b := f.onHost(e, 1, "a:1"), f.onHost(e, 2, "b:1")
	isProved := func(want bool) turn.Lease {
		t.Helper()
		if _, unproved := a.Unproved(f.state(a)); unproved == want {
			t.Errorf("proved: %v", !unproved)
		}
		return a.recorded(f.state(a))
	}
	forget := func() {
		l := a.recorded(f.state(a))
		l.Proof = turn.Proof{}
		f.must(a.writeLease(&l))
	}
	renew := func() error {
		_, err := (&guardian{Room: a, turn: 1, self: *guardianOf(a.recorded(f.state(a)))}).renew(ctx)
		return err
	}

	before := identity.Uptime().Truncate(time.Millisecond)
	granted := f.try(a)
	if granted.Status != turn.YourTurn {
		t.Fatalf("%+v", granted)
	}
	first := isProved(true)
	if first.Turn != granted.TurnID || first.Lease != granted.LeaseID || first.Proof.Uptime < before || first.TTL != 45*time.Minute {
		t.Errorf("%+v", first)
	}
	forget()
	isProved(false)
	f.must(renew())
	isProved(true)
	forget()
	if got := f.try(a); got.Status != turn.YourTurn || got.TurnID != granted.TurnID {
		t.Errorf("%+v", got)
	}
	isProved(true)

	// A renewal that the engine did not confirm proves nothing.
	for _, fault := range []memory.Fault{memory.Refused, memory.LostInDoubt} {
		forget()
		e.SetFault(func() memory.Fault { return fault })
		if err := renew(); err == nil {
			t.Errorf("fault %d: no error", fault)
		}
		isProved(false)
		e.SetFault(func() memory.Fault { return memory.None })
	}
	f.must(renew())
	isProved(true)

	// Once the turn was taken over, nothing is renewed and nothing proved.
	out := make(answers, 1)
	f.must(b.Take(ctx, turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b:1", Lease: fsroom.NewID()}, Reason: "r", Operator: true}, out))
	<-out
	g := &guardian{Room: a, turn: granted.TurnID, self: a.Table.Self()}
	if mine, err := g.renew(ctx); mine || err != nil {
		t.Errorf("renewed after a takeover: %v, %v", mine, err)
	}
	if snap, err := a.FS.Confirm(ctx); err != nil || snap.State.Owner != "b:1" {
		t.Errorf("confirmed %+v, %v", snap, err)
	}
	e.SetAway(true)
	if _, err := a.FS.Confirm(ctx); code.Of(err) != code.EngineUnreachable {
		t.Errorf("confirmed by nobody: %v", err)
	}
	e.SetAway(false)
}

// A holder whose turn the engine has lost is told that its edit guard is closed already.
func TestATurnThatTheEngineHasLost(t *testing.T) {
	sharing.Enable()
	f := newFixture(t)
	a := f.onHost(memory.New("one", time.Now), 1, "a:1")
	f.try(a)
	st := f.state(a)
	if list := st.Trouble(a.Facts(st)); len(list) != 0 {
		t.Errorf("trouble: %+v", list)
	}
	a.FS.Keep(fsroom.LostFile, "engine_restored")
	list := st.Trouble(a.Facts(st))
	if len(list) == 0 || list[0].What != turn.CutOff || list[0].Until == nil || *list[0].Until != *list[0].Since ||
		!strings.HasPrefix(list[0].Do, "stop writing:") {
		t.Errorf("the engine has lost it: %+v", list)
	}
}

// The proof goes before the other hosts are told that the agent's process has ended: they
// may take the turn over then, and the session may be resumed here.
func TestAStoppedGuardianLeavesNoProof(t *testing.T) {
	f := newTeam(t)
	a := f.onHost("one", "a:1")
	g := f.guardianOn(a, f.try(a).TurnID)
	f.ends(a)
	if ended, err := g.endLease(t.Context(), "the agent's process has ended"); !ended || err != nil {
		t.Fatalf("ended: %v, %v", ended, err)
	}
	if _, unproved := a.Unproved(f.state(a)); !unproved {
		t.Error("the turn is proved still")
	}
}

// A turn is not proved any more once its end was sent, whatever became of that: the next host may have the turn. One
// that has not ended is proved again by the next renewal.
func TestAnEndInDoubtLeavesNoProof(t *testing.T) {
	sharing.Enable()
	for _, fault := range []memory.Fault{memory.AnswerLost, memory.LostInDoubt} {
		f, ctx := newFixture(t), context.Background()
		e := memory.New("one", time.Now)
		a, b := f.onHost(e, 1, "a:1"), f.onHost(e, 2, "b:1")
		granted := f.try(a)
		before := f.state(a)
		e.SetFault(func() memory.Fault { return fault })
		_, _, err := a.Release(ctx, nil, []byte(`{"status":"s","next_action":"n"}`), "")
		if code.Of(err) != code.InDoubt {
			t.Fatalf("fault %d: %v", fault, err)
		}
		e.SetFault(func() memory.Fault { return memory.None })
		if _, unproved := a.Unproved(before); !unproved {
			t.Errorf("fault %d: the turn is proved still", fault)
		}
		got := f.try(b)
		if ended := fault == memory.AnswerLost; ended != (got.Status == turn.YourTurn) {
			t.Errorf("fault %d: %+v", fault, got)
		} else if !ended {
			_, err := (&guardian{Room: a, turn: granted.TurnID, self: *guardianOf(a.recorded(before))}).renew(ctx)
			f.must(err)
			if _, unproved := a.Unproved(f.state(a)); unproved {
				t.Error("the renewed turn is not proved")
			}
		}
	}
}

// Without an engine there is nothing to prove.
func TestNothingToProve(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	f.try(a)
	if _, unproved := a.Unproved(f.state(a)); unproved {
		t.Error("a turn of this host alone is not proved")
	}
	if l := a.recorded(f.state(a)); l.Proof != (turn.Proof{}) {
		t.Errorf("a proof was written: %+v", l)
	}
}
