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
	"github.com/talking-stick/tt/journal/event"
)

// recordCommand is the hidden command that takes a snapshot.
const recordCommand = "record"

// Recorder returns a function that gives rooms their recorders.
func Recorder(set Setting) func(*member.Room) member.Recorder {
	return func(r *member.Room) member.Recorder { return &recorder{r, set} }
}

// A recorder starts the processes that record the tree of a room.
type recorder struct {
	room *member.Room
	set  Setting
}

func (r *recorder) tree(policy turn.Policy) *Tree {
	t, err := Of(r.room, policy, r.set)
	if err != nil {
		return nil
	}
	return t
}

// First begins the first snapshot of a tree when a turn is asked for, and waits for it as long
// as a release would: what is written from then on has a content of before.
func First(ctx context.Context, r *member.Room, set Setting) {
	t := (&recorder{r, set}).tree(turn.DefaultPolicy())
	if t == nil {
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
	if t = (&recorder{r, set}).tree(policy); t == nil {
		return
	}
	if done := t.start("first", 0, r.Self.ID); done != nil {
		done.wait(ctx, time.Duration(policy.LedgerWait)*time.Millisecond)
	}
}

// Begun implements [member.Recorder]. The journal's time of the grant is that of the kernel, as
// are those of files.
func (r *recorder) Begun(st *turn.State) {
	t := r.tree(st.Policy)
	if t == nil {
		return
	}
	granted, exact := st.Grant.At.Wall.Time, false
	if m := st.Member(st.Owner); m != nil && m.LastHeld == st.Seq {
		if info, err := os.Stat(r.room.FS.JournalPath()); err == nil && info.ModTime().Sub(granted).Abs() < 10*time.Second {
			granted, exact = info.ModTime(), true
		}
	}
	args := []string{"--moment", strconv.FormatInt(granted.UnixNano(), 10)}
	if exact {
		args = append(args, "--exact")
	}
	if p := t.start("start", st.Turn, r.room.Self.ID, args...); p != nil {
		p.giveUp()
	}
}

// Ended implements [member.Recorder].
func (r *recorder) Ended(ctx context.Context) {
	if snap, err := r.room.FS.View(); err == nil {
		if t := r.tree(snap.State.Policy); t != nil {
			_ = t.Ledger.Sync(ctx)
		}
	}
}

// A process takes a snapshot. It writes a byte when the result is there.
type process struct{ out *os.File }

// start starts a process, nil if that fails: then the event is missing, and no turn fails.
func (t *Tree) start(at string, turnID int64, agent string, args ...string) *process {
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer write.Close()
	args = append([]string{recordCommand, t.Room.FS.Name(), "--at", at, "--turn", strconv.FormatInt(turnID, 10), "--agent", agent}, args...)
	if err := t.Room.StartRecorder(write, args...); err != nil {
		read.Close()
		return nil
	}
	return &process{read}
}

// wait waits for the result, and reports whether it is there.
func (p *process) wait(ctx context.Context, limit time.Duration) bool {
	defer p.giveUp()
	stop := context.AfterFunc(ctx, func() { _ = p.out.SetReadDeadline(time.Now()) })
	defer stop()
	if p.out.SetReadDeadline(time.Now().Add(limit)) != nil {
		return false
	}
	var b [1]byte
	n, _ := p.out.Read(b[:])
	return n == 1 && b[0] == doneByte
}

const doneByte = '.'

// giveUp closes the pipe: the process sees that nobody reads.
func (p *process) giveUp() { p.out.Close() }

// Ending implements [member.Recorder].
func (r *recorder) Ending(ctx context.Context, st *turn.State, atLeast time.Duration) member.TurnEnd {
	end := &turnEnd{turn: st.Turn, agent: st.Owner}
	t := r.tree(st.Policy)
	if t == nil {
		return end
	}
	limit := time.Now().Add(max(atLeast, time.Duration(st.Policy.LedgerWait)*time.Millisecond))
	if r.set.Here && time.Until(limit) > 0 && !r.room.FS.IsShared() && end.here(ctx, t, st, limit) {
		return end
	}
	token := fsroom.NewID()
	end.file = t.pendingFile(st.Turn, token)
	if p := t.start("end", st.Turn, end.agent, "--token", token); p != nil {
		end.pending = !p.wait(ctx, time.Until(limit))
	} else {
		end.file = ""
	}
	return end
}

// here records the end of a turn in this process, and reports whether what changed is known in
// time. If it is not, or the scan panics, it is for another process, which nothing waits for. So is
// a large tree, and a turn whose beginning is not recorded yet. Nothing is synced: a disk that
// hangs would keep this process from ending. The guardian does that at the end of the turn, or
// whoever locks the store next.
func (e *turnEnd) here(ctx context.Context, t *Tree, st *turn.State, limit time.Time) bool {
	apart := *t
	client := *t.Room.Client
	client.Self.ID = e.agent                                     // who ends the turn may be another
	apart.Room = client.Room(t.Room.FS.Name(), t.Room.Workspace) // it may still be used when the turn ends
	ctx, cancel := context.WithDeadline(ctx, limit)
	known, done := make(chan []byte, 1), make(chan struct{})
	debug.SetGCPercent(400) // the process ends soon
	go func() {
		defer close(done)
		defer cancel()
		_ = ledger.Safely(func() error {
			if !t.Ledger.IsSmall() || t.Ledger.Unsynced() || !apart.isBegun(st) {
				return nil
			}
			return apart.end(ctx, st, st.Turn, true, func(payload []byte) error {
				if ctx.Err() == nil {
					known <- payload
				}
				return nil
			})
		})
	}()
	select {
	case <-done:
	case <-ctx.Done():
	case e.changes = <-known:
	}
	if e.changes == nil {
		select {
		case e.changes = <-known:
		default:
			return false
		}
	}
	e.recorded = func() {
		select {
		case <-done:
		case <-time.After(time.Until(limit)):
		}
	}
	return true
}

// Changed implements [member.Recorder].
func (r *recorder) Changed(st *turn.State, turnID int64, most int) (*member.Changed, bool) {
	t := r.tree(st.Policy)
	if t == nil {
		return nil, false
	}
	return t.changed(turnID, most), true
}

// Before implements [member.Recorder].
func (r *recorder) Before(ctx context.Context, st *turn.State) {
	if t := r.tree(st.Policy); t != nil {
		_, _ = t.Before(ctx, st.Turn, st.Owner)
	}
}

// pendingFile is where the process leaves what a turn changed until it is in the journal.
func (t *Tree) pendingFile(turnID int64, token string) string {
	return filepath.Join(t.Ledger.Dir(), "pending", strconv.FormatInt(turnID, 10)+"-"+token+".json")
}

// A turnEnd is the end of a turn that is being recorded, by this process or by another one.
type turnEnd struct {
	turn     int64
	agent    string
	recorded func() // waits until this process has written all that it records
	file     string // of the other process; "": nothing is recorded there
	pending  bool
	changes  json.RawMessage
}

// Events implements [member.TurnEnd].
func (e *turnEnd) Events(st *turn.State) []event.Event {
	if e.file != "" {
		b, err := os.ReadFile(e.file)
		if err != nil || !json.Valid(b) {
			return nil
		}
		e.changes, e.pending = b, false
	}
	if e.changes == nil {
		return nil
	}
	return turn.RecordChange(st, turn.TreeChange{Turn: e.turn, Span: turn.SpanTurn, Agent: e.agent}, e.changes)
}

// Result implements [member.TurnEnd].
func (e *turnEnd) Result(committed bool) (json.RawMessage, bool) {
	if e.recorded != nil {
		e.recorded()
	}
	if e.file != "" && (!committed || e.changes != nil) {
		_ = os.Remove(e.file)
	}
	return e.changes, e.pending && e.changes == nil
}

// A Job is what one process records.
type Job struct {
	At     string // first, start, end
	Turn   int64
	Token  string    // of the pending file of an end
	Moment time.Time // of a start
	Exact  bool      // Moment is that of the kernel
	Out    *os.File  // gets a byte when the result is there
}

// Record does the work of one process. It reads the room as this host knows it, since a command
// waits for the end of a turn; an engine is asked when something is written.
func Record(ctx context.Context, r *member.Room, set Setting, j Job) error {
	known := r.Client.Offline().Room(r.FS.Name(), r.Workspace)
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
		err = t.first(ctx)
	case "start":
		t.addOrphans(ctx)
		if snap, err = known.FS.View(); err == nil {
			err = t.begin(ctx, snap.State, j)
		}
	case "end":
		err = t.end(ctx, snap.State, j.Turn, false, func(payload []byte) error { return t.leave(ctx, j, payload) })
	default:
		return errors.New("--at is first, start or end")
	}
	if j.At != "end" {
		tell(j.Out)
	}
	if j.At == "end" {
		t.addOrphans(ctx)
	}
	if j.At != "first" {
		t.Prune(ctx)
	}
	return err
}

// longest is how long a process works before it gives up.
const longest = 5 * time.Minute

// tell writes the byte, and reports whether somebody reads it.
func tell(out *os.File) bool {
	if out == nil {
		return false
	}
	_, err := out.Write([]byte{doneByte})
	return err == nil
}
