package member

import (
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// during calls do once, in the middle of the next look of the agent at a room: it has read the state, and has
// asked nothing yet of processes.
func (f *fixture) during(r *Room, do func()) {
	clock := r.Clock
	r.Clock = func() turn.Instant {
		if r.Clock = clock; do != nil {
			do()
		}
		return r.Now()
	}
}

// handsOn releases the turn of an agent, whose process ends after that.
func (f *fixture) handsOn(a *Room) func() {
	handoff, err := turn.CheckHandoff([]byte(`{"status":"s","next_action":"n"}`))
	f.must(err)
	return func() {
		_, _, err := a.Release(f.Context(), nil, handoff, "")
		f.must(err)
		f.ends(a)
	}
}

// What is said of a holder was true at one moment: the process of one that has released in between is
// nobody's who holds.
func TestLook(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	f.try(a)
	seen := f.view(b)
	f.during(b, f.handsOn(a))
	now := b.Look(seen)
	if list := now.State.Trouble(now.Facts); len(list) > 0 || now.State.Owner != "" {
		t.Errorf("%q holds, %+v", now.State.Owner, list)
	}
	a.Clock = nil
	f.must(a.own().Mark(waitingFile, a.time()))
	if v := now.Facts.Presence("a:1"); v.Process != turn.Gone {
		t.Errorf("%+v", v)
	}
}

// A table that does something before it first says what is known of a process.
type lateTable struct {
	identity.Table
	before *func()
}

func (t lateTable) Look(pid int) (identity.Info, error) {
	if do := *t.before; do != nil {
		*t.before = nil
		do()
	}
	return t.Table.Look(pid)
}

// An offer to take over, and a refusal, are looked at again if the room has changed meanwhile.
func TestOfferIsLookedAtAgain(t *testing.T) {
	for name, ask := range map[string]func(b *Room, out Output) error{
		"try": func(b *Room, out Output) error { return b.Try(t.Context(), out) },
		"take": func(b *Room, out Output) error {
			return b.Take(t.Context(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b:1", Lease: fsroom.NewID()}, Reason: "x"}, out)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			a, b := f.join("a:1"), f.join("b:1")
			window := f.child()
			f.must(a.own().Write(processesFile, &processRecord{Processes: []identity.Process{window}}))
			f.try(a)
			release := f.handsOn(a)
			late := func() {
				release()
				if name == "try" {
					f.must(f.killProcess(window.PID))
				}
			}
			b.Table = lateTable{b.Table, &late}
			out := make(answers, 1)
			if err := ask(b, out); err != nil {
				t.Fatal(err)
			}
			if got := <-out; got.Status != turn.YourTurn || got.TurnID != 2 {
				t.Errorf("%+v", got)
			} else {
				f.Cleanup(func() { _ = f.killProcess(got.GuardianPID) })
			}
		})
	}
}

// A lease that is kept by another guardian by now is looked at again: the end of the one before says nothing.
func TestLookAfterANewGuardian(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	f.try(a)
	seen := f.view(b)
	f.during(b, func() {
		f.killGuardian(a)
		pid, err := a.Keep(t.Context(), seen.State.Fence(), false)
		f.must(err)
		f.Cleanup(func() { _ = f.killProcess(pid) })
	})
	now := b.Look(seen)
	if list := now.State.Trouble(now.Facts); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

// The pid of the process that was granted the turn is that of the turn in progress, not of one before.
func TestGrantedToIsOfThisTurn(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	res := f.try(a)
	st := f.state(a)
	f.must(a.FS.Locked(t.Context(), func(*snapshot) error {
		return a.writeLease(&turn.Lease{Fence: turn.Fence{Agent: "a:1", Turn: st.Turn - 1, Lease: "old"}, GrantedTo: 1, Renewed: a.Now()})
	}))
	r := turnRequest{Room: a, result: res}
	if told, err := r.tellOther(t.Context()); !told || err != nil || r.result.GrantedTo != 0 {
		t.Errorf("%v, %v, granted to %d", told, err, r.result.GrantedTo)
	}
}
