package listen

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

var ctx = context.Background()

// doing is what the session s1 does now.
func doing(what string) hearing.Doing {
	return hearing.Doing{What: what, Session: "s1", Since: hearing.Began{Wall: event.NewTime(time.Now())}}
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
	r, _, err := f.client(id).Join(ctx, f.workspace(), false, false)
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
	_, _, err := r.Update(ctx, nil, decide)
	f.must(err)
}

// takeTurn takes a turn that is plainly to be had.
func (f *fixture) takeTurn(r *member.Room) {
	f.Helper()
	f.change(r, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
		events, res, err := turn.Take(st, facts, turn.TakeRequest{TryRequest: turn.TryRequest{Agent: r.Self.ID, Lease: fsroom.NewID()}, Reason: "test", Operator: true})
		if err == nil && res.Status != turn.YourTurn {
			f.Fatalf("%s has no turn: %+v", r.Self.ID, res)
		}
		if err == nil { // without a record the next command would start a guardian
			fence := turn.Fence{Agent: r.Self.ID, Turn: res.TurnID, Lease: res.LeaseID}
			f.must(r.FS.Agent(r.Self.ID).Write(roomtypes.LeaseFile, &turn.Lease{Fence: fence}))
		}
		return events, err
	})
}

func (f *fixture) send(from *member.Room, to, body string, interrupt bool) {
	f.Helper()
	_, _, err := from.Update(ctx, nil, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
		return turn.Send(st, facts, turn.MessageRequest{Agent: from.Self.ID, To: to, Body: body, Interrupt: interrupt})
	})
	f.must(err)
}

// wake returns what DecideWake says.
func (f *fixture) wake(a *Agent) Wake {
	f.Helper()
	w, err := a.DecideWake(ctx, hearing.ByExec)
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
	if w := f.wake(a); (w.Text == "") != (text == "") || !strings.Contains(w.Text, text) {
		f.Errorf("said %q, want %q", w.Text, text)
	}
}

func (f *fixture) later(d time.Duration) { f.clock = f.clock.Add(d) }

// wakeTime is when the wake file was last touched.
func wakeTime(a *Agent) time.Time { return a.Client.Hearing().Dir().Marked(fsroom.ListenerWakeFile) }
