package fsroom_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// TestLockIsHeld by another process: writers are told by which, readers do not
// mind, and once it is killed the lock is free.
func TestLockIsHeld(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	holder := start(t, "hold", f.dir)
	if got := holder.line(); got != "held" {
		t.Fatalf("the holder says %q", got)
	}
	hasty := f.at(fsroom.Options{Patience: time.Millisecond})
	_, _, updateErr := hasty.Update(context.Background(), say("b", "hello"))
	lockedErr := hasty.Locked(context.Background(), func(*snapshot) error { t.Error("got in"); return nil })
	for name, err := range map[string]error{"Update": updateErr, "Locked": lockedErr} {
		var e *code.Error
		if !errors.As(err, &e) || e.Code != code.LockTimeout || e.Hint == "" {
			t.Fatalf("%s: %v", name, err)
		}
		if runtime.GOOS == "linux" && e.Details["holder_pid"] != holder.cmd.Process.Pid {
			t.Errorf("%s: %v %v, want process %d", name, err, e.Details, holder.cmd.Process.Pid)
		}
	}
	f.view()
	holder.kill()
	f.do(say("b", "hello"))
}

// TestLockEndsWithContext: who gives up waiting gets no code, but its own reason.
func TestLockEndsWithContext(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	err := f.room.Locked(context.Background(), func(*snapshot) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _, err := f.room.Update(ctx, nothing)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Update: %v", err)
	}
}

// TestLockedMakesTheRoom, sees it, and returns what do returns.
func TestLockedMakesTheRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	own := errors.New("own")
	err := f.room.Locked(context.Background(), func(s *snapshot) error {
		if s.State.Open {
			t.Errorf("%+v", s.State)
		}
		return own
	})
	if !errors.Is(err, own) {
		t.Errorf("Locked: %v", err)
	}
}

// TestRefusalIsReturnedAsItIs, also one that looks like trouble with the disk.
func TestRefusalIsReturnedAsItIs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, own := range []error{errors.New("own"), context.DeadlineExceeded, &code.Error{Code: "own"}, errNoSpace} {
		_, _, err := f.room.Update(context.Background(), func(*tally) ([]event.Event, error) { return nil, own })
		if err != own {
			t.Errorf("%v became %v", own, err)
		}
	}
}

// TestChangeThatDoesNotFold must not get into the journal.
func TestChangeThatDoesNotFold(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	before := f.files()
	_, _, err := f.room.Update(context.Background(), func(s *tally) ([]event.Event, error) {
		return []event.Event{{Type: turned, Turn: 5}, {Type: said, Payload: []byte("[]")}}, nil
	})
	if err == nil || !strings.Contains(err.Error(), "does not fold") {
		t.Errorf("Update: %v", err)
	}
	if after := f.files(); len(after) != len(before) || f.view().State.Turn != 0 {
		t.Errorf("%v became %v", before, after)
	}
}

// TestUpdateFillsInTheEvents and gives them back as they were written.
func TestUpdateFillsInTheEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_999_999, time.FixedZone("", 3600))
	ids := 0
	r := f.at(fsroom.Options{
		Now:   func() time.Time { return at },
		NewID: func() string { ids++; return strings.Repeat("i", ids) },
	})
	snap, events, err := r.Update(context.Background(), join("a"))
	f.must(err)
	if len(events) != 2 || snap.Position.Seq != 2 || len(snap.State.In) != 1 {
		t.Fatalf("%v, %+v", events, snap)
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 || e.ID != strings.Repeat("i", i+1) || e.RoomID != "demo" || e.CreatedAt.String() != "2026-01-02T02:04:05.006Z" {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	if got := f.history(); got[0] != line(events[0]) || got[1] != line(events[1]) {
		t.Errorf("written %q, returned %v", got, events)
	}
}
