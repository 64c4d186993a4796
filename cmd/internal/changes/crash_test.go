package changes

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/fsroomtest"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// A childJob is the work of a process of this test.
type childJob struct {
	Data, Dir, Room, Agent string
	Job                    Job
	Step                   int  // that fails, counted from one
	Kill                   bool // the process ends there instead
}

const (
	childVariable = "TT_CHANGES_TEST_CHILD"
	exitKilled    = 3 // the process has ended at its step
	exitNoStep    = 4 // it has fewer steps
)

func TestMain(m *testing.M) {
	if slices.Contains(os.Args, recordCommand) { // which a test has started: what it would do, the test does
		os.Exit(0)
	}
	var c childJob
	if json.Unmarshal([]byte(os.Getenv(childVariable)), &c) == nil {
		os.Exit(c.run())
	}
	_ = flag.Set("test.parallel", "6") // stories are pauses, mostly
	os.Exit(fsroomtest.Main(m))
}

func (c *childJob) run() int {
	steps := 0
	fault := func(string) error {
		if steps++; steps != c.Step {
			return nil
		}
		if c.Kill {
			os.Exit(exitKilled)
		}
		return errors.New("made to fail")
	}
	store, err := fsroom.Open(c.Data, fsroom.Options{Fault: func(s fsroom.Step) error { return fault(string(s)) }})
	if err != nil {
		return 1
	}
	client := &member.Client{Store: store, Table: identity.System(), Self: identity.Agent{ID: c.Agent}}
	set := Setting{Root: c.Dir, Fault: fault}
	room := client.Room(c.Room, nil)
	switch snap, _ := room.FS.View(); c.Job.At {
	case endHere:
		_ = endInThisProcess(room, set, c.Job.Turn)
	case hookBegins:
		granted := snap.State.Fence()
		granted.Turn = c.Job.Turn
		Recorder(set)(room, turn.DefaultPolicy()).Begin(context.Background(), snap.State, granted, false)()
	case hookWrites:
		Recorder(set)(room, turn.DefaultPolicy()).Before(context.Background(), snap.State, nil, "")
	default:
		_ = Record(context.Background(), room, set, c.Job)
	}
	if steps < c.Step {
		return exitNoStep
	}
	return 0
}

// endHere stands for the end of a turn that is recorded by the process that ends it.
const endHere = "end here"

// What hooks record: the beginning of a turn that they take, and the tree before a write of the holder.
const (
	hookBegins = "hook begins"
	hookWrites = "hook writes"
)

// errLate says that the end is for another process: what a process before it stored may not be durable.
var errLate = errors.New("not known here")

func endInThisProcess(room *member.Room, set Setting, number int64) error {
	ctx := context.Background()
	snap, err := room.FS.View()
	if err != nil {
		return err
	}
	t, err := Of(room, snap.State.Policy, set)
	if err != nil {
		return err
	}
	end := t.ending(ctx, snap.State, time.Minute)
	if end.Late != nil {
		return errLate
	}
	err = release(ctx, room, end, number)
	end.Result()
	return err
}

// release ends the turn of an agent.
func release(ctx context.Context, room *member.Room, end *member.TurnEnd, number int64) error {
	return room.Append(ctx, func(st *turn.State) ([]event.Event, error) {
		f := turn.Facts{Now: turn.At(time.Now(), "", 0)}
		fence := turn.Fence{Agent: room.Self.ID, Turn: number, Lease: st.Grant.Lease}
		events, _, err := turn.Release(st, f, turn.ReleaseRequest{Fence: fence, Handoff: []byte(`{"status":"s","next_action":"n"}`)})
		return append(events, end.Events(st)...), err
	})
}

// TestRecordFailsAtEachStep: whatever a process that records a turn fails at, or is killed at, the
// room knows what each turn changed once those after it were recorded: all of it, nothing else, and
// once. A process that could not look may say so.
func TestRecordFailsAtEachStep(t *testing.T) {
	t.Parallel()
	want := []string{"turn 1  modified a deleted gone added new", "outside 1  added out/1", "turn 2  added b", "outside 2  added out/2"}
	for i, s := range []story{{faulty: "start 1"}, {faulty: "start 1", late: true}, {faulty: "end 1", late: true}, {faulty: "end here 1"}, {faulty: "start 2"},
		{faulty: hookBegins + " 1"}, {faulty: hookBegins + " 2"}, {faulty: hookWrites + " 1"}} {
		for _, kill := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s late %v kill %v", s.faulty, s.late, kill), func(t *testing.T) {
				t.Parallel()
				s := s
				s.T, s.kill, s.fired = t, kill, true
				for s.step = 1 + i%fsroomtest.Stride(); s.fired; s.step += fsroomtest.Stride() {
					got := s.tell()
					if !kill && len(got) > 0 && got[0] == "turn 1 unreadable" {
						got[0] = want[0]
					}
					if s.faulty == "start 1" && len(got) > 0 { // when it went is seen only later
						got[0] = strings.TrimSuffix(got[0], " unsure gone")
					}
					if !slices.Equal(got, want) {
						t.Errorf("%v:\n%s", &s, strings.Join(got, "\n"))
					}
				}
			})
		}
	}
}

// TestHookWaitsForNoDisk: a disk that hangs keeps no tool from running, and the next record is right.
func TestHookWaitsForNoDisk(t *testing.T) {
	s := story{T: t, faulty: "none"}
	s.tell()
	s.write("a", "changed")
	stop, hung := make(chan struct{}), make(chan struct{}, 1)
	set := Setting{Root: s.dir, Fault: func(step string) error {
		if step == "pack" {
			hung <- struct{}{}
			<-stop
			return errors.New("it hung")
		}
		return nil
	}}
	was := BeforeLimit
	BeforeLimit = time.Millisecond
	st, tree := s.opened()
	for len(hung) == 0 { // until the scan is that far
		ctx, done := context.WithTimeout(t.Context(), BeforeLimit)
		Recorder(set)(s.as("a:1"), turn.DefaultPolicy()).Before(ctx, st, nil, "rm")
		done()
		BeforeLimit *= 2
	}
	BeforeLimit = time.Minute
	defer func() { BeforeLimit = was }()
	before, err := tree.Ledger.Snapshots()
	s.must(err)
	close(stop)
	Recorder(Setting{Root: s.dir})(s.as("a:1"), turn.DefaultPolicy()).Before(t.Context(), st, nil, "rm")
	if all, err := tree.Ledger.Snapshots(); err != nil || len(all) != len(before)+1 || all[len(all)-1].Note != "rm" {
		t.Errorf("%d snapshots, then %d, %v", len(before), len(all), err)
	}
}

// TestEndOfAMillisecond: the end of a turn is written in whole milliseconds, rounded down. A scan
// that ended in the same one was before it; one that ended later is done again.
func TestEndOfAMillisecond(t *testing.T) {
	t.Parallel()
	s := story{T: t, faulty: "none"}
	s.tell()
	st, tree := s.opened()
	ended, err := tree.endOf(t.Context(), 2, "b:1", true)
	s.must(err)
	all, err := tree.Ledger.Snapshots()
	s.must(err)
	_, last := ledger.TurnOf(all, 2)
	for later, again := range map[time.Duration]bool{tick - 1: false, tick: true} {
		last.End = ended.Add(later).UnixNano()
		end, err := tree.finish(t.Context(), st, last, ledger.Request{Moment: time.Now(), Line: true})
		if err != nil || (end != last) != again {
			t.Errorf("%v later: recorded again %v, %v", later, end != last, err)
		}
	}
}

// TestEndHereSyncsNothing: the process that ends a turn does not wait for a disk that hangs.
func TestEndHereSyncsNothing(t *testing.T) {
	t.Parallel()
	s := story{T: t, faulty: "none"}
	s.tell()
	s.write("a", "changed")
	stop := make(chan struct{})
	defer close(stop)
	set := Setting{Root: s.dir, Fault: func(step string) error {
		if strings.Contains(step, "sync") {
			t.Errorf("%s in the process that ends the turn", step)
			<-stop
		}
		return nil
	}}
	room := s.as("a:1")
	s.must(endInThisProcess(room, set, 3))
	tree, err := Of(room, turn.DefaultPolicy(), Setting{Root: s.dir})
	s.must(err)
	if !tree.Ledger.Unsynced() {
		t.Error("nothing is left to be synced")
	}
	Recorder(Setting{Root: s.dir})(room, turn.DefaultPolicy()).Ended(t.Context())
	if all, err := tree.Ledger.Snapshots(); err != nil || tree.Ledger.Unsynced() || all[len(all)-1].Turn != 3 {
		t.Errorf("after the guardian: unsynced %v, %v", tree.Ledger.Unsynced(), err)
	}
}

// TestEndAgain: what a turn has changed is known at its end also if it was to end before and did not.
func TestEndAgain(t *testing.T) {
	t.Parallel()
	s := story{T: t, faulty: "none"}
	s.tell()
	st, tree := s.opened()
	for _, name := range []string{"before", "after"} {
		s.write(name, name)
		if changes, late := tree.ending(s.Context(), st, time.Minute).Result(); late || !strings.Contains(string(changes), `"`+name+`"`) {
			t.Errorf("with %s: late %v, %s", name, late, changes)
		}
	}
}

// TestEndRefused: what a turn changes after an end of it that was refused is its own, also if it ends
// without being recorded.
func TestEndRefused(t *testing.T) {
	t.Parallel()
	s := story{T: t, faulty: "none"}
	s.tell()
	st, tree := s.opened()
	tree.ending(s.Context(), st, time.Minute).Result()
	s.pause()
	s.write("after", "after")
	s.pause()
	s.must(release(s.Context(), s.as("a:1"), nil, 3))
	s.pause()
	s.begin("b:1", 4)
	last := ""
	s.must(s.as("a:1").EachEvent(s.Context(), 0, false, func(e *event.Event) error {
		if e.Type == turn.TreeChanged && strings.Contains(string(e.Payload), `"after"`) {
			last += string(e.Payload) + "\n"
		}
		return nil
	}))
	if strings.Count(last, "\n") != 1 || !strings.Contains(last, `"span":"turn"`) || !strings.Contains(last, `"turn_id":3`) {
		t.Errorf("told of it: %s", last)
	}
}

// TestEndHere: an end that is not recorded in time by the process that ends the turn, or that
// panics there, is left to another process; what was known in time is told once.
func TestEndHere(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"panic", "blocked"} {
		s := story{T: t, faulty: "none"}
		s.tell()
		stop := make(chan struct{})
		set := Setting{Root: s.dir, Fault: func(string) error {
			if how == "panic" {
				panic(how)
			}
			<-stop
			return errors.New(how)
		}}
		room := s.as("a:1")
		snap, err := room.FS.View()
		s.must(err)
		tree, err := Of(room, snap.State.Policy, set)
		s.must(err)
		began := time.Now()
		if end := tree.ending(s.Context(), snap.State, 50*time.Millisecond); end.Late == nil || end.Events(snap.State) != nil {
			t.Errorf("%s: the end was recorded", how)
		}
		if how == "blocked" && time.Since(began) < 50*time.Millisecond {
			t.Errorf("%s: it has not waited", how)
		}
		close(stop)
		after, err := Of(room, snap.State.Policy, Setting{Root: s.dir})
		s.must(err)
		_, err = after.Ledger.Take(t.Context(), ledger.Request{Why: ledger.WhyEnd}) // when the other has let the store go
		s.must(err)
	}
}

// TestUndoThatWasNotTold: what a person's undo changed is told as what changed outside of turns if it has no event of its own.
func TestUndoThatWasNotTold(t *testing.T) {
	t.Parallel()
	s := story{T: t, faulty: "none"}
	s.tell()
	st, tree := s.opened()
	take := func(why string, of int64) *ledger.Snapshot {
		snap, err := tree.Ledger.Take(t.Context(), ledger.Request{Why: why, Turn: of, Line: true})
		s.must(err)
		return snap
	}
	end := take(ledger.WhyEnd, 7)
	s.write("a", "taken back")
	take(ledger.WhyUndo, 0)
	start := take(ledger.WhyStart, 8)
	for _, told := range []bool{false, true} {
		if told {
			st.Changes = append(st.Changes, turn.TreeChange{Turn: 7, Span: turn.SpanUndo})
		}
		if c := tree.outside(st, tree.Ledger.Recorded(), end, start); c.IsEmpty() != told {
			t.Errorf("told %v: %+v", told, c)
		}
	}
}
