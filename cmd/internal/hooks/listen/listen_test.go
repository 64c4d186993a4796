package listen

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/journal/event"
)

// The rooms of an agent are known without looking into each.
func TestRoomsToHear(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.join("a:1")
	if names := r.Hearing().Rooms(); len(names) != 1 || names[0] != r.FS.Name() {
		t.Errorf("in %v", names)
	}
	f.join("b:1")
	_, err := r.Leave(ctx, nil)
	f.must(err)
	if names := r.Hearing().Rooms(); len(names) != 0 {
		t.Errorf("still in %v", names)
	}
}

// A person who becomes an observer by writing is told of that room, too.
func TestAPersonWhoListensFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b := f.join("b:1")
	a := &Agent{Client: f.client("human:ada"), Clock: func() time.Time { return f.clock }}
	_, err := a.WakePath()
	f.must(err)
	r, _, err := a.Client.Find(f.workspace(), nil)
	f.must(err)
	_, _, err = r.UpdateAsPerson(ctx, nil, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
		return turn.Send(st, facts, turn.MessageRequest{Agent: "human:ada", To: "b:1", Body: "hello"})
	})
	f.must(err)
	f.send(b, "human:ada", "here", false)
	f.wants(a, "1 message")
}

// What a harness was told to watch counts when it has shown that it does.
func TestAWatchIsBelievedWhenProved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	self := identity.System().Self()
	begin := func() { f.must(a.Begin(ctx, Session{ID: "s1", Process: &self, Watches: true})) }
	begin()
	if how := a.Client.Hearing().Listens(); how != "" {
		t.Errorf("listens by %s before it was proved", how)
	}
	f.later(time.Second)
	_, err := a.DecideWake(ctx, hearing.ByWatch)
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
	_, err = a.DecideWake(ctx, hearing.ByWatch)
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

// TestEndInAnotherProcess: the end of a session in one process leaves what listens for it in another, which has begun it
// again.
func TestEndInAnotherProcess(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	self := identity.System().Self()
	another := self
	another.Start++
	f.must(a.Begin(ctx, Session{ID: "s1", Process: &self}))
	a.Client.Self.Root = &another
	f.must(a.End(ctx, "s1"))
	if l := a.Client.Hearing().Listener(); l.Session != "s1" {
		t.Errorf("the end in another process has ended it: %+v", l)
	}
	a.Client.Self.Root = &self
	f.must(a.End(ctx, "s1"))
	if l := a.Client.Hearing().Listener(); l.Session != "" {
		t.Errorf("it goes on: %+v", l)
	}
}

// TestHowIsKnownAtOnce: who asks how an agent listens while a listener begins is not told
// another way.
func TestHowIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	me := a.Client.Hearing()
	self := identity.System().Self()
	f.must(me.Save(&hearing.Listener{How: hearing.ByWatch, Process: &self, Armed: event.NewTime(f.clock), Heard: event.NewTime(f.clock.Add(time.Second))}))
	me.Table = begins{me.Table, func() {
		f.must(me.Save(&hearing.Listener{How: hearing.ByQueue}))
		release, err := me.Hold()
		f.must(err)
		t.Cleanup(release)
	}}
	if how := me.Listens(); how != "" {
		t.Errorf("while it begins it listens by %q", how)
	}
	if how := me.Listens(); how != hearing.ByQueue {
		t.Errorf("it listens by %q", how)
	}

	b, _ := f.listener("b:1")
	f.must(os.Mkdir(b.Client.Hearing().Dir().Path(fsroom.ListenerFile), 0o700)) // how cannot be recorded
	if err := b.Run(ctx, Transport{How: hearing.ByQueue}); err == nil {
		t.Error("it listens without a record")
	}
	if _, err := os.Lstat(b.Client.Hearing().Dir().Path("listening")); err == nil {
		t.Error("it was to be seen that something listens before it was known how")
	}
}

// begins is a table of processes in which one has ended, and in that moment a listener begins.
type begins struct {
	identity.Table
	begin func()
}

func (b begins) Verdict(identity.Process) identity.Verdict { b.begin(); return identity.Gone }

// TestAWindowThatIsClosed: the server of a harness goes on, and its agent is not woken.
func TestAWindowThatIsClosed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const heading, listens = "Num       RefCount Protocol Flags    Type St Inode Path\n", "0: 00000002 00000000 00010000 0001 01 11 /tmp/s\n"
	const first, second = "0: 00000003 00000000 00000000 0001 03 12 /tmp/s\n", "0: 00000003 00000000 00000000 0001 03 13 /tmp/s\n"
	const unnamed, ofOthers = "0: 00000003 00000000 00000000 0001 03 14\n", "0: 00000003 00000000 00000000 0001 03 99 /tmp/o\n"
	server, window := "/opt/codex app-server --listen unix", "/opt/codex"
	for _, test := range []struct {
		programs    []string
		sockets     string
		unattended  bool
		isOneWindow bool
	}{
		{[]string{server}, "", false, false}, // nothing is known, or it talks with what has started it
		{[]string{server, window}, heading + unnamed + ofOthers, false, false},
		{[]string{server, window}, heading + listens + unnamed + ofOthers, true, false},
		{[]string{server, window}, heading + listens + first + unnamed, false, true},
		{[]string{server, window, window}, heading + first + listens + second, false, false},
		{[]string{server, "/opt/codex app-server proxy", "vi codex"}, heading + listens + first, false, false}, // an editor
		{[]string{"/opt/codex --no-daemon"}, heading, false, false},
	} {
		proc := t.TempDir()
		for i, line := range test.programs {
			dir := filepath.Join(proc, strconv.Itoa(i+1))
			f.must(os.MkdirAll(dir+"/net", 0o700))
			f.must(os.MkdirAll(dir+"/fd", 0o700))
			f.must(os.WriteFile(filepath.Join(dir, "cmdline"), []byte(strings.ReplaceAll(line, " ", "\x00")), 0o600))
			f.must(os.WriteFile(filepath.Join(dir, "net", "unix"), []byte(test.sockets), 0o600))
			for fd := 11; fd < 15; fd++ {
				f.must(os.Symlink(fmt.Sprintf("socket:[%d]", fd), fmt.Sprintf("%s/fd/%d", dir, fd)))
			}
		}
		if n, serves := connections(proc, 1); (serves && n == 0) != test.unattended {
			t.Errorf("%q, %q: %d connections, %v", test.programs, test.sockets, n, serves)
		}
		if got := hasOneWindow(proc, 1, harness.Queued()); got != test.isOneWindow {
			t.Errorf("%q, %q: one window: %v", test.programs, test.sockets, got)
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
	a.Note(hearing.Doing{What: turn.ActivityWorking, Since: hearing.Began(a.Client.Now()), Session: "s1"})
	if a.Client.Hearing().Activity().Stopped {
		t.Error("the user's next prompt does not end it")
	}
}

// TestASessionThatIsKilled: a session of a server, of whose process nothing is known, is found gone by its
// listener, and what it holds is offered after the grace.
func TestASessionThatIsKilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, r := f.listener("a:1")
	f.takeTurn(r)
	f.must(a.Begin(ctx, Session{ID: "s1"}))
	f.must(a.Run(ctx, Transport{How: hearing.ByQueue, Gone: func() bool {
		f.later(goneFor)
		a.Notify()
		return true
	}}))
	snap, err := r.FS.Known()
	f.must(err)
	if p := r.Facts(snap.State).Presence("a:1"); p.EndedAt.IsZero() || !p.OutlivesProcess {
		t.Errorf("it is %+v", p)
	}
}

// TestASessionThatIsRecordedLate: what a hook has started before the session was recorded ends with it all the same, and what
// its user has started goes on.
func TestASessionThatIsRecordedLate(t *testing.T) {
	t.Parallel()
	for how, ends := range map[string]bool{hearing.ByQueue: true, hearing.ByExec: false} {
		f := newFixture(t)
		a, _ := f.listener("a:1")
		running, cancel := context.WithCancel(ctx)
		defer cancel()
		looks := 0
		f.must(a.Run(running, Transport{How: how, Gone: func() bool {
			switch looks++; looks {
			case 1:
				f.must(a.Begin(ctx, Session{ID: "s1"}))
			case 2:
				f.must(a.End(ctx, "s1"))
			default:
				cancel()
			}
			return false
		}}))
		if ended := looks < 3; ended != ends {
			t.Errorf("%s: it ends with the session: %v, want %v", how, ended, ends)
		}
	}
}
