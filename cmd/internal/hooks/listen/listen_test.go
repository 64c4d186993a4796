package listen

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

var ctx = context.Background()

// doing is what the session s1 does now.
func doing(what string) hearing.Doing {
	return hearing.Doing{What: what, Session: "s1", Since: turn.Instant{Wall: event.NewTime(time.Now())}}
}

// A fixture is a data directory with one room, and a clock.
type fixture struct {
	*testing.T
	data, dir string
	clock     time.Time
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, data: t.TempDir(), dir: t.TempDir(), clock: time.Now()}
	f.must(os.WriteFile(filepath.Join(f.dir, "go.mod"), nil, 0o600))
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) store(o fsroom.Options) *fsroom.Store {
	store, err := fsroom.Open(f.data, o)
	f.must(err)
	return store
}

// client is an agent that is in no room. A human is a person.
func (f *fixture) client(id string) *member.Client {
	store := f.store(fsroom.Options{})
	kind := identity.HarnessCLI
	if strings.HasPrefix(id, "human:") {
		kind = identity.HumanCLI
	}
	return &member.Client{
		Store: store, Table: identity.System(), Self: identity.Agent{ID: id, Source: identity.SourceOverride, SessionKind: kind},
		Policy:     func() (turn.Policy, error) { return turn.DefaultPolicy(), nil },
		Executable: func() (string, error) { return "/bin/true", nil },
		Warn:       func(string) {},
	}
}

func (f *fixture) workspace() *workspace.Workspace {
	w, err := workspace.Locate(f.dir, f.dir, f.dir)
	f.must(err)
	return w
}

func (f *fixture) join(id string) *member.Room {
	f.Helper()
	r, _, err := f.client(id).Join(ctx, f.workspace(), false)
	f.must(err)
	return r
}

// listener makes an agent a member for whom something listens.
func (f *fixture) listener(id string) (*Agent, *member.Room) {
	f.Helper()
	r := f.join(id)
	a := &Agent{Client: r.Client, Clock: func() time.Time { return f.clock }}
	_, err := a.WakePath()
	f.must(err)
	return a, r
}

func (f *fixture) change(r *member.Room, decide func(*turn.State, turn.Facts) ([]event.Event, error)) {
	f.Helper()
	_, _, err := r.Update(ctx, decide)
	f.must(err)
}

// takeTurn takes a turn that is plainly to be had.
func (f *fixture) takeTurn(r *member.Room) {
	f.Helper()
	f.change(r, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
		events, res, err := turn.Take(st, facts, turn.TakeRequest{Agent: r.Self.ID, Lease: fsroom.NewID(), Reason: "test", Operator: true})
		if err == nil && res.Status != turn.YourTurn {
			f.Fatalf("%s has no turn: %+v", r.Self.ID, res)
		}
		return events, err
	})
}

func (f *fixture) send(from *member.Room, to, body string, interrupt bool) {
	f.Helper()
	_, _, err := from.Update(ctx, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
		return turn.Send(st, facts, turn.MessageRequest{Agent: from.Self.ID, To: to, Body: body, Interrupt: interrupt})
	})
	f.must(err)
}

// speak returns what Speak says.
func (f *fixture) speak(a *Agent) Wake {
	f.Helper()
	w, err := a.Speak(ctx, hearing.ByExec)
	f.must(err)
	return w
}

// print returns what Show prints.
func (f *fixture) print(a *Agent) (text string) {
	f.Helper()
	_, err := a.Show(ctx, "hook", func(s string) error { text = s; return nil })
	f.must(err)
	return text
}

// show is print of what the model is asked with.
func (f *fixture) show(a *Agent) (text string) {
	f.Helper()
	text = f.print(a)
	f.must(a.Confirm(ctx))
	return text
}

func (f *fixture) wants(a *Agent, text string) {
	f.Helper()
	if w := f.speak(a); (w.Text == "") != (text == "") || !strings.Contains(w.Text, text) {
		f.Errorf("said %q, want %q", w.Text, text)
	}
}

func (f *fixture) later(d time.Duration) { f.clock = f.clock.Add(d) }

// wakeTime is when the wake file was last touched.
func wakeTime(a *Agent) time.Time { return a.Client.Hearing().Dir().Marked(fsroom.ListenerWakeFile) }

func TestAMessageWakesOnce(t *testing.T) {
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	f.wants(a, "")
	before := wakeTime(a)
	f.send(b, "a:1", "SECRET orders", false)
	if !wakeTime(a).After(before) {
		t.Error("the wake file was not touched")
	}
	w := f.speak(a)
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

func TestWhatWasShownWakesNobody(t *testing.T) {
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	f.send(b, "a:1", "one", false)
	if !strings.Contains(f.show(a), "one") {
		t.Error("not shown")
	}
	f.wants(a, "")
}

// A message to the room is shown with the next hook, and wakes nobody unless it is urgent.
func TestMessagesToTheRoom(t *testing.T) {
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
	f := newFixture(t)
	a, r := f.listener("a:1")
	f.send(f.join("b:1"), "a:1", "one", false)
	f.wants(a, "1 message")
	if w := f.speak(a); w.Later <= 29*time.Second || w.Later > 30*time.Second {
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
	if w := f.speak(a); w.Text != "" || w.Later != 0 {
		t.Errorf("said a fourth time: %+v", w)
	}
	if !strings.Contains(f.show(a), "one") {
		t.Error("it is lost")
	}
	snap, err := r.View()
	f.must(err)
	if at := mailbox.Of(r).Cursor(snap.State); at.Woken.Tries != hearing.MaxTries || at.Shown.How != "hook" {
		t.Errorf("%+v", at)
	}
}

func TestMessagesComeInBatches(t *testing.T) {
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	f.send(b, "a:1", "one", false)
	f.wants(a, "1 message")
	f.send(b, "a:1", "two", false)
	if w := f.speak(a); w.Text != "" || w.Later > messageGap || w.Later == 0 {
		t.Errorf("%+v", w)
	}
	f.send(b, "a:1", "three", false)
	f.later(messageGap)
	f.wants(a, "3 messages")
}

// Two agents that answer each other stop being woken. A person still wakes them.
func TestMessagesOfAgentsDoNotWakeForEver(t *testing.T) {
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

// What was printed is said again until the model was asked with it, and while it may be
// about to be asked nobody is woken for it once more.
func TestPrintedIsNotShownYet(t *testing.T) {
	f := newFixture(t)
	a, r := f.listener("a:1")
	b := f.join("b:1")
	a.Session = "s1"
	f.must(a.Begin(ctx, Session{ID: "s1"}))
	unread := func() int64 {
		snap, err := r.View()
		f.must(err)
		return mailbox.Of(r).Unread(snap.State).Messages
	}
	f.send(b, "a:1", "which branch?", false)
	f.wants(a, "1 message")
	a.Note(doing(turn.ActivityWorking))
	for range 2 {
		if text := f.print(a); !strings.Contains(text, "which branch?") {
			t.Errorf("printed is %q", text)
		}
	}
	f.later(time.Minute)
	f.wants(a, "")
	another := *a
	another.Session = "s2"
	f.must(another.Confirm(ctx))
	if n := unread(); n != 1 {
		t.Errorf("%d are unread before the model was asked", n)
	}
	a.Note(doing(turn.ActivityIdle)) // the turn was cancelled
	f.wants(a, "1 message")
	f.print(a)
	f.must(a.Confirm(ctx))
	if n := unread(); n != 0 || a.Client.Hearing().HasPrinted() {
		t.Errorf("%d are unread after the model was asked", n)
	}
	if text := f.print(a); text != "" {
		t.Errorf("printed is %q", text)
	}
}

// A turn that an agent releases wakes as often as messages do, and one that is assigned
// always.
func TestOffersOfAgentsDoNotWakeForEver(t *testing.T) {
	f := newFixture(t)
	a, _ := f.listener("a:1")
	l := a.Client.Hearing().Listener()
	for range hearing.MostWakes {
		l.Spend(f.clock)
	}
	f.must(a.Client.Hearing().Save(&l))
	b := f.join("b:1")
	f.takeTurn(b)
	f.change(b, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
		events, _, err := turn.Release(st, facts, turn.ReleaseRequest{Fence: turn.Fence{Agent: st.Owner, Turn: st.Turn, Lease: st.Grant.Lease}, Handoff: []byte(`{}`)})
		return events, err
	})
	f.wants(a, "")
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
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	f.must(a.Begin(ctx, Session{ID: "s1"}))
	a.Note(doing(turn.ActivityWorking))
	f.send(b, "a:1", "one", false)
	if w := f.speak(a); w.Text != "" || w.Later > busyPatience || w.Later < busyPatience-time.Second {
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
}

func TestAnEndedRoomIsToldOnce(t *testing.T) {
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	_, err := b.Kick(ctx, turn.KickRequest{Agent: "b:1", Target: "a:1", Force: true, Reason: "SECRET"})
	f.must(err)
	w := f.speak(a)
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

// The rooms of an agent are known without looking into each.
func TestRoomsToHear(t *testing.T) {
	f := newFixture(t)
	r := f.join("a:1")
	if names := r.Hearing().Rooms(); len(names) != 1 || names[0] != r.Name() {
		t.Errorf("in %v", names)
	}
	f.join("b:1")
	_, err := r.Leave(ctx)
	f.must(err)
	if names := r.Hearing().Rooms(); len(names) != 0 {
		t.Errorf("still in %v", names)
	}
}

// A person who becomes an observer by writing is told of that room, too.
func TestAPersonWhoListensFirst(t *testing.T) {
	f := newFixture(t)
	b := f.join("b:1")
	a := &Agent{Client: f.client("human:ada"), Clock: func() time.Time { return f.clock }}
	_, err := a.WakePath()
	f.must(err)
	r, err := a.Client.Find(f.workspace())
	f.must(err)
	_, _, err = r.UpdateAsPerson(ctx, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
		return turn.Send(st, facts, turn.MessageRequest{Agent: "human:ada", To: "b:1", Body: "hello"})
	})
	f.must(err)
	f.send(b, "human:ada", "here", false)
	f.wants(a, "1 message")
}

// Where the record cannot be written nothing is said: it would be said for ever.
func TestNothingIsSaidThatCannotBeRecorded(t *testing.T) {
	f := newFixture(t)
	a, r := f.listener("a:1")
	f.send(f.join("b:1"), "a:1", "one", false)
	for _, dir := range []string{r.Agent("a:1").Path("tmp"), a.Client.Hearing().Dir().Path("tmp")} {
		f.must(os.RemoveAll(dir))
		f.must(os.WriteFile(dir, nil, 0o600))
		if w, err := a.Speak(ctx, hearing.ByExec); w.Text != "" || err == nil {
			t.Errorf("said %q, %v", w.Text, err)
		}
		f.must(os.Remove(dir))
	}
	f.later(messageGap)
	f.wants(a, "1 message")
}

// What a harness was told to watch counts when it has shown that it does.
func TestAWatchIsBelievedWhenProved(t *testing.T) {
	f := newFixture(t)
	a, _ := f.listener("a:1")
	self := identity.System().Self()
	begin := func() { f.must(a.Begin(ctx, Session{ID: "s1", Process: &self, Watches: true})) }
	begin()
	if how := a.Client.Hearing().Listens(); how != "" {
		t.Errorf("listens by %s before it was proved", how)
	}
	f.later(time.Second)
	_, err := a.Speak(ctx, hearing.ByWatch)
	f.must(err)
	if how := a.Client.Hearing().Listens(); how != hearing.ByWatch {
		t.Errorf("listens by %q", how)
	}
	f.later(time.Second)
	begin() // the working directory was changed
	if how := a.Client.Hearing().Listens(); how != "" {
		t.Errorf("listens by %s before it was proved again", how)
	}
	f.later(time.Second)
	_, err = a.Speak(ctx, hearing.ByWatch)
	f.must(err)
	f.must(a.End(ctx, "another"))
	if how := a.Client.Hearing().Listens(); how != hearing.ByWatch {
		t.Errorf("listens by %q after the end of another session", how)
	}
	f.must(a.End(ctx, "s1"))
	if how := a.Client.Hearing().Listens(); how != "" {
		t.Errorf("listens by %s after the end", how)
	}
}

// A person hears that the holder of a turn waits for it, once, and not of a dialog that is
// answered at once.
func TestAPersonHearsWhatTheHolderNeeds(t *testing.T) {
	f := newFixture(t)
	b := f.join("b:1")
	f.takeTurn(b)
	p := f.join("human:ada")
	person := &Agent{Client: p.Client, Clock: func() time.Time { return f.clock }}
	needs := func(what string) {
		t.Helper()
		w, err := person.Speak(ctx, hearing.ByExec)
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

// TestAWindowThatIsClosed: the server of a harness goes on, and its agent is not woken.
func TestAWindowThatIsClosed(t *testing.T) {
	f := newFixture(t)
	for _, test := range []struct {
		programs []string
		want     bool
	}{
		{nil, false},
		{[]string{"sh"}, false},
		{[]string{"/opt/codex app-server --listen unix"}, true},
		{[]string{"sh", "codex app-server"}, false}, // which has another thread
		{[]string{"codex app-server", "codex app-server proxy", "vi codex"}, true},
		{[]string{"codex app-server", "codex resume 1"}, false},
		{[]string{"codex --no-daemon"}, false},
	} {
		proc := t.TempDir()
		for i, line := range test.programs {
			dir := filepath.Join(proc, strconv.Itoa(i+1))
			f.must(os.Mkdir(dir, 0o700))
			f.must(os.WriteFile(filepath.Join(dir, "cmdline"), []byte(strings.ReplaceAll(line, " ", "\x00")), 0o600))
		}
		if got := onlyServes(proc, 1, "codex"); got != test.want {
			t.Errorf("%q: %v", test.programs, got)
		}
	}
	a, _ := f.listener("a:1")
	f.must(a.Begin(ctx, Session{ID: "s1"}))
	f.send(f.join("b:1"), "a:1", "one", false)
	ended, cancel := context.WithCancel(ctx)
	said := false
	f.must(a.Run(ended, Transport{
		How: hearing.ByQueue, Unattended: func() bool { a.Notify(); return true },
		Deliver: func(context.Context, Wake) error { said = true; return nil },
		Gone:    func() bool { cancel(); return false },
	}))
	if said || !a.Client.Hearing().Activity().Stopped {
		t.Errorf("woken: %v, and it is %+v", said, a.Client.Hearing().Activity())
	}
	a.Note(hearing.Doing{What: turn.ActivityWorking, Since: a.Client.Now(), Session: "s1"})
	if a.Client.Hearing().Activity().Stopped {
		t.Error("the user's next prompt does not end it")
	}
}
