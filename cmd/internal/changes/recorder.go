package changes

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// recordCommand is the hidden command that takes a snapshot.
const recordCommand = "record"

// Recorder returns a function that gives rooms their recorders: nil where a policy is to record nothing.
func Recorder(set Setting) func(*member.Room, turn.Policy) member.Recorder {
	return func(r *member.Room, policy turn.Policy) member.Recorder {
		if t, err := Of(r, policy, set); err == nil {
			return t
		}
		return nil
	}
}

// First begins the first snapshot of a tree when a turn is asked for, and waits for it as long
// as a release would: what is written from then on has a content of before.
func First(ctx context.Context, r *member.Room, set Setting) {
	t, err := Of(r, turn.DefaultPolicy(), set)
	if err != nil {
		return
	}
	_ = os.Setenv(rootVariable, t.Ledger.Root()) // for the guardian
	if t.Ledger.Exists() {
		return
	}
	snap, err := r.FS.View()
	if err != nil || !snap.State.Open {
		return
	}
	policy := snap.State.Policy
	if t, err = Of(r, policy, set); err != nil {
		return
	}
	read, write, err := os.Pipe()
	if err != nil {
		return
	}
	defer read.Close()
	t.start(write, r.Self.ID, Job{At: "first"})
	write.Close()
	_ = read.SetReadDeadline(time.Now().Add(wait(policy)))
	defer context.AfterFunc(ctx, func() { _ = read.SetReadDeadline(time.Now()) })()
	_, _ = read.Read(make([]byte, 1)) // it writes nothing
}

// wait returns how long a turn waits for the ledger.
func wait(p turn.Policy) time.Duration { return time.Duration(p.LedgerWait) * time.Millisecond }

// Begin implements [member.Recorder].
func (t *Tree) Begin(ctx context.Context, before *turn.State, granted turn.Fence, patience bool) func() json.RawMessage {
	begin := func(limit time.Duration) (json.RawMessage, error) {
		var outside json.RawMessage
		err := soon(ctx, limit, func(ctx context.Context) (err error) {
			outside, err = t.apart(t.Room.Self.ID).beginNow(ctx, before, granted)
			return err
		})
		if err != nil { // it may go on, and write outside
			return nil, err
		}
		return outside, nil
	}
	return func() json.RawMessage {
		outside, err := begin(BeforeLimit)
		if err != nil && patience && t.Ledger.Interrupted() {
			outside, _ = begin(changePatience)
		}
		return outside
	}
}

// soon calls do, and returns when it is done or the limit has passed: a disk that hangs keeps nobody. What is killed
// half-way leaves the store whole.
func soon(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	done := make(chan error, 1)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // a scan is short, and it is waited for
	go func() {
		defer cancel()
		done <- ledger.Safely(func() error { return do(ctx) })
	}()
	<-ctx.Done() // also once it is done
	select {
	case err := <-done:
		return err
	default:
		return ctx.Err()
	}
}

// takeNow takes a snapshot in passing: if little has changed, it is left to a later process to make it safe from a
// power cut.
func (t *Tree) takeNow(ctx context.Context, r ledger.Request) error {
	r.Unsynced = true
	_, err := t.Ledger.Take(ctx, r)
	if err != nil && ctx.Err() == nil { // too much, or another one waits for that
		r.Unsynced = false
		_, err = t.Ledger.Take(ctx, r)
	}
	return err
}

// changePatience is how long whoever is granted a turn waits for a change of the tree that is under way.
const changePatience = 5 * time.Second

// Begun implements [member.Recorder].
func (t *Tree) Begun(st *turn.State) {
	t.start(nil, t.Room.Self.ID, Job{At: "start", Turn: st.Turn, Moment: st.Grant.At.Wall.Time})
}

// During implements [member.Recorder].
func (t *Tree) During(st *turn.State) { t.start(nil, t.Room.Self.ID, Job{At: "tick", Turn: st.Turn}) }

// Ended implements [member.Recorder].
func (t *Tree) Ended(ctx context.Context) { _ = t.Ledger.Sync(ctx) }

// start starts a process that records. If that fails, the next turn does.
func (t *Tree) start(out *os.File, agent string, j Job) {
	args := []string{recordCommand, t.Room.FS.Name(), "--at", j.At, "--turn", strconv.FormatInt(j.Turn, 10), "--agent", agent}
	if !j.Moment.IsZero() {
		args = append(args, "--moment", strconv.FormatInt(j.Moment.UnixNano(), 10))
	}
	_ = t.Room.StartRecorder(out, args...)
}

// Ending implements [member.Recorder].
func (t *Tree) Ending(ctx context.Context, st *turn.State, atLeast time.Duration) *member.TurnEnd {
	return t.ending(ctx, st, max(atLeast, wait(t.policy)))
}

// ending records the end of a turn in this process. If what changed is not known in time, or the scan panics, that is
// for another process, which nothing waits for. Nothing is synced: a disk that hangs would keep this process from
// ending. The guardian does that at the end of the turn, or whoever locks the store next.
func (t *Tree) ending(ctx context.Context, st *turn.State, limit time.Duration) *member.TurnEnd {
	ctx, cancel := context.WithTimeout(ctx, limit)
	e, granted := &member.TurnEnd{Turn: st.Turn, Agent: st.Owner, Recorded: ctx.Done()}, st.Grant.At.Wall.Time
	apart := t.apart(e.Agent) // who ends the turn may be another
	known := make(chan [2]json.RawMessage, 1)
	go func() {
		defer cancel()
		debug.SetGCPercent(400) // a scan is short, the time that is waited for it too, and the process ends soon
		_ = ledger.Safely(func() error {
			return apart.end(ctx, st, granted, ledger.Request{Turn: e.Turn, Unsynced: true}, func(c *ledger.Changes, s *ledger.Snapshot) {
				if ctx.Err() == nil {
					known <- [2]json.RawMessage{apart.payload(c), apart.verified(s)}
				}
			})
		})
	}()
	var told [2]json.RawMessage
	select {
	case told = <-known:
	case <-ctx.Done():
		select {
		case told = <-known:
		default:
		}
	}
	if e.Changes, e.Verified = told[0], told[1]; e.Changes == nil {
		e.Late = func() { t.start(nil, e.Agent, Job{At: "end", Turn: e.Turn, Moment: granted}) }
	}
	return e
}

// apart returns the tree for an agent, with a room of its own: that of the caller may be in use.
func (t *Tree) apart(agent string) *Tree {
	client := *t.Room.Client
	client.Self.ID = agent
	apart := *t
	apart.writes = client.Room(t.Room.FS.Name(), t.Room.Workspace)
	apart.Room = apart.writes.Known()
	return &apart
}

// Before implements [member.Recorder]. It is done in the process that asks: nothing is started.
func (t *Tree) Before(ctx context.Context, st *turn.State, files []string, destroys string) {
	request := ledger.Request{Why: ledger.WhyGuard, Note: destroys, Line: destroys != "", Files: files}
	switch {
	case st.Owner != "":
		request.Turn, request.Agent = st.Turn, st.Owner
	case t.Room != nil:
		request.Agent = t.Room.Self.ID
	}
	_ = soon(ctx, BeforeLimit, func(ctx context.Context) error { return t.takeNow(ctx, request) })
}

// Lost implements [member.Recorder].
func (t *Tree) Lost(ctx context.Context) (files int, since time.Time) {
	if t.Ledger.Exists() && !t.Ledger.Interrupted() {
		t.look(ctx, lookLimit(t.policy), func(v *ledger.View) { files, since, _ = v.LostNow() })
	}
	return files, since
}

// Changing implements [member.Recorder].
func (t *Tree) Changing() bool { return t.Ledger.Changing() }

// Records implements [member.Recorder].
func (t *Tree) Records() bool { return true }

// Interrupted implements [member.Recorder].
func (t *Tree) Interrupted() bool { return t.Ledger.Interrupted() }

// BeforeAlone is [member.Recorder.Before] for an agent in a tree that has no room.
func BeforeAlone(ctx context.Context, root string, rooms *fsroom.Store, destroys string, set Setting) {
	if t, err := open(nil, turn.DefaultPolicy(), set, root, rooms); err == nil {
		t.Before(ctx, new(turn.State), nil, destroys)
	}
}

// A Job is what one process records.
type Job struct {
	At     string // first, start, tick, end
	Turn   int64
	Moment time.Time // of the grant
}

// Record does the work of one process. It reads the room as this host knows it, since a command
// waits for the end of a turn; an engine is asked when something is written.
func Record(ctx context.Context, r *member.Room, set Setting, j Job) error {
	known := r.Known()
	snap, err := known.FS.View()
	if err != nil {
		return err
	}
	t, err := Of(known, snap.State.Policy, set)
	if code.Of(err) == code.LedgerOff {
		return nil
	}
	if err != nil {
		return err
	}
	t.writes = r
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	switch j.At {
	case "first":
		_, err = t.Ledger.Take(ctx, ledger.Request{Why: ledger.WhyFirst})
	case "start":
		err = t.begin(ctx, snap.State, j)
	case "tick":
		if st := snap.State; st.Turn == j.Turn && st.Owner == t.Room.Self.ID {
			ctx, cancel := context.WithTimeout(ctx, time.Minute) // where something else uses the store for long, the next one does
			defer cancel()
			_, err = t.Ledger.Take(ctx, ledger.Request{Why: ledger.WhyTick, Turn: j.Turn, Agent: st.Owner})
		}
	case "end":
		err = t.endLate(ctx, snap.State, j)
	default:
		return errors.New("--at is first, start, tick or end")
	}
	if j.At != "first" && t.Ledger.MayPrune(time.Hour) { // what the room's policy does not keep
		keep := ledger.Keep{Age: time.Duration(t.policy.LedgerKeep) * time.Millisecond, Size: t.policy.LedgerSize, Now: time.Now()}
		_, _ = ledger.PruneAll(ctx, filepath.Dir(t.Ledger.Dir()), ledger.Options{Home: set.Home, Boot: identity.BootID()}, keep)
	}
	return err
}

// longest is how long a process works before it gives up.
const longest = 5 * time.Minute
