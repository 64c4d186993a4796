package changes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// A story is three turns in a tree, the first of a:1, the second of b:1. One of the processes that
// record them fails at a step, or is killed there.
type story struct {
	*testing.T
	dir, data, room string
	faulty          string // "end 1"
	late            bool   // turns end before their end is recorded, by another process
	granted         time.Time
	step            int
	kill            bool
	fired           bool
}

func (s *story) String() string {
	return fmt.Sprintf("%s, late %v, kill %v, step %d", s.faulty, s.late, s.kill, s.step)
}

func (s *story) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("%v: %v", s, err)
	}
}

func (s *story) write(name, content string) {
	s.must(os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600))
}

// opened returns the room as it is and its tree, for a:1.
func (s *story) opened() (*turn.State, *Tree) {
	room := s.as("a:1")
	snap, err := room.FS.View()
	s.must(err)
	tree, err := Of(room, snap.State.Policy, Setting{Root: s.dir})
	s.must(err)
	return snap.State, tree
}

// pause waits until the clock of files tells what happens now from what happened before.
func (s *story) pause() {
	probe := filepath.Join(s.data, "probe")
	since := time.Now()
	for wait := 2 * margin; ; wait = time.Millisecond {
		time.Sleep(wait)
		s.must(os.WriteFile(probe, nil, 0o600))
		if info, err := os.Stat(probe); err == nil && info.ModTime().Sub(since) > 2*margin {
			return
		}
	}
}

func (s *story) as(agent string) *member.Room {
	store, err := fsroom.Open(s.data, fsroom.Options{})
	s.must(err)
	return (&member.Client{Store: store, Table: identity.System(), Self: identity.Agent{ID: agent}}).Room(s.room, nil)
}

// append appends the events of a rule.
func (s *story) append(agent string, rule func(*turn.State, turn.Facts) ([]event.Event, error)) {
	s.Helper()
	s.must(s.as(agent).Append(s.Context(), func(st *turn.State) ([]event.Event, error) {
		return rule(st, turn.Facts{Now: turn.At(time.Now(), "", 0)})
	}))
}

// record records a moment of a turn, in a process of its own if that fails.
func (s *story) record(agent string, j Job) {
	s.Helper()
	if s.faulty != fmt.Sprint(j.At, " ", j.Turn) {
		if j.At == endHere {
			if err := endInThisProcess(s.as(agent), Setting{Root: s.dir}, j.Turn); !errors.Is(err, errLate) {
				s.must(err)
			}
			return
		}
		s.must(Record(s.Context(), s.as(agent), Setting{Root: s.dir}, j))
		return
	}
	c := childJob{Data: s.data, Dir: s.dir, Room: s.room, Agent: agent, Job: j, Step: s.step, Kill: s.kill}
	b, err := json.Marshal(c)
	s.must(err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+string(b))
	_ = cmd.Run()
	s.fired = cmd.ProcessState.ExitCode() != exitNoStep
}

// begin gives an agent the turn.
func (s *story) begin(agent string, number int64) {
	s.append(agent, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
		events, _, err := turn.Try(st, f, turn.TryRequest{Agent: agent, Lease: fsroom.NewID()})
		return events, err
	})
	snap, err := s.as(agent).FS.View()
	s.must(err)
	if snap.State.Owner != agent || snap.State.Turn != number {
		s.Fatalf("%v: %s has no turn: turn %d of %q", s, agent, snap.State.Turn, snap.State.Owner)
	}
	s.granted = snap.State.Grant.At.Wall.Time
	if s.faulty == fmt.Sprint(hookBegins, " ", number) {
		s.record(agent, Job{At: hookBegins, Turn: number})
	}
	s.record(agent, Job{At: "start", Turn: number, Moment: s.granted})
	s.pause()
}

// end ends the turn of an agent; then another program writes.
func (s *story) end(agent string, number int64) {
	room := s.as(agent)
	s.pause()
	ended := false
	if !s.late {
		s.record(agent, Job{At: endHere, Turn: number})
		snap, err := room.FS.View()
		s.must(err)
		ended = snap.State.Owner != agent
	}
	if !ended {
		s.must(release(s.Context(), room, nil, number))
	}
	s.pause()
	s.write(fmt.Sprint("out/", number), "x\n")
	s.pause()
	if !ended {
		s.record(agent, Job{At: "end", Turn: number, Moment: s.granted})
	}
}

// tell has the three turns, and returns what the room knows of them.
func (s *story) tell() (known []string) {
	s.dir, s.data, s.room, s.fired = s.TempDir(), s.TempDir(), "r", false
	s.write("a", "1\n")
	s.write("gone", "1\n")
	s.must(os.Mkdir(filepath.Join(s.dir, "out"), 0o700))
	for _, agent := range []string{"a:1", "b:1"} {
		s.append(agent, func(st *turn.State, _ turn.Facts) ([]event.Event, error) {
			return turn.Join(st, turn.JoinRequest{Agent: agent, CanonicalPath: s.dir, WorkspaceRoot: s.dir, Policy: turn.DefaultPolicy()}), nil
		})
	}
	s.pause()
	s.record("a:1", Job{At: "first"})
	s.pause()
	s.begin("a:1", 1)
	s.write("a", "1\n2\n")
	s.write("new", "1\n")
	if s.faulty == hookWrites+" 1" {
		s.record("a:1", Job{At: hookWrites, Turn: 1})
	}
	s.must(os.Remove(filepath.Join(s.dir, "gone")))
	s.end("a:1", 1)
	s.begin("b:1", 2)
	s.write("b", "1\n")
	s.end("b:1", 2)
	s.begin("a:1", 3)
	s.must(s.as("a:1").EachEvent(s.Context(), 0, false, func(e *event.Event) error {
		var c ledger.Changes
		if e.Type != turn.TreeChanged {
			return nil
		}
		s.must(json.Unmarshal(e.Payload, &c))
		line := fmt.Sprintf("%s %d %s", c.Span, c.Turn, c.Unknown)
		for _, p := range c.Paths {
			line += fmt.Sprintf(" %s %s", p.Status, p.Path)
		}
		for _, path := range c.Unsure {
			line += " unsure " + path
		}
		known = append(known, line)
		return nil
	}))
	return known
}
