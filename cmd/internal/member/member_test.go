package member

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// TestMain runs this test binary as a guardian if a client started it as one.
func TestMain(m *testing.M) {
	if os.Args[0] != "tt" {
		os.Exit(m.Run())
	}
	args := os.Args[1:] // guard ROOM --turn N --agent ID --lease DIGEST
	n, err := strconv.ParseInt(args[3], 10, 64)
	if err == nil {
		var store *fsroom.Store
		if store, err = fsroom.Open(os.Getenv("TALKING_STICK_DATA_DIR"), fsroom.Options{}); err == nil {
			c := &Client{Store: store, Table: identity.System(), Self: identity.Agent{ID: args[5]}}
			err = c.Guard(context.Background(), args[1], n, args[7])
		}
	}
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// What a room of the agent can do is what is written here, besides what the agent can: the
// methods of the stored room are those of its field.
func TestRoomEmbedsItsClientAlone(t *testing.T) {
	for f := range reflect.TypeFor[Room]().Fields() {
		if f.Anonymous && f.Type != reflect.TypeFor[*Client]() {
			t.Errorf("%s is embedded", f.Name)
		}
	}
}

// A fixture is a workspace and a data directory.
type fixture struct {
	*testing.T
	data, dir string
	mu        sync.Mutex
	warnings  []string
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, data: t.TempDir(), dir: t.TempDir()}
	f.must(os.WriteFile(filepath.Join(f.dir, "go.mod"), nil, 0o600))
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) wants(r *Room) {
	f.Helper()
	_, err := r.want(f.Context())
	f.must(err)
}

func (f *fixture) workspace() *workspace.Workspace {
	w, err := workspace.Locate(f.dir, f.dir, f.dir)
	f.must(err)
	return w
}

// join makes an agent a member. It leaves with the end of the test, which ends its
// guardian.
func (f *fixture) join(id string) *Room {
	f.Helper()
	store, err := fsroom.Open(f.data, fsroom.Options{})
	f.must(err)
	c := &Client{
		Store: store, Table: identity.System(), Self: identity.Agent{ID: id, Source: identity.SourceOverride},
		Policy:     func() (turn.Policy, error) { return turn.DefaultPolicy(), nil },
		Executable: os.Executable,
		Warn: func(line string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.warnings = append(f.warnings, line)
		},
	}
	r, _, err := c.Join(context.Background(), f.workspace(), false, false)
	f.must(err)
	f.Cleanup(func() { _, _ = r.Leave(context.Background(), nil) })
	return r
}

func (f *fixture) state(r *Room) *turn.State {
	f.Helper()
	return f.view(r).State
}

func (f *fixture) view(r *Room) *snapshot {
	f.Helper()
	snap, err := r.FS.View()
	f.must(err)
	return snap
}

// TestObserverThatWrites: a hook makes it a full member, which is called when its turn comes.
func TestObserverThatWrites(t *testing.T) {
	f := newFixture(t)
	f.join("a")
	r := f.join("b")
	_, err := r.Leave(t.Context(), nil)
	f.must(err)
	_, _, err = r.Client.Join(t.Context(), f.workspace(), false, true)
	f.must(err)
	_, _, err = r.Client.WantAuto(t.Context(), f.workspace())
	f.must(err)
	if f.state(r).Member("b").Observer || r.IsSilent() {
		t.Error("it is an observer still, or one that only hooks have made a member")
	}
}

// answers is an Output that keeps the answer.
type answers chan turn.WaitResult

func (a answers) Answer(res turn.WaitResult) error { a <- res; return nil }
func (a answers) Waiting(turn.WaitResult)          {}

// looked is [answers] that also tells of each look that brought no answer.
type looked struct {
	answers
	looks chan turn.WaitResult
}

func (l looked) Waiting(res turn.WaitResult) { l.looks <- res }

// try returns the answer to a Try.
func (f *fixture) try(r *Room) turn.WaitResult {
	f.Helper()
	out := make(answers, 1)
	f.must(r.Try(context.Background(), out))
	res := <-out
	if res.GuardianPID > 0 { // it would write while the directory is removed
		f.Cleanup(func() { _ = f.killProcess(res.GuardianPID) })
	}
	return res
}

// TestTurnGoesRound: a released turn comes to the member that waits, with the handoff
// and a guardian of its own, and the record of the lease that has ended is gone.
func TestTurnGoesRound(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	if got := f.try(a); got.Status != turn.YourTurn || got.GuardianPID == 0 {
		t.Fatalf("try: %+v", got)
	}
	if got := f.try(b); got.Status != turn.NotYet {
		t.Fatalf("try beside an owner: %+v", got)
	}
	out := looked{make(answers, 1), make(chan turn.WaitResult, 100)}
	ended := make(chan error, 1)
	go func() { ended <- b.Wait(context.Background(), time.Hour, false, false, out) }()
	<-out.looks
	if !a.IsWaiting("b:1") {
		t.Error("b:1 does not wait")
	}
	handoff, err := turn.CheckHandoff([]byte(`{"status":"half","next_action":"rest"}`))
	f.must(err)
	_, _, err = a.Release(context.Background(), nil, handoff, "")
	f.must(err)
	got := <-out.answers
	f.must(<-ended)
	if got.Status != turn.YourTurn || got.GuardianPID == 0 || string(got.Handoff) != string(handoff) {
		t.Errorf("wait: %+v", got)
	}
	if fence, err := a.Fence(context.Background()); code.Of(err) != code.NoActiveLease {
		t.Errorf("a released and has %+v, %v", fence, err)
	}
	if fence := b.CurrentFence(f.state(b)); fence.Turn != got.TurnID || fence.Lease != got.LeaseID {
		t.Errorf("fence %+v of %+v", fence, got)
	}
}

// TestGuardianIsReplaced: a command of the owner starts another guardian if that of
// its turn has ended, says so, and is the only one to do so.
func TestGuardianIsReplaced(t *testing.T) {
	f := newFixture(t)
	a, other := f.join("a:1"), f.join("b:1")
	pid := f.try(a).GuardianPID
	guardian, err := os.FindProcess(pid)
	f.must(err)
	f.must(guardian.Kill())
	_, _ = guardian.Wait()
	other.RecordPresence(context.Background(), f.state(other))
	if len(f.warnings) > 0 {
		t.Fatalf("a command of another member: %q", f.warnings)
	}
	for range 2 {
		a.RecordPresence(context.Background(), f.state(a))
	}
	if n := a.Renewal(f.state(a)); n.PID == 0 || n.PID == pid || n.Status != turn.Alive {
		t.Errorf("guardian %+v", n)
	}
	if len(f.warnings) != 1 || !strings.Contains(f.warnings[0], "had ended") {
		t.Errorf("warnings %q", f.warnings)
	}
}

// TestGuardianOfALostGrant: the process that was granted the turn was killed before it had
// recorded that. The next command or hook of the agent starts the guardian.
func TestGuardianOfALostGrant(t *testing.T) {
	for name, next := range map[string]func(f *fixture, a *Room){
		"command": func(f *fixture, a *Room) { a.RecordPresence(f.Context(), f.state(a)) },
		"hook":    func(f *fixture, a *Room) { a.ReplaceGuardian(f.Context(), f.state(a), true) },
		"refusal": func(f *fixture, a *Room) {
			if _, err := a.Fence(f.Context()); code.Of(err) != code.NoActiveLease {
				f.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			a := f.join("a:1")
			_, _, err := a.updateThen(t.Context(), nil, func(st *turn.State, fa turn.Facts) ([]event.Event, error) {
				events, _, err := turn.Try(st, fa, turn.TryRequest{Agent: "a:1", Lease: fsroom.NewLease()})
				return events, err
			}, func() {})
			f.must(err)
			next(f, a)
			n := a.Renewal(f.state(a))
			if n.PID == 0 || n.Status != turn.Alive {
				t.Fatalf("guardian %+v", n)
			}
			f.Cleanup(func() { _ = f.killProcess(n.PID) })
			if len(f.warnings) > 0 {
				t.Errorf("warnings %q", f.warnings)
			}
		})
	}
}

// TestOneGuardianRemains: several processes that ensure the guardian of one turn agree
// on one.
func TestOneGuardianRemains(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	res := f.try(a)
	guardian, err := os.FindProcess(res.GuardianPID)
	f.must(err)
	f.must(guardian.Kill())
	_, _ = guardian.Wait()
	pids := make([]int, 4)
	var all sync.WaitGroup
	for i := range pids {
		r := f.join("a:1")
		all.Go(func() {
			var err error
			if pids[i], err = r.Keep(context.Background(), turn.Fence{Agent: "a:1", Turn: res.TurnID, Lease: res.LeaseID}, false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if slices.Sort(pids); pids[0] == 0 || pids[0] != pids[len(pids)-1] {
		t.Errorf("guardians %v", pids)
	}
	_, err = a.Keep(context.Background(), turn.Fence{Agent: "a:1", Turn: res.TurnID, Lease: "another"}, false)
	if code.Of(err) != code.StaleLease {
		t.Errorf("with another lease: %v", err)
	}
}

// TestEachEventStops: ErrEnough ends the reading and is no error; others are returned.
func TestEachEventStops(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	boom := errors.New("boom")
	for _, end := range []error{ErrEnough, boom} {
		n := 0
		err := a.EachEvent(context.Background(), 0, true, func(*event.Event) error { n++; return end })
		if n != 1 || (end == boom) != errors.Is(err, boom) {
			t.Errorf("%v: %d events, %v", end, n, err)
		}
	}
}
