package fsroom_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/fsroomtest"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// stickRules are those of the talking stick, as tt uses them.
var stickRules = &fsroom.Rules[*turn.State]{
	Folder:   "rooms",
	Format:   turn.Format,
	Version:  2,
	New:      turn.New,
	Apply:    (*turn.State).Apply,
	Clone:    (*turn.State).Clone,
	Live:     (*turn.State).Live,
	Continue: (*turn.State).Continue,
}

type (
	stick  = turn.State
	passer func(s *stick, f turn.Facts) ([]event.Event, error)
)

func stickJoin(who string) passer {
	return func(s *stick, _ turn.Facts) ([]event.Event, error) {
		return turn.Join(s, turn.JoinRequest{
			Agent: who, DisplayName: "<" + who + ">", CanonicalPath: "/home/demo", WorkspaceRoot: "/home/demo", Policy: turn.DefaultPolicy(),
		}), nil
	}
}

func stickTake(who string) passer {
	return func(s *stick, f turn.Facts) ([]event.Event, error) {
		events, _, err := turn.Try(s, f, turn.TryRequest{Agent: who, Lease: fmt.Sprint("lease of turn ", s.Turn+1)})
		return events, err
	}
}

func stickRelease(who string) passer {
	return func(s *stick, f turn.Facts) ([]event.Event, error) {
		fence := turn.Fence{Agent: who, Turn: s.Turn, Lease: s.Grant.Lease}
		events, _, err := turn.Release(s, f, turn.ReleaseRequest{Fence: fence, Handoff: []byte(`{"status":"a < b","next_action":"go on"}`)})
		return events, err
	}
}

func stickNote(who string) passer {
	return func(s *stick, f turn.Facts) ([]event.Event, error) {
		return turn.AddNote(s, f, turn.NoteRequest{Agent: who, ID: fsroom.NewID(), Body: "mind the gap", Severity: talk.SeverityInfo})
	}
}

func stickSend(who string) passer {
	return func(s *stick, f turn.Facts) ([]event.Event, error) {
		return turn.Send(s, f, turn.MessageRequest{Agent: who, To: turn.Everyone, Body: "hello & \u2028 goodbye"})
	}
}

func stickLeave(who string) passer {
	return func(s *stick, f turn.Facts) ([]event.Event, error) {
		events, _, err := turn.Leave(s, f, who)
		return events, err
	}
}

// TestStickSurvives: after each step of two lives of a room, the projection that
// was written, and the one that the journal alone gives, are the same.
func TestStickSurvives(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(tempDir(t), "data")
	r := fsroom.At(openStore(t, dir, fsroom.Options{}), stickRules, "demo")
	life := []passer{
		stickJoin("a"), stickJoin("b"), stickTake("a"), stickNote("a"), stickRelease("a"), stickSend("b"), stickTake("b"), stickNote("b"),
		stickRelease("b"), stickTake("a"), stickLeave("b"), stickLeave("a"),
	}
	for n, step := range append(life, life...) {
		snap, events, err := r.Update(context.Background(), func(s *stick) ([]event.Event, error) {
			return step(s, turn.Facts{Now: turn.At(time.Now(), "boot", time.Hour)})
		})
		if err != nil || len(events) == 0 {
			t.Fatalf("step %d: %d events, %v", n, len(events), err)
		}
		again, err := r.View()
		if err != nil || !reflect.DeepEqual(again, snap) {
			t.Fatalf("step %d: %+v, %v, want %+v", n, again, err, snap)
		}
		if err := os.Remove(filepath.Join(r.Dir(), "state.json")); err != nil {
			t.Fatal(err)
		}
		rebuilt, err := r.View()
		if err != nil || rebuilt.Position != snap.Position || rebuilt.State.Turn != snap.State.Turn {
			t.Fatalf("step %d: %+v, %v, want %+v", n, rebuilt, err, snap)
		}
		if snap.State.Open && !reflect.DeepEqual(rebuilt.State, snap.State) {
			t.Fatalf("step %d: %+v, want %+v", n, rebuilt.State, snap.State)
		}
	}
	for _, p := range fsroomtest.Problems(dir, stickRules) {
		t.Error(p)
	}
	if found := doctor.Check(r); len(found) > 0 {
		t.Errorf("Check finds %v", found)
	}
}
