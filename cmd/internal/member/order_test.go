package member

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// What comes back without an event, between the look of another process at the room and its
// lock, counts: the facts of a change are those under the lock.

// ended returns a process of the machine that has ended.
func ended(table identity.Table) identity.Process {
	p := table.Self()
	p.Start += 1 << 20
	return p
}

// ends lets the known processes of the agent have ended.
func (f *fixture) ends(r *Room) {
	f.Helper()
	p := ended(r.Table)
	f.must(r.own().Write(processesFile, &processRecord{Processes: []identity.Process{p}}))
	if r.Table.Verdict(p) != identity.Gone {
		f.Fatalf("%v has not ended", p)
	}
}

// sessionEnds lets the process of the agent's session, which can be resumed, have ended, and
// the agent be silent for longer than the grace time.
func (f *fixture) sessionEnds(r *Room) {
	f.Helper()
	f.must(r.own().Write(processesFile, &processRecord{Processes: []identity.Process{ended(r.Table)}, Lingers: true}))
	f.must(r.own().Mark(seenFile, time.Now().Add(-time.Hour)))
}

// resumed returns the agent in a new process.
func (f *fixture) resumed(r *Room) *Room {
	self := r.Table.Self()
	c := *r.Client
	c.Self.Root, c.Self.SessionExported = &self, true
	return c.Room(r.FS.Name(), r.Workspace)
}

// killGuardian ends the guardian of the agent's turn.
func (f *fixture) killGuardian(r *Room) {
	f.Helper()
	f.must(f.killProcess(guardianOf(r.recorded(f.state(r))).PID))
}

// killProcess ends a child of the test.
func (f *fixture) killProcess(pid int) error {
	p, err := os.FindProcess(pid)
	f.must(err)
	err = p.Kill()
	_, _ = p.Wait()
	return err
}

// joinBeforeLock is join for an agent that does something, if it is set, before the next lock
// is taken by it.
func (f *fixture) joinBeforeLock(id string, policy turn.Policy) (r *Room, next *func()) {
	f.Helper()
	next = new(func())
	return f.joinFailing(id, policy, func(s fsroom.Step) error {
		if do := *next; s == fsroom.StepLock && do != nil {
			*next = nil
			do()
		}
		return nil
	}), next
}

// joinFailing is join for an agent whose steps may fail.
func (f *fixture) joinFailing(id string, policy turn.Policy, fault func(fsroom.Step) error) *Room {
	f.Helper()
	store, err := fsroom.Open(f.data, fsroom.Options{Fault: fault})
	f.must(err)
	c := &Client{
		Store: store, Table: identity.System(), Self: identity.Agent{ID: id, Source: identity.SourceOverride},
		Policy:     func() (turn.Policy, error) { return policy, nil },
		Executable: os.Executable, Warn: func(string) {},
	}
	r, _, err := c.Join(context.Background(), f.workspace(), false, false)
	f.must(err)
	f.Cleanup(func() { _, _ = r.Leave(context.Background(), nil) })
	return r
}

// aged is the policy of a room in which a member that joined just now can be gone.
func aged() turn.Policy {
	p := turn.DefaultPolicy()
	p.GoneGrace = 1
	return p
}

// awaitGone returns when the member counts as gone.
func (f *fixture) awaitGone(r *Room, id string) {
	f.Helper()
	for {
		st := f.state(r)
		if r.Facts(st).Gone(st, st.Member(id)) {
			return
		}
	}
}

// An owner that comes back while another agent takes its turn over, or removes it.
func TestOwnerComesBackBeforeTheLock(t *testing.T) {
	take := func(b *Room) error {
		out := make(answers, 1)
		return b.Take(context.Background(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b:1", Lease: fsroom.NewID()}, Reason: "x"}, out)
	}
	kick := turn.KickRequest{Agent: "b:1", Target: "a:1"}
	for name, c := range map[string]struct {
		act  func(b *Room) error
		want code.Code
	}{
		"take": {take, code.TakeoverNotAvailable},
		"kick": {func(b *Room) error {
			_, err := b.Kick(context.Background(), kick)
			return err
		}, code.TargetActive},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			policy := aged()
			if name == "kick" {
				policy.OwnerLeaseTTL = 1 // a live lease would be enough to refuse it
			}
			b, before := f.joinBeforeLock("b:1", policy)
			a := f.join("a:1")
			granted := f.try(a)
			f.killGuardian(a)
			f.sessionEnds(a)
			f.awaitGone(b, "a:1")
			for expired := name != "kick"; !expired; { // until the lease has run out
				st := f.state(b)
				_, _, err := turn.Kick(st, b.Facts(st), kick)
				expired = err == nil
			}
			var back turn.WaitResult
			*before = func() { back = f.try(f.resumed(a)) }
			if err := c.act(b); code.Of(err) != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
			if back.Status != turn.YourTurn || back.Reason != turn.ReasonOwner || back.TurnID != granted.TurnID || back.GuardianPID == 0 {
				t.Errorf("the owner was told %+v", back)
			}
			if st := f.state(a); st.Owner != "a:1" || st.Turn != granted.TurnID {
				t.Errorf("%q has turn %d", st.Owner, st.Turn)
			}
		})
	}
}

// A member that comes back is not removed, and keeps the room open when the last other one
// leaves.
func TestMemberComesBackBeforeTheLock(t *testing.T) {
	setUp := func(t *testing.T) (f *fixture, a, b *Room) {
		f = newFixture(t)
		b, before := f.joinBeforeLock("b:1", aged())
		a = f.join("a:1")
		f.sessionEnds(a)
		f.awaitGone(b, "a:1")
		*before = func() {
			back := f.resumed(a)
			back.RecordPresence(context.Background(), f.state(back))
		}
		return f, a, b
	}
	t.Run("kick", func(t *testing.T) {
		f, a, b := setUp(t)
		_, err := b.Kick(context.Background(), turn.KickRequest{Agent: "b:1", Target: "a:1"})
		// Silence is by the wall clock: the member was heard of a moment ago.
		if code.Of(err) != code.TargetActive || !a.IsMember(f.state(a)) {
			t.Errorf("%v", err)
		}
	})
	t.Run("leave", func(t *testing.T) {
		f, a, b := setUp(t)
		res, err := b.Leave(context.Background(), nil)
		if err != nil || res.Status != "left" || !f.state(a).Open {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// A guardian that would end because its agent has ended looks again under the lock.
func TestGuardianLooksAgain(t *testing.T) {
	f := newFixture(t)
	other := f.join("b:1")
	a, before := f.joinBeforeLock("a:1", turn.DefaultPolicy())
	granted := f.try(a)
	f.killGuardian(a) // this process is the guardian
	self := a.Table.Self()
	f.must(a.changeLease(t.Context(), func(_ *turn.State, l *turn.Lease) (bool, error) {
		l.Guardian = turn.ProcessID(self)
		return true, nil
	}))
	g := &guardian{Room: a, turn: granted.TurnID, self: self, notified: true, due: time.Hour, renewed: a.Now()}
	f.must(a.own().Write(processesFile, &processRecord{Processes: []identity.Process{ended(a.Table)}}))
	*before = func() {
		back := f.resumed(a)
		back.RecordPresence(context.Background(), f.state(back))
	}
	if done, _, err := g.look(t.Context(), f.state(a)); done || err != nil {
		t.Errorf("with the agent back: done %v, %v", done, err)
	}
	if l := a.recorded(f.state(a)); l.Ended != (turn.Ending{}) {
		t.Errorf("it says that it has ended: %+v", l)
	}

	f.ends(a)
	if done, _, err := g.look(t.Context(), f.state(a)); !done || err != nil {
		t.Errorf("with the agent gone: done %v, %v", done, err)
	}
	if l := a.recorded(f.state(a)); l.Ended.Why == "" {
		t.Errorf("it does not say that it has ended: %+v", l)
	}
	if pid := a.activeGuardian(f.state(a), ptr(a.recorded(f.state(a)))); pid != 0 {
		t.Errorf("process %d, which has said that it ends, counts as the guardian", pid)
	}
	_ = other
}

// A guardian of a turn that a hook has taken looks often whether its holder is idle, from the
// beginning on.
func TestGuardianOfAnAutoTurn(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	granted := f.try(a)
	self := a.Table.Self()
	f.must(a.changeLease(t.Context(), func(_ *turn.State, l *turn.Lease) (bool, error) {
		l.Guardian, l.ByHand = turn.ProcessID(self), false
		return true, nil
	}))
	g := &guardian{Room: a, turn: granted.TurnID, self: self, notified: true, due: firstRenewal}
	st := *f.state(a)
	st.Grant.Auto, st.Grant.Host = true, a.hosts.name()
	for range 2 {
		if done, sleep, err := g.renewIfDue(t.Context(), &st); done || err != nil || sleep.For > autoPoll {
			t.Errorf("done %v, %v, %v", done, sleep.For, err)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// A guardian minds its own turn: it ends with it, renews no later one of its agent, and does
// not say that it has ended.
func TestGuardianOfAnotherTurn(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	first := f.try(a)
	g := &guardian{Room: a, turn: first.TurnID, self: ended(a.Table), due: time.Hour, renewed: a.Now()}
	handoff, err := turn.CheckHandoff([]byte(`{"status":"s","next_action":"n"}`))
	f.must(err)
	if _, _, err := a.Release(t.Context(), nil, handoff, ""); err != nil {
		t.Fatal(err)
	}
	if got := f.try(a); got.TurnID != first.TurnID+1 {
		t.Fatalf("%+v", got)
	}
	f.killGuardian(a) // else it would be that one's, whatever the turn
	before := a.recorded(f.state(a))
	if done, _, err := g.look(t.Context(), f.state(a)); !done || err != nil {
		t.Errorf("done %v, %v", done, err)
	}
	if mine, err := g.renew(t.Context()); mine || err != nil {
		t.Errorf("renewed: %v, %v", mine, err)
	}
	f.ends(a)
	if ended, err := g.endLease(t.Context(), "x"); !ended || err != nil {
		t.Errorf("ended: %v, %v", ended, err)
	}
	after := a.recorded(f.state(a))
	if after.Ended.Why != "x" {
		after.Ended = before.Ended // its own guardian may say what it has seen
	}
	if after != before {
		t.Errorf("the lease of the later turn was\n%+v and is\n%+v", before, after)
	}
}

// Of two waits of one agent one is told that it has the turn, and the other which process
// that is. A call that begins after that has the turn again.
func TestTwoWaitsOfOneAgent(t *testing.T) {
	f := newFixture(t)
	b := f.join("b:1")
	one, two := f.join("a:1"), f.join("a:1")
	f.try(b)
	type told struct {
		turn.WaitResult
		err error
	}
	results := make(chan told, 2)
	for _, r := range []*Room{one, two} {
		out := looked{make(answers, 1), make(chan turn.WaitResult, 100)}
		go func() {
			err := r.Wait(context.Background(), time.Hour, false, false, out)
			var res turn.WaitResult
			if err == nil {
				res = <-out.answers
			}
			results <- told{res, err}
		}()
		<-out.looks
	}
	handoff, err := turn.CheckHandoff([]byte(`{"status":"s","next_action":"n"}`))
	f.must(err)
	if _, _, err := b.Release(t.Context(), nil, handoff, ""); err != nil {
		t.Fatal(err)
	}
	first, second := <-results, <-results
	if first.Status != turn.YourTurn {
		first, second = second, first
	}
	if first.err != nil || first.Status != turn.YourTurn || first.Reason != turn.ReasonSequence {
		t.Errorf("one is told %+v, %v", first.WaitResult, first.err)
	}
	if second.err != nil || second.Status != turn.NotYet || second.CurrentOwner != "a:1" || second.GrantedTo != os.Getpid() || second.LeaseID != "" {
		t.Errorf("the other is told %+v, %v", second.WaitResult, second.err)
	}
	if again := f.try(one); again.Status != turn.YourTurn || again.Reason != turn.ReasonOwner || again.TurnID != first.TurnID {
		t.Errorf("later: %+v", again)
	}
}

// The order of what several hosts do is that of the engine.

// atHost is team.join with something that is done before the next entry is appended, and
// before the next lock.
func (w *team) hooked(host, id string) (r *Room, atEngine **hookedEngine) {
	atEngine = new(*hookedEngine)
	r = w.join(host, "boot 1", w.TempDir(), id, func(e engine.Engine) engine.Engine {
		*atEngine = &hookedEngine{Engine: e}
		return *atEngine
	})
	return r, atEngine
}

// An owner whose turn was taken over is told so by its next wait, also if it looked at the
// room before: the answer of the engine decides.
func TestResumeAgainstTakeover(t *testing.T) {
	w := newTeam(t)
	a, atEngine := w.hooked("one", "a:1")
	b := w.onHost("two", "b:1")
	w.try(a)
	w.later(6 * time.Minute) // the lease has ended
	w.killGuardian(a)
	taken := false
	(*atEngine).before = func() { taken = w.take(b) == nil }
	got := w.tryAnew(a)
	if !taken || got.Status != turn.NotYet || got.CurrentOwner != "b:1" {
		t.Errorf("taken over: %v, and the owner was told %+v", taken, got)
	}
}

// A lease that was renewed by another guardian than the one that has ended is alive, although
// the record that says "ended" was fetched before.
func TestResumeAgainstTakeoverOfOneGone(t *testing.T) {
	w := newTeam(t)
	a := w.onHost("one", "a:1")
	b, atEngine := w.hooked("two", "b:1")
	g := w.guardianOn(a, w.try(a).TurnID)
	w.later(10 * time.Second)
	w.killGuardian(a)
	w.ends(a)
	if ended, err := g.endLease(t.Context(), "the agent's process has ended"); !ended || err != nil {
		t.Fatalf("ended: %v, %v", ended, err)
	}
	w.later(10 * time.Second)
	var back turn.WaitResult
	(*atEngine).before = func() { back = w.tryAnew(a) }
	if err := w.take(b); code.Of(err) != code.TakeoverNotAvailable {
		t.Errorf("taken over: %v", err)
	}
	if back.Status != turn.YourTurn || back.Reason != turn.ReasonOwner {
		t.Errorf("the owner was told %+v", back)
	}
}

// A proof begins before the engine is asked, at a grant and at a renewal.
func TestProofBeginsBeforeTheQuestion(t *testing.T) {
	w := newTeam(t)
	a, atEngine := w.hooked("one", "a:1")
	asked := time.Duration(0)
	ask := func() {
		asked = identity.Uptime()
		for identity.Uptime() < asked+5*time.Millisecond { // the engine takes its time
		}
	}
	(*atEngine).before = ask
	granted := w.try(a)
	if p := a.recorded(w.state(a)).Proof; p.Boot == "" || p.Uptime > asked {
		t.Errorf("granted: the engine was asked at %v, and the proof begins at %v", asked, p.Uptime)
	}
	g := w.guardianOn(a, granted.TurnID)
	(*atEngine).before = ask
	if mine, err := g.renew(t.Context()); !mine || err != nil {
		t.Fatalf("%v, %v", mine, err)
	}
	if p := a.recorded(w.state(a)).Proof; p.Boot == "" || p.Uptime > asked {
		t.Errorf("renewed: the engine was asked at %v, and the proof begins at %v", asked, p.Uptime)
	}
}

// A policy that makes leases shorter ends none that was promised for longer, neither for the
// other hosts nor for the owner's.
func TestShorterLeaseOnSeveralHosts(t *testing.T) {
	w := newTeam(t)
	a, b := w.onHost("one", "a:1"), w.onHost("two", "b:1")
	granted := w.try(a)
	w.killGuardian(a) // as if the host were cut off
	_, _, err := b.Update(t.Context(), nil, func(st *turn.State, _ turn.Facts) (events []event.Event, err error) {
		events, _, err = turn.SetPolicy(st, "b:1", func(p *turn.Policy) error { p.OwnerLeaseTTL = 3000; return nil })
		return events, err
	})
	w.must(err)
	w.later(4 * time.Second)
	if err := w.take(b); code.Of(err) != code.TakeoverNotAvailable {
		t.Errorf("taken over: %v", err)
	}
	if _, unproved := a.Unproved(w.state(a)); unproved {
		t.Error("the turn is not proved any more")
	}
	g := w.guardianOn(a, granted.TurnID)
	if mine, err := g.renew(t.Context()); !mine || err != nil {
		t.Fatalf("%v, %v", mine, err)
	}
	w.later(4 * time.Second)
	if err := w.take(b); err != nil {
		t.Errorf("the lease that was renewed under the policy: %v", err)
	}
}

// An agent is on one host: where it has the turn.
func TestAgentOnTwoHosts(t *testing.T) {
	w := newTeam(t)
	a := w.onHost("one", "a:1")
	b := w.onHost("two", "b:1")
	twin := w.onHost("three", "a:1") // nobody has the turn: it may be anywhere
	if got := w.try(a); got.Status != turn.YourTurn {
		t.Fatalf("%+v", got)
	}
	before := a.recorded(w.state(a))
	refused := func(what string, err error) {
		t.Helper()
		var e *code.Error
		if code.Of(err) != code.AgentElsewhere || !errors.As(err, &e) || e.Details["host"] != "one" || e.Details["guardian_pid"] != before.Guardian.PID || e.Hint == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	fresh := func() *Room { return twin.Client.Room(twin.FS.Name(), twin.Workspace) }
	refused("wait", fresh().Try(t.Context(), make(answers, 1)))
	refused("take", w.take(twin))
	_, _, err := twin.Client.Join(t.Context(), w.workspace(), false, false)
	refused("join", err)
	_, _, err = fresh().Release(t.Context(), nil, nil, "")
	refused("release", err)
	refused("release, before its handoff is written", fresh().CheckRelease(t.Context(), ""))
	_, err = fresh().Leave(t.Context(), nil)
	refused("leave", err)
	_, _, err = fresh().Update(t.Context(), nil, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
		return turn.Send(st, f, turn.MessageRequest{Agent: "a:1", To: "b:1", Body: "hello"})
	})
	refused("message", err)
	if at := fresh(); at.Elsewhere(w.state(at)) != "one" {
		t.Errorf("it is on %q", at.Elsewhere(w.state(at)))
	}
	twin.RecordPresence(t.Context(), w.state(twin))
	if got := w.tryAnew(a); got.Status != turn.YourTurn || got.Reason != turn.ReasonOwner {
		t.Errorf("where it has the turn: %+v", got)
	}
	if l := b.Client.Room(b.FS.Name(), nil); l.recorded(w.state(l)).Lease != before.Lease {
		t.Error("the record of the lease is lost to the others")
	}

	// Where the host is lost, the agent takes the turn over as others do.
	w.later(6 * time.Minute)
	w.must(w.take(twin))
	if st := w.state(b); st.Owner != "a:1" || st.Turn != 2 || st.Grant.Host != "three" {
		t.Errorf("%s has turn %d on %s", st.Owner, st.Turn, st.Grant.Host)
	}
	if got := a.Client.Room(a.FS.Name(), a.Workspace); code.Of(got.Try(t.Context(), make(answers, 1))) != code.AgentElsewhere {
		t.Error("the host that was lost has the turn still")
	}
}
