package member

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// A guardian whose engine is away goes on after the end of the lease, but not for ever.
func TestGuardianOfAnEngineThatIsGone(t *testing.T) {
	w := newTeam(t)
	a := w.onHost("one", "a:1")
	granted := w.try(a)
	g := w.guardianOn(a, granted.TurnID)
	g.notified, g.due, g.renewed = true, time.Minute, a.Now()
	st := w.state(a)
	w.engine.SetAway(true)
	defer w.engine.SetAway(false)
	look := func(want bool) {
		t.Helper()
		if done, _, err := g.look(t.Context(), st); done != want || err != nil {
			t.Errorf("done: %v, %v", done, err)
		}
	}
	w.later(5*time.Minute + abandonedAfter - time.Second)
	look(false)
	w.later(retryDelay)
	look(true)
}

// A guardian that was started before its turn does not end while the engine may have got the grant
// that it waits for: nothing gets through, or the changes of one that has the room's lock do not.
func TestGuardianOfAGrantUnderWay(t *testing.T) {
	w := newTeam(t)
	a := w.onHost("one", "a:1")
	st := w.state(a)
	g := &guardian{Room: a.Client.Room(a.FS.Name(), nil), turn: st.Turn + 1, started: a.Now()}
	look := func(when string, want bool) {
		t.Helper()
		if done, _, err := g.look(t.Context(), st); done != want || err != nil {
			t.Errorf("%s: done: %v, %v", when, done, err)
		}
	}
	w.later(grantPatience)
	w.engine.SetFault(func() memory.Fault { return memory.Refused })
	unlock, err := a.FS.Lock(t.Context())
	w.must(err)
	look("no change gets through", false)
	w.must(unlock())
	w.engine.SetFault(func() memory.Fault { return memory.None })
	w.engine.SetAway(true)
	look("nothing gets through", false)
	w.later(abandonedAfter)
	look("nothing has got through for long", true)
	g.started = a.Now()
	w.engine.SetAway(false)
	w.later(grantPatience)
	look("there is no grant", true)
}

// What is known of an owner on another host, as time passes.
func TestOwnerOnAnotherHost(t *testing.T) {
	w := newTeam(t)
	a, b := w.onHost("one", "a:1"), w.onHost("two", "b:1")
	granted := w.try(a)
	g := w.guardianOn(a, granted.TurnID)
	is := func(process turn.Process, why string) {
		t.Helper()
		if m := w.member(b, "a:1"); m.Process != process || m.Status != "active" || m.Why != why {
			t.Errorf("it is %s and %s, %q; want %s, %q", m.Process, m.Status, m.Why, process, why)
		}
	}
	guardian := func(want turn.Process) {
		t.Helper()
		fresh := b.Client.Room(b.FS.Name(), nil)
		if n := fresh.Renewal(w.state(fresh)); n.PID != 0 || n.Status != want {
			t.Errorf("its guardian is %+v; want %s, and no number", n, want)
		}
	}
	is(turn.Alive, "")
	guardian(turn.Alive)
	w.later(time.Minute)
	is(turn.Alive, "")
	w.later(time.Second)
	is(turn.Unknown, "silent for 1m")
	guardian(turn.Unknown)
	if mine, err := g.renew(t.Context()); !mine || err != nil {
		t.Fatalf("%v, %v", mine, err)
	}
	is(turn.Alive, "")
	guardian(turn.Alive)
	w.later(5*time.Minute - time.Millisecond)
	is(turn.Unknown, "silent for 4m")
	if got := w.tryAnew(b); got.Status != turn.NotYet {
		t.Errorf("before the lease ends: %+v", got)
	}
	w.later(time.Millisecond)
	if got := w.tryAnew(b); got.Status != turn.TakeoverAvailable || got.Reason != turn.ReasonOwnerTimeout {
		t.Errorf("when the lease has ended: %+v", got)
	}
}

// A guardian that has seen the harness end says so, and the other hosts take its word, until
// the agent is heard of again.
func TestAnEndThatAnotherHostSaw(t *testing.T) {
	w := newTeam(t)
	a, b := w.onHost("one", "a:1"), w.onHost("two", "b:1")
	g := w.guardianOn(a, w.try(a).TurnID)
	w.later(10 * time.Second)
	w.ends(a)
	if ended, err := g.endLease(t.Context(), "the agent's process has ended"); !ended || err != nil {
		t.Fatalf("ended: %v, %v", ended, err)
	}
	got := w.tryAnew(b)
	if got.Status != turn.TakeoverAvailable || got.Reason != turn.ReasonOwnerGone || got.Evidence.GoneSince == nil ||
		!strings.HasPrefix(got.Evidence.Sentence, "the process of a:1 has ended") {
		t.Errorf("%+v", got)
	}
	if m := w.member(b, "a:1"); m.Process != turn.Gone || m.Status != "inactive" {
		t.Errorf("%+v", m)
	}
	w.later(time.Second)
	a.RecordPresence(t.Context(), w.state(a))
	if m := w.member(b, "a:1"); m.Process == turn.Gone {
		t.Errorf("an agent that has run a command since is %+v", m)
	}
}

// The processes of a host that was booted since have ended.
func TestRebootOfAnotherHost(t *testing.T) {
	w := newTeam(t)
	dir := w.TempDir()
	w.join("one", "boot 1", dir, "a:1", nil)
	b := w.onHost("two", "b:1")
	if m := w.member(b, "a:1"); m.Process != turn.Alive {
		t.Errorf("before: %+v", m)
	}
	w.later(time.Second)
	w.join("one", "boot 2", dir, "c:1", nil)
	b = w.onHost("two", "b:1")
	if m := w.member(b, "a:1"); m.Process != turn.Gone {
		t.Errorf("after: %+v", m)
	}
	if m := w.member(b, "c:1"); m.Process != turn.Alive {
		t.Errorf("an agent of the new boot: %+v", m)
	}
}

// A wait on another host shows that the agent is alive, however long ago its last word was.
func TestWaitOnAnotherHost(t *testing.T) {
	w := newTeam(t)
	a, b := w.onHost("one", "a:1"), w.onHost("two", "b:1")
	stop, err := a.own().Hold(waitingFile)
	w.must(err)
	w.later(time.Hour + time.Second)
	if m := w.member(b, "a:1"); !m.Waiting || m.Process != turn.Alive || m.Why != "" {
		t.Errorf("while it waits: %+v", m)
	}
	stop()
	if m := w.member(b, "a:1"); m.Waiting || m.Process != turn.Unknown || m.Why != "silent for 1h" {
		t.Errorf("after that: %+v", m)
	}
}

// A process number of another host is that of nobody here, and nothing is known of it.
func TestProcessNumbersOfAnotherHost(t *testing.T) {
	w := newTeam(t)
	a, b := w.onHost("one", "a:1"), w.onHost("two", "b:1")
	w.try(a)
	w.later(time.Hour)
	for name, p := range map[string]identity.Process{
		"that of a process here":    a.Table.Self(),
		"that of no process at all": {Host: "one", Boot: "boot 1", PID: 1 << 30, Start: 1, Namespace: a.Table.Self().Namespace},
	} {
		w.must(a.own().Write(processesFile, &processRecord{Processes: []identity.Process{p}}))
		w.later(time.Hour)
		fresh := b.Client.Room(b.FS.Name(), nil)
		st := w.state(fresh)
		if got := fresh.Facts(st).Presence("a:1"); got.Process != turn.Unknown || got.PID != 0 {
			t.Errorf("%s: %+v", name, got)
		}
		var exits ExitWatcher
		exits.Watch(fresh.watched(st))
		select {
		case <-exits.C():
			t.Errorf("%s: its end is reported", name)
		default:
		}
		exits.Close()
	}
}

// A hookedEngine calls a function once, before the next entry is appended.
type hookedEngine struct {
	engine.Engine
	before func()
}

func (h *hookedEngine) Append(ctx context.Context, room string, after engine.Revision, e engine.Entry, keep time.Duration) (engine.Entry, error) {
	if before := h.before; before != nil {
		h.before = nil
		before()
	}
	return h.Engine.Append(ctx, room, after, e, keep)
}

func (w *team) take(r *Room) error {
	r = r.Client.Room(r.FS.Name(), r.Workspace)
	out := make(answers, 1)
	return r.Take(context.Background(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: r.Self.ID, Lease: fsroom.NewID()}, Reason: "silence"}, out)
}

// A takeover that was decided without the last renewal is refused, and a holder that was
// overtaken cannot renew, whichever comes first at the engine.
func TestTakeoverAgainstRenewal(t *testing.T) {
	setUp := func(t *testing.T) (w *team, g *guardian, a, b *Room, ofA, ofB *hookedEngine) {
		w = newTeam(t)
		hook := func(h **hookedEngine) func(engine.Engine) engine.Engine {
			return func(e engine.Engine) engine.Engine { *h = &hookedEngine{Engine: e}; return *h }
		}
		a = w.join("one", "boot 1", w.TempDir(), "a:1", hook(&ofA))
		b = w.join("two", "boot 1", w.TempDir(), "b:1", hook(&ofB))
		g = w.guardianOn(a, w.try(a).TurnID)
		w.later(6 * time.Minute) // the lease has ended
		return w, g, a, b, ofA, ofB
	}
	t.Run("the renewal is first", func(t *testing.T) {
		w, g, a, b, _, ofB := setUp(t)
		renewed := false
		ofB.before = func() {
			mine, err := g.renew(t.Context())
			renewed = mine && err == nil
		}
		if err := w.take(b); code.Of(err) != code.TakeoverNotAvailable || !renewed {
			t.Errorf("renewed: %v, and the takeover: %v", renewed, err)
		}
		if st := w.state(a); st.Owner != "a:1" || st.Turn != g.turn {
			t.Errorf("%s has turn %d", st.Owner, st.Turn)
		}
	})
	t.Run("the takeover is first", func(t *testing.T) {
		w, g, a, b, ofA, _ := setUp(t)
		ofA.before = func() { w.must(w.take(b)) }
		if mine, err := g.renew(t.Context()); mine || err != nil {
			t.Errorf("renewed: %v, %v", mine, err)
		}
		if st := w.state(a); st.Owner != "b:1" || st.Turn != g.turn+1 {
			t.Errorf("%s has turn %d", st.Owner, st.Turn)
		}
		if told, ok := a.hosts.told(w.state(a)); ok {
			t.Errorf("the new turn has been renewed: %+v", told)
		}
		if note, _ := a.FS.Shared().Note(); len(note) > 0 {
			t.Errorf("the old turn was renewed: %s", note)
		}
	})
}

// The model: two agents on two hosts renew, take over and release while time passes, each
// in the middle of what the other does. No turn ends before its lease, counted from the last
// renewal that its holder was told of, and no turn is renewed that has ended.
func TestTakeoverAndRenewalModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newTeam(t)
		w.at = w.at.Truncate(time.Millisecond)
		var hooks [2]*hookedEngine
		var rooms [2]*Room
		for i, id := range []string{"a:1", "b:1"} {
			rooms[i] = w.join(id, "boot 1", w.TempDir(), id, func(e engine.Engine) engine.Engine {
				hooks[i] = &hookedEngine{Engine: e}
				return hooks[i]
			})
		}
		lease := time.Duration(sharedPolicy().OwnerLeaseTTL) * time.Millisecond
		holder, began := -1, time.Time{} // as the holder believes
		var act func(host int, interrupted bool)
		act = func(i int, interrupted bool) {
			r := rooms[i].Client.Room(rooms[i].FS.Name(), rooms[i].Workspace)
			if interrupted {
				hooks[i].before = func() { act(1-i, false) }
				defer func() { hooks[i].before = nil }()
			}
			at := w.now()
			switch what := rapid.SampledFrom([]string{"wait", "renew", "take", "time"}).Draw(rt, "what"); what {
			case "time":
				w.later(time.Duration(rapid.IntRange(1, 200).Draw(rt, "seconds")) * time.Second)
			case "renew":
				snap, err := r.FS.View()
				if err != nil || snap.State.Owner != r.Self.ID {
					return
				}
				turnID := snap.State.Turn
				told := false
				err = r.renewLease(context.Background(), func(st *turn.State, l *turn.Lease) (bool, error) {
					if told = st.Owner == r.Self.ID && st.Turn == turnID; told {
						l.Renew(r.Now(), st.Policy, turn.ProcessID{PID: 1, Start: 1})
					}
					return told, nil
				})
				if err != nil {
					rt.Fatalf("renew: %v", err)
				}
				if told {
					if holder != i {
						rt.Fatalf("%s renews a turn that it has not", r.Self.ID)
					}
					began = at
				}
			default:
				_, events, err := r.updateThen(context.Background(), nil, func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
					if what == "wait" {
						events, _, err = turn.Try(st, f, turn.TryRequest{Agent: r.Self.ID, Lease: fsroom.NewID()})
					} else {
						events, _, err = turn.Take(st, f, turn.TakeRequest{TryRequest: turn.TryRequest{Agent: r.Self.ID, Lease: fsroom.NewID()}, Reason: "silence"})
					}
					return events, err
				}, func() {})
				if err != nil || len(events) == 0 {
					return
				}
				if holder >= 0 && holder != i && w.now().Sub(began) < lease {
					rt.Fatalf("%s takes over %v after the last renewal", r.Self.ID, w.now().Sub(began))
				}
				holder, began = i, at
			}
		}
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			act(rapid.IntRange(0, 1).Draw(rt, "host"), rapid.Bool().Draw(rt, "interrupted"))
		}
	})
}

// An endingEngine calls end when it is asked for the nth time what a room has, and from then on it
// is not waited for.
type endingEngine struct {
	engine.Engine
	left *atomic.Int64
	end  func()
}

func (e endingEngine) Read(ctx context.Context, room string, from engine.Revision, fn func(engine.Entry) error) error {
	if left := e.left.Add(-1); left == 0 {
		e.end()
	} else if left > 0 {
		return e.Engine.Read(ctx, room, from, fn)
	}
	return context.Canceled
}

// An endedWait is [answers] that does something after each look that brought no answer.
type endedWait struct {
	answers
	do func()
}

func (w endedWait) Waiting(turn.WaitResult) { w.do() }

// A wait answers, wherever in it a signal comes and the engine is not waited for any more.
func TestSignalInAWait(t *testing.T) {
	w := newTeam(t)
	w.try(w.onHost("one", "a:1"))
	var left atomic.Int64
	left.Store(1 << 30)
	var end context.CancelCauseFunc
	b := w.join("two", "boot 1", w.TempDir(), "b:1", func(e engine.Engine) engine.Engine {
		return endingEngine{e, &left, func() { end(errors.New("signal")) }}
	})
	for n, reached := int64(1), true; reached; n++ {
		left.Store(n)
		var ctx context.Context
		ctx, end = context.WithCancelCause(context.Background())
		reached = true
		out := endedWait{make(answers, 1), func() {
			reached = left.Load() <= 0
			end(errors.New("signal"))
		}}
		w.must(b.Client.Room(b.FS.Name(), b.Workspace).Wait(ctx, time.Hour, false, false, out))
		end(nil)
		if res := <-out.answers; res.Status != turn.NotYet || res.CurrentOwner != "a:1" || res.Away != "" {
			t.Errorf("at read %d: %+v", n, res)
		}
	}
}

// A wait whose time is up before it could look at the room says why it could not.
func TestShortWaitForADamagedRoom(t *testing.T) {
	f := newFixture(t)
	r := f.join("a:1")
	f.must(os.WriteFile(r.FS.JournalPath(), []byte("{\n"), 0o600))
	f.must(os.Remove(r.FS.StatePath()))
	if err := r.Wait(context.Background(), 0, false, false, make(answers, 1)); code.Of(err) != code.CorruptRoom {
		t.Errorf("got %v", err)
	}
}
