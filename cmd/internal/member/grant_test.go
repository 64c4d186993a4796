package member

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// onDisk returns what is recorded of the agent's lease, of whatever turn.
func onDisk(r *Room) (l turn.Lease) {
	r.own().Read(leaseFile, &l)
	return l
}

// The record of a lease is there before the turn is granted: who sees the turn sees its guardian,
// wherever the process that was granted it is killed.
func TestRecordComesBeforeTheGrant(t *testing.T) {
	f := newFixture(t)
	other := f.join("b:1")
	var a *Room
	var before turn.Lease
	var owner string
	fail := errors.New("no space")
	granting := false
	a = f.joinFailing("a:1", turn.DefaultPolicy(), func(s fsroom.Step) error {
		if !granting || s != fsroom.StepAppend {
			return nil
		}
		before, owner = onDisk(a), f.state(other).Owner
		return fail
	})
	granting = true
	err := a.Try(t.Context(), make(answers, 1))
	if !errors.Is(err, fail) {
		t.Fatal(err)
	}
	if owner != "" || before.Turn != 1 || before.Lease == "" || before.Guardian == (turn.ProcessID{}) || !before.ByHand {
		t.Errorf("before the commit %q has the turn, and the record is %+v", owner, before)
	}
	if l := onDisk(a); l != (turn.Lease{}) {
		t.Errorf("after it has failed the record is %+v", l)
	}
	for p := identity.Process(before.Guardian); a.isAlive(&p); { // it was killed: nobody waits for the turn
	}
	granting = false
	if got := f.try(a); got.Status != turn.YourTurn || got.GuardianPID == 0 {
		t.Errorf("then: %+v", got)
	}
}

// A takeover that fails leaves the record of the turn that was lost before: by it the agent is told so.
func TestFailedTakeoverKeepsTheRecord(t *testing.T) {
	f := newFixture(t)
	b := f.join("b:1")
	granting := false
	a := f.joinFailing("a:1", turn.DefaultPolicy(), func(s fsroom.Step) error {
		if granting && s == fsroom.StepAppend {
			return errors.New("no space")
		}
		return nil
	})
	f.try(a)
	lost := onDisk(a)
	take := turn.TakeRequest{Reason: "x", Operator: true}
	take.Agent, take.Lease = "b:1", fsroom.NewID()
	f.must(b.Take(t.Context(), take, make(answers, 1)))
	take.Agent, take.Lease = "a:1", fsroom.NewID()
	granting = true
	if err := a.Take(t.Context(), take, make(answers, 1)); err == nil {
		t.Fatal("it was taken")
	}
	if l := onDisk(a); l.Fence != lost.Fence {
		t.Errorf("the record is of %+v and was of %+v", l.Fence, lost.Fence)
	}
}

// A grant that failed takes back its own record, and neither that of the turn in progress nor one that was written since.
func TestAbandon(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	f.try(a)
	had := onDisk(a).Fence
	for _, fence := range []turn.Fence{had, {Agent: "a:1", Turn: 9, Lease: "x"}} {
		a.abandon(t.Context(), &grant{lease: turn.Lease{Fence: fence}}, errors.New("no space"))
		if l := onDisk(a); l.Fence != had {
			t.Fatalf("%+v was given up, and the record is of %+v", fence, l.Fence)
		}
	}
}

// A record that is missing proves nothing: nobody says that the guardian has ended.
func TestLostRecordIsNoDeath(t *testing.T) {
	f := newFixture(t)
	b, a := f.join("b:1"), f.join("a:1")
	f.try(a)
	f.must(a.own().Remove(leaseFile))
	st := f.state(b)
	if list := st.Trouble(b.Facts(st)); len(list) > 0 {
		t.Errorf("%+v", list)
	}
	if got := f.try(b); got.Status != turn.NotYet {
		t.Errorf("%+v", got)
	}
}

// A turn that a hook has taken stays one, however often hooks ask for it, until a command does.
func TestHookAsksNotByHand(t *testing.T) {
	f := newFixture(t)
	f.join("b:1")
	a := f.join("a:1")
	ask := func() turn.WaitResult {
		_, _, res, err := a.Client.TakeAuto(t.Context(), f.workspace())
		f.must(err)
		f.Cleanup(func() { _ = f.killProcess(res.GuardianPID) })
		return res
	}
	for range 2 {
		if res := ask(); res.Status != turn.YourTurn || !a.IsAuto(f.state(a)) {
			t.Fatalf("%+v, auto %v", res, a.IsAuto(f.state(a)))
		}
	}
	f.try(a)
	ask()
	if a.IsAuto(f.state(a)) {
		t.Error("a command has asked for it, and it is a hook's still")
	}
}

// TestOtherWindow: the turn belongs to the process of the session that took it, while that lives.
func TestOtherWindow(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	parent, err := a.Table.Inspect(parentOf(t, a.Table))
	f.must(err)
	child := f.child()
	window := func(p *identity.Process) *Room {
		c := *a.Client
		c.Self.Root = p
		return c.Room(a.FS.Name(), a.Workspace)
	}
	one := window(&child)
	f.try(one)
	gone := ended(a.Table)
	self := a.Table.Self()
	sibling := f.child()
	f.must(window(&sibling).recordProcess())
	for _, c := range []struct {
		name   string
		holder identity.Process
		mine   *identity.Process
		want   int
	}{
		{"another one that lives", child, &parent.Process, 0}, // an ancestor, by this process
		{"itself", child, &child, 0},
		{"its own child", child, &self, 0},
		{"none known of the caller", child, nil, 0},
		{"one that has ended", gone, &child, 0},
		{"none known of the holder", identity.Process{}, &child, 0},
		{"one that never had the session", f.child(), &child, 0},
		{"a sibling", sibling, &child, sibling.PID},
	} {
		f.must(one.changeLease(t.Context(), func(_ *turn.State, l *turn.Lease) (bool, error) {
			l.Holder = turn.ProcessID(c.holder)
			return true, nil
		}))
		if pid := window(c.mine).HeldByOtherWindow(f.state(a)); pid != c.want {
			t.Errorf("%s: %d, want %d", c.name, pid, c.want)
		}
	}
	if _, err := one.Keep(t.Context(), f.state(a).Fence(), true); code.Of(err) != code.StaleLease {
		t.Errorf("to renew the lease of the sibling's: %v", err)
	}
	f.must(syscall.Kill(sibling.PID, syscall.SIGSTOP))
	for status := syscall.WaitStatus(0); !status.Stopped(); {
		_, err := syscall.Wait4(sibling.PID, &status, syscall.WUNTRACED, nil)
		f.must(err)
	}
	last := f.child()
	f.must(window(&last).recordProcess())
	if p := window(&last).Facts(f.state(a)).Presence("a:1"); !p.Stopped || p.PID != sibling.PID {
		t.Errorf("the window that has it is stopped: %+v", p)
	}
	left := window(&sibling)
	if others := left.Client.LeaveWindow(true); !others || one.HeldByOtherWindow(f.state(a)) != 0 {
		t.Errorf("others %v, held by %d, want true and 0, after its session has left the sibling", others, one.HeldByOtherWindow(f.state(a)))
	}
}

// TestGuardianOfAnotherDirectory: a turn with the same number, in a data directory that was put in the place of
// the guardian's, is not its own.
func TestGuardianOfAnotherDirectory(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	got := f.try(a)
	f.killGuardian(a) // else it would be that one's, whatever the turn
	g := &guardian{Room: a, turn: got.TurnID, lease: digest(turn.Fence{Lease: "of another life"}), self: ended(a.Table), due: 1, renewed: a.Now()}
	before := onDisk(a)
	if done, _, err := g.look(context.Background(), f.state(a)); !done || err != nil {
		t.Errorf("done %v, %v", done, err)
	}
	if mine, err := g.renew(t.Context()); mine || err != nil || onDisk(a) != before {
		t.Errorf("renewed %v, %v: %+v", mine, err, onDisk(a))
	}
	g.lease = digest(a.recorded(f.state(a)).Fence)
	if !g.guards(f.state(a)) {
		t.Error("its own turn is not its own")
	}
}

// child starts a process that lives until the end of the test.
func (f *fixture) child() identity.Process {
	f.Helper()
	cmd := exec.Command("sleep", "600")
	f.must(cmd.Start())
	f.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	info, err := identity.System().Inspect(cmd.Process.Pid)
	f.must(err)
	return info.Process
}

func parentOf(t *testing.T, table identity.Table) int {
	t.Helper()
	info, err := table.Inspect(table.Self().PID)
	if err != nil {
		t.Fatal(err)
	}
	return info.PPID
}

// A guardian does not judge by the end of the one before it, where nothing else is known of its agent.
func TestGuardianIsNotJudgedByTheLast(t *testing.T) {
	f := newFixture(t)
	a := f.joinFailing("a:1", aged(), func(fsroom.Step) error { return nil })
	b := f.join("b:1")
	got := f.try(a)
	f.killGuardian(a)
	f.must(a.own().Mark(seenFile, time.Now().Add(-time.Hour)))
	f.awaitGone(b, "a:1") // to others
	g := &guardian{Room: a, turn: got.TurnID, self: a.Table.Self(), due: time.Hour, renewed: a.Now()}
	if g.isGone(f.state(a)) {
		t.Error("the new guardian takes its agent for gone")
	}
}

// A guardian that was started before the grant of its turn waits for that, for a while.
func TestGuardianBeforeItsGrant(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	next := f.try(a).TurnID + 1
	long := a.Now()
	long.Mono, long.Wall.Time = long.Mono-time.Hour.Milliseconds(), long.Wall.Add(-time.Hour)
	for started, want := range map[turn.Instant]bool{a.Now(): false, long: true} {
		g := &guardian{Room: a, turn: next, self: a.Table.Self(), started: started}
		if done, _, err := g.look(t.Context(), f.state(a)); done != want || err != nil {
			t.Errorf("ends: %v, %v", done, err)
		}
	}
}

// A guardian that its turn's record does not name writes it at its first renewal.
func TestFirstRenewal(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	g := &guardian{Room: a, turn: f.try(a).TurnID, self: a.Table.Self(), due: firstRenewal}
	f.must(a.own().Remove(leaseFile))
	if done, _, err := g.renewIfDue(t.Context(), f.state(a)); done || err != nil || onDisk(a).Guardian != turn.ProcessID(g.self) {
		t.Errorf("ends: %v, %v, and the record names %+v", done, err, onDisk(a).Guardian)
	}
}

// Of two guardians of a turn the one in its record renews the lease, unless it has ended or has let the lease expire.
func TestOneGuardianRenews(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	g := &guardian{Room: a, turn: f.try(a).TurnID, self: a.Table.Self()}
	first := a.recorded(f.state(a)).Guardian
	if mine, err := g.renew(t.Context()); mine || err != nil || a.recorded(f.state(a)).Guardian != first {
		t.Errorf("beside the first: %v, %v", mine, err)
	}
	late := a.recorded(f.state(a))
	late.Renew(turn.At(time.Now().Add(-time.Hour), late.Renewed.Boot, time.Duration(late.Renewed.Mono)*time.Millisecond-time.Hour), turn.DefaultPolicy(), turn.ProcessID{})
	if pid := a.activeGuardian(f.state(a), &late); pid != 0 {
		t.Errorf("process %d has let the lease expire and counts", pid)
	}
	f.killGuardian(a)
	if mine, err := g.renew(t.Context()); !mine || err != nil || a.recorded(f.state(a)).Guardian != turn.ProcessID(g.self) {
		t.Errorf("after the first: %v, %v", mine, err)
	}
}

// Who changes the tree for a long time asks as it goes, and is refused once somebody else has the turn.
func TestStillHolds(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	got := f.try(a)
	fence := turn.Fence{Agent: "a:1", Turn: got.TurnID, Lease: got.LeaseID}
	f.must(a.StillHolds(fence))
	f.must(b.Take(t.Context(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b:1", Lease: fsroom.NewLease()}, Reason: "x", Operator: true}, make(answers, 1)))
	if a.StillHolds(fence) == nil {
		t.Error("it may go on in the turn of another")
	}
}
