package listen

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

func TestAMessageWakesOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	f.wants(a, "")
	before := wakeTime(a)
	f.send(b, "a:1", "SECRET orders", false)
	if !wakeTime(a).After(before) {
		t.Error("the wake file was not touched")
	}
	w := f.wake(a)
	if !strings.HasPrefix(w.Text, says+" 1 message for you in ") || w.Class != turn.ClassMessage || strings.Contains(w.Text, "SECRET") {
		t.Errorf("%+v", w)
	}
	f.wants(a, "")
	text := f.show(a)
	if !strings.Contains(text, "b:1: SECRET orders") || !strings.Contains(text, "no permission") {
		t.Errorf("shown: %q", text)
	}
	if again := f.show(a); again != "" {
		t.Errorf("shown again: %q", again)
	}
	f.later(time.Hour)
	f.wants(a, "")
}

// A message to the room is shown with the next hook, and wakes nobody unless it is urgent.
func TestMessagesToTheRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	before := wakeTime(a)
	f.send(b, turn.Everyone, "hello all", false)
	if wakeTime(a) != before {
		t.Error("the wake file was touched")
	}
	f.wants(a, "")
	if !strings.Contains(f.show(a), "b:1 to all: hello all") {
		t.Error("not shown")
	}
	f.send(b, turn.Everyone, "fire", true)
	f.wants(a, "1 message")
}

func TestNewsThatNobodyHeedsIsSaidThreeTimes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, r := f.listener("a:1")
	f.send(f.join("b:1"), "a:1", "one", false)
	f.wants(a, "1 message")
	if w := f.wake(a); w.Later <= 29*time.Second || w.Later > 30*time.Second {
		t.Errorf("again in %v", w.Later)
	}
	f.later(29 * time.Second)
	f.wants(a, "")
	f.later(time.Second)
	f.wants(a, "1 message")
	f.later(89 * time.Second)
	f.wants(a, "")
	f.later(time.Second)
	f.wants(a, "1 message")
	f.later(time.Hour)
	if w := f.wake(a); w.Text != "" || w.Later != 0 {
		t.Errorf("said a fourth time: %+v", w)
	}
	if !strings.Contains(f.show(a), "one") {
		t.Error("it is lost")
	}
	snap, err := r.FS.View()
	f.must(err)
	if at := mailbox.Of(r).Cursor(snap.State); at.Woken.Tries != hearing.MaxTries || at.Shown.How != "hook" {
		t.Errorf("%+v", at)
	}
}

func TestMessagesComeInBatches(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	f.send(b, "a:1", "one", false)
	f.wants(a, "1 message")
	f.send(b, "a:1", "two", false)
	if w := f.wake(a); w.Text != "" || w.Later > messageGap || w.Later == 0 {
		t.Errorf("%+v", w)
	}
	f.send(b, "a:1", "three", false)
	f.later(messageGap)
	f.wants(a, "3 messages")
}

// Two agents that answer each other stop being woken. A person still wakes them.
func TestMessagesOfAgentsDoNotWakeForEver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b, person := f.join("b:1"), f.join("human:ada")
	for range hearing.MostWakes {
		f.send(b, "a:1", "thanks", false)
		f.wants(a, "1 message")
		f.show(a)
		f.later(messageGap)
	}
	f.send(b, "a:1", "thanks", false)
	f.wants(a, "")
	f.send(person, "a:1", "stop it", false)
	f.wants(a, "2 messages")
	f.show(a)
	f.send(b, "a:1", "thanks", false)
	f.later(messageGap)
	f.wants(a, "")
	f.later(hearing.WakesSpan)
	f.wants(a, "1 message")
}

// What an agent releases wakes as often as messages do, which is a budget of its own, and a turn that
// is assigned always. What was put off for that is told as soon as it may be.
func TestOffersOfAgentsDoNotWakeForEver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	l := a.Client.Hearing().Listener()
	spend := func(b *hearing.Budget) {
		for range hearing.MostWakes {
			b.Spend(f.clock)
		}
		f.must(a.Client.Hearing().Save(&l))
	}
	b := f.join("b:1")
	release := func() {
		f.takeTurn(b)
		f.change(b, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
			events, _, err := turn.Release(st, facts, turn.ReleaseRequest{Fence: turn.Fence{Agent: st.Owner, Turn: st.Turn, Lease: st.Grant.Lease}, Handoff: []byte(`{}`)})
			return events, err
		})
	}
	spend(&l.Messages)
	release()
	f.wants(a, "offered to you")
	l = a.Client.Hearing().Listener()
	spend(&l.Turns)
	release()
	w := f.wake(a)
	if w.Text != "" || !w.Spent || w.Later > hearing.WakesSpan || w.Later < hearing.WakesSpan-time.Minute {
		t.Errorf("%+v", w)
	}
	f.later(w.Later)
	f.wants(a, "offered to you")
	l = a.Client.Hearing().Listener()
	spend(&l.Turns)
	f.takeTurn(b)
	f.change(b, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
		events, _, err := turn.Assign(st, facts, turn.ReleaseRequest{Fence: turn.Fence{Agent: st.Owner, Turn: st.Turn, Lease: st.Grant.Lease}, Handoff: []byte(`{}`)}, "a:1")
		return events, err
	})
	f.wants(a, "offered to you")
}

func TestQuiet(t *testing.T) {
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	f.must(a.TurnOff(ctx, true))
	f.send(b, "a:1", "one", false)
	f.wants(a, "")
	f.must(a.TurnOff(ctx, false))
	t.Setenv(Quiet, "1")
	f.wants(a, "")
	t.Setenv(Quiet, "")
	f.wants(a, "1 message")
}

func TestNewsWaitsForTheEndOfATurnOfTheModel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	f.must(a.Begin(ctx, Session{ID: "s1"}))
	a.Note(doing(turn.ActivityWorking))
	f.send(b, "a:1", "one", false)
	if w := f.wake(a); w.Text != "" || w.Later > busyPatience || w.Later < busyPatience-time.Second {
		t.Errorf("%+v", w)
	}
	a.Note(doing(turn.ActivityIdle))
	f.wants(a, "1 message")
	f.show(a)
	a.Note(doing(turn.ActivityWorking))
	f.send(b, "a:1", "two", false)
	f.wants(a, "")
	f.later(busyPatience) // its user has interrupted it, which no hook tells
	f.wants(a, "1 message")
	f.show(a)
	f.later(messageGap)
	f.send(b, "a:1", "three", false)
	if w, err := a.DecideWake(ctx, hearing.ByHooks); err != nil || !strings.Contains(w.Text, "1 message") {
		t.Errorf("the hook at its end, which says something else as well: %+v, %v", w, err)
	}
	f.later(busyPatience)
	f.wants(a, "")
}

func TestAnEndedRoomIsToldOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	_, err := b.Kick(ctx, turn.KickRequest{Agent: "b:1", Target: "a:1", Force: true, Reason: "SECRET"})
	f.must(err)
	w := f.wake(a)
	if w.Class != turn.ClassLost || !strings.Contains(w.Text, "you were removed") || strings.Contains(w.Text, "SECRET") {
		t.Errorf("%+v", w)
	}
	f.wants(a, "")
	if !strings.Contains(f.show(a), "you were removed") {
		t.Error("not shown")
	}
	if names := a.Client.Hearing().Rooms(); len(names) > 0 {
		t.Errorf("still in %v", names)
	}
}

// Where the record cannot be written nothing is said: it would be said for ever.
func TestNothingIsSaidThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, r := f.listener("a:1")
	f.send(f.join("b:1"), "a:1", "one", false)
	for _, dir := range []string{r.FS.Agent("a:1").Path("tmp"), a.Client.Hearing().Dir().Path("tmp")} {
		f.must(os.RemoveAll(dir))
		f.must(os.WriteFile(dir, nil, 0o600))
		if w, err := a.DecideWake(ctx, hearing.ByExec); w.Text != "" || err == nil {
			t.Errorf("said %q, %v", w.Text, err)
		}
		f.must(os.Remove(dir))
	}
	f.later(messageGap)
	f.wants(a, "1 message")
}

// A person hears that the holder of a turn waits for it, once, and not of a dialog that is
// answered at once.
func TestAPersonHearsWhatTheHolderNeeds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b := f.join("b:1")
	f.takeTurn(b)
	p := f.join("human:ada")
	person := &Agent{Client: p.Client, Clock: func() time.Time { return f.clock }}
	needs := func(what string) {
		t.Helper()
		w, err := person.DecideWake(ctx, hearing.ByExec)
		f.must(err)
		if !strings.Contains(w.Text, what) || (w.Text == "") != (what == "") || w.Text != "" && w.Class != turn.ClassNeeds {
			t.Errorf("%+v, want %q", w, what)
		}
	}
	does := func(what string) {
		d := doing(what)
		d.Since.Wall, d.Detail = event.NewTime(f.clock), "git push"
		_, err := b.HearingOf("b:1").Note(d)
		f.must(err)
	}
	needs("")
	for what, words := range map[string]string{turn.ActivityAsks: "b:1 waits for your permission in ", turn.ActivityIdle: "is idle and holds", turn.ActivityLimited: "is limited"} {
		does(what)
		needs("")
		f.later(needAfter - time.Second)
		needs("")
		f.later(time.Second)
		needs(words)
		needs("")
	}
	does(turn.ActivityWorking)
	f.later(time.Hour)
	needs("")
}
