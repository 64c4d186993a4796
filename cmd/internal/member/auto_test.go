package member

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// takenByHook returns an agent that has a turn which a hook has taken, in the window of a process that
// lives, beside another member. Before its next lock it does what next says. The guardian is this process.
func takenByHook(t *testing.T, policy turn.Policy) (f *fixture, a *Room, g *guardian, next *func()) {
	f = newFixture(t)
	a, next = f.joinBeforeLock("a:1", policy)
	f.join("b:1")
	window := f.child()
	a.Self.Root, a.Self.SessionExported = &window, true
	_, _, res, err := a.Client.TakeAuto(t.Context(), f.workspace())
	f.must(err)
	f.killGuardian(a)
	self := a.Table.Self()
	c := *a.Client
	c.Self.Root = nil
	g = &guardian{Room: c.Room(a.FS.Name(), nil), turn: res.TurnID, self: self, notified: true, due: time.Hour, renewed: a.Now()}
	f.must(g.Room.changeLease(t.Context(), func(_ *turn.State, l *turn.Lease) (bool, error) {
		l.Guardian = turn.ProcessID(self)
		return true, nil
	}))
	if !a.IsAuto(f.state(a)) || a.recorded(f.state(a)).Holder != turn.ProcessID(window) {
		t.Fatalf("%+v", a.recorded(f.state(a)))
	}
	return f, a, g, next
}

// works notes what the model does, since some time ago.
func (f *fixture) works(r *Room, what string, ago time.Duration) {
	f.Helper()
	since := turn.At(time.Now().Add(-ago), "", 0)
	_, err := r.Client.Hearing().Note(hearing.Doing{What: what, Since: hearing.Began(since), Session: "s"})
	f.must(err)
}

// The guardian ends a turn that a hook has taken because its model is idle. If it is back before the
// room is locked, the turn goes on.
func TestHolderIsBackBeforeItsTurnEnds(t *testing.T) {
	policy := turn.DefaultPolicy()
	policy.IdleTTL = 1
	f, a, g, next := takenByHook(t, policy)
	idle := func() {
		f.works(a, turn.ActivityIdle, time.Hour)
		for st := f.state(a); st.IdleFor(g.facts(st)) != 0; { // it was heard of a moment ago
		}
	}
	idle()
	*next = func() { f.works(a, turn.ActivityWorking, 0) }
	if done, _, err := g.look(t.Context(), f.state(a)); done || err != nil {
		t.Fatalf("done %v, %v", done, err)
	}
	if st := f.state(a); st.Owner != "a:1" {
		t.Fatalf("the turn of a holder that is back was ended: %q has it", st.Owner)
	}
	idle()
	if _, _, err := g.look(t.Context(), f.state(a)); err != nil || f.state(a).Owner != "" {
		t.Errorf("the turn of an idle holder goes on: %v", err)
	}
}

// What ends a turn that a hook has taken is asked under the lock: another holder of it, and a command
// that asked for it.
func TestAutoEndLooksAgain(t *testing.T) {
	for name, before := range map[string]func(f *fixture, a *Room) error{
		"a job": func(_ *fixture, a *Room) error {
			window := *a.Self.Root // it runs as long as this
			return recordJob(a, map[string]any{"process": window})
		},
		"by hand": func(_ *fixture, a *Room) error {
			snap, _ := a.FS.View()
			_, err := a.Keep(t.Context(), snap.State.Fence(), true)
			return err
		},
		"another turn of a hook": func(f *fixture, a *Room) error {
			_, _, err := a.EndAuto(t.Context(), nil, func() bool { return false })
			_, _, res, takeErr := a.Client.TakeAuto(t.Context(), f.workspace())
			f.Cleanup(func() { _ = f.killProcess(res.GuardianPID) })
			return errors.Join(err, takeErr)
		},
		"another turn": func(_ *fixture, a *Room) error {
			return a.Take(t.Context(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "a:1", Lease: "again"}, Reason: "x", Operator: true}, make(answers, 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, a, _, next := takenByHook(t, turn.DefaultPolicy())
			*next = func() {
				if err := before(f, a); err != nil {
					t.Error(err)
				}
			}
			if _, _, err := a.EndAuto(t.Context(), nil, func() bool { return false }); err != nil || f.state(a).Owner == "" {
				t.Errorf("it was ended, %v", err)
			}
		})
	}
}

// recordJob writes down a job of the agent, with what is known of it.
func recordJob(a *Room, known map[string]any) error {
	jobs := a.Jobs().Dir()
	known["agent_id"], known["name"], known["command"], known["asked_at"] = a.Self.ID, "j", []string{"x"}, event.NewTime(time.Now())
	record, err := json.Marshal(known)
	return errors.Join(err, os.MkdirAll(filepath.Join(jobs, "1"), 0o700), os.MkdirAll(filepath.Join(jobs, "open"), 0o700),
		os.WriteFile(filepath.Join(jobs, "1", "job.json"), record, 0o600), os.WriteFile(filepath.Join(jobs, "open", "1"), nil, 0o600))
}

// A holder whose model ended its turn while a job of it ran is idle from the end of that on.
func TestIdleFromTheEndOfTheJob(t *testing.T) {
	f, a, _, _ := takenByHook(t, turn.DefaultPolicy())
	b := f.join("b:1")
	ended := event.NewTime(time.Now().Add(time.Hour))
	f.must(recordJob(a, map[string]any{"ended_at": ended, "outcome": "passed"}))
	for what, isLater := range map[string]bool{turn.ActivityIdle: true, turn.ActivityLimited: true, turn.ActivityWorking: false} {
		f.works(a, what, time.Hour)
		if got := b.Facts(f.state(b)).Activity("a:1"); got.What != what || got.At.Equal(ended.Time) != isLater {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// A turn that a hook has taken ends with the session, also where the program itself ends and a job of it ran still.
func TestAutoTurnEndsWithItsSession(t *testing.T) {
	f, a, g, _ := takenByHook(t, turn.DefaultPolicy())
	f.must(a.Client.EndSession(true))
	f.must(recordJob(a, map[string]any{"process": f.child()}))
	if _, _, err := g.look(t.Context(), f.state(a)); err != nil || f.state(a).Owner != "a:1" {
		t.Errorf("it was ended beside its job: %v", err)
	}
	f.must(recordJob(a, map[string]any{"ended_at": event.NewTime(time.Now()), "outcome": "passed"}))
	if _, _, err := g.look(t.Context(), f.state(a)); err != nil || f.state(a).Owner != "" {
		t.Errorf("it goes on: %v", err)
	}
}

// A hook that was to take over a turn, and did not have the room's lock, is told that: the turn is no other's.
func TestTakeAutoIsToldThatTheLockIsHeld(t *testing.T) {
	f := newFixture(t)
	var held error // by another process, at the next attempt
	policy := turn.DefaultPolicy()
	policy.OwnerLeaseTTL = 1
	a := f.joinFailing("a:1", policy, func(s fsroom.Step) (err error) {
		if s == fsroom.StepLock {
			err, held = held, nil
		}
		return err
	})
	b := f.join("b:1")
	f.try(b)
	f.killGuardian(b)
	for st := f.state(a); st.Status(a.Facts(st)) != turn.StateStaleOwner; {
	}
	held = code.New(code.LockTimeout, "the lock is held")
	if _, _, res, err := a.Client.TakeAuto(t.Context(), f.workspace()); code.Of(err) != code.LockTimeout {
		t.Errorf("%+v, %v", res, err)
	}
	if _, _, res, err := a.Client.TakeAuto(t.Context(), f.workspace()); err != nil || res.Status != turn.YourTurn {
		t.Errorf("%+v, %v", res, err)
	} else {
		f.must(f.killProcess(res.GuardianPID))
	}
}

// A turn that a hook has taken ends with the process that took it, at once, also if another window of
// the session lives.
func TestAutoTurnEndsWithItsProcess(t *testing.T) {
	f, a, g, _ := takenByHook(t, turn.DefaultPolicy())
	st := f.state(a)
	if !slices.Contains(g.watched(st), *a.Self.Root) {
		t.Errorf("the guardian does not watch %v", a.Self.Root)
	}
	other := f.child()
	f.must(a.own().Write(processesFile, &processRecord{Processes: []identity.Process{*a.Self.Root, other}, Lingers: true}))
	f.must(f.killProcess(a.Self.Root.PID))
	b := f.join("b:1")
	if got := f.try(b); got.Status != turn.TakeoverAvailable || got.Reason != turn.ReasonOwnerGone {
		t.Errorf("before the guardian has looked: %+v", got)
	}
	if _, _, err := g.look(t.Context(), f.state(a)); err != nil {
		t.Fatal(err)
	}
	if st := f.state(a); st.Owner != "" || st.Pending.Seq == 0 {
		t.Errorf("%q has the turn", st.Owner)
	}
}

// Another window of a session ends no turn of it.
func TestOtherWindowEndsNoTurn(t *testing.T) {
	f, a, _, _ := takenByHook(t, turn.DefaultPolicy())
	other := f.child()
	c := *a.Client
	c.Self.Root = &other
	b := c.Room(a.FS.Name(), a.Workspace)
	if _, _, err := b.EndAuto(t.Context(), nil, func() bool { return false }); err != nil || f.state(a).Owner != "a:1" {
		t.Errorf("%q has the turn, %v", f.state(a).Owner, err)
	}
	if b.isKept(f.state(a), ptr(b.recorded(f.state(a)))) || !a.isKept(f.state(a), ptr(a.recorded(f.state(a)))) {
		t.Error("the turn is kept for the wrong window")
	}
	if err := b.ComeBack(t.Context(), f.state(a)); code.Of(err) != code.StaleLease {
		t.Errorf("renewed: %v", err)
	}
}

// Coming back is ordered with being replaced: who has lost the turn is refused, and who has not has
// its lease from now on.
func TestRenew(t *testing.T) {
	f, a, _, next := takenByHook(t, turn.DefaultPolicy())
	st := f.state(a)
	before := a.recorded(st)
	f.must(a.ComeBack(t.Context(), st))
	if l := a.recorded(st); l.Renewed.Since(before.Renewed) < 0 || l.Renewed == before.Renewed || l.Guardian != before.Guardian {
		t.Errorf("%+v, was %+v", l, before)
	}
	b := f.join("b:1")
	*next = func() {
		f.must(b.Take(t.Context(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b:1", Lease: "b"}, Reason: "x", Operator: true}, make(answers, 1)))
	}
	if err := a.ComeBack(t.Context(), st); code.Of(err) != code.TurnMismatch {
		t.Errorf("after a takeover: %v", err)
	}
}

// The process that took a turn has ended: the next one of the session has it, and the guardian watches that.
func TestTurnIsInherited(t *testing.T) {
	f, a, g, _ := takenByHook(t, turn.DefaultPolicy())
	other := f.child()
	f.must(f.killProcess(a.Self.Root.PID))
	c := *a.Client
	c.Self.Root = &other
	b := c.Room(a.FS.Name(), a.Workspace)
	if b.isKept(f.state(a), ptr(b.recorded(f.state(a)))) {
		t.Error("it is kept before it was renewed")
	}
	f.must(b.ComeBack(t.Context(), f.state(a)))
	if st := f.state(a); !b.isKept(st, ptr(b.recorded(st))) || !slices.Contains(g.watched(st), other) || g.isOver(st) {
		t.Errorf("%+v", b.recorded(st))
	}
}
