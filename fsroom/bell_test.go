package fsroom_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
)

// bellRules wake "z" when somebody comes or the turn goes on.
var bellRules = func() *fsroom.Rules[tally] {
	r := *tallyRules
	r.Wakes = func(before, after *tally) []string {
		if len(after.In) > len(before.In) || after.Turn > before.Turn {
			return []string{"z"}
		}
		return nil
	}
	return &r
}()

// belled is the fixture's room under bellRules, in a store whose waits are only
// ever woken.
func (f *fixture) belled(o fsroom.Options) *room {
	f.t.Helper()
	o.BlindPoll = time.Hour
	return fsroom.At(openStore(f.t, f.dir, o), bellRules, "demo")
}

// hang makes somebody ready to be woken.
func (f *fixture) hang(id string) fsroom.Agent {
	f.t.Helper()
	a := f.room.Agent(id)
	release, err := a.Hold("waiting")
	f.must(err)
	f.t.Cleanup(release)
	f.must(a.HangBell())
	return a
}

// TestBellWakes whom a change concerns, and whoever is rung for.
func TestBellWakes(t *testing.T) {
	f := newFixture(t)
	r := f.belled(fsroom.Options{})
	change(t, r, join("a"))
	z := f.hang("z")
	rings := func() fsroom.Pause { z.Ring(); return rest() }
	joins := func(id string) func() fsroom.Pause {
		return func() fsroom.Pause { change(t, r, join(id)); return rest() }
	}
	for name, after := range map[string][]func() fsroom.Pause{
		"by the rules, before it watches": {joins("b")},
		"by the rules, while it looks":    {rest, joins("c")},
		"by somebody":                     {rest, rings, rings, rings},
	} {
		l := &looker{t: t, after: after}
		err := r.AwaitAs(context.Background(), "z", func(s *snapshot) (bool, fsroom.Pause, error) {
			_, pause, err := l.look(s)
			return l.looks > len(after), pause, err
		})
		if waited := time.Since(l.last); err != nil || waited > soon {
			t.Errorf("%s: %v after %v", name, err, waited)
		}
	}
}

// TestBellLetsSleep whom a change does not concern.
func TestBellLetsSleep(t *testing.T) {
	f := newFixture(t)
	r := f.belled(fsroom.Options{})
	change(t, r, join("a"))
	z := f.hang("z")
	looks := 0
	err := r.AwaitAs(context.Background(), "z", func(*snapshot) (bool, fsroom.Pause, error) {
		switch looks++; looks {
		case 2: // watching by now: of what is said nothing is heard, only of the ring
			change(t, r, say("a", "one"), say("a", "two"))
			go z.Ring()
		case 3:
			return true, fsroom.Pause{}, nil
		}
		return false, fsroom.Pause{}, nil
	})
	if err != nil || looks != 3 {
		t.Errorf("%d looks, %v", looks, err)
	}
}

// TestBellComesBeforeTheCommit: with a writer that fails or dies there, who was
// rung has looked after the lock was free, so nothing is missed.
func TestBellComesBeforeTheCommit(t *testing.T) {
	f := newFixture(t)
	r := f.belled(fsroom.Options{})
	change(t, r, join("a"))
	f.hang("z")
	failing := f.belled(fsroom.Options{Fault: (&fault{step: fsroom.StepAppend, err: syscall.EIO}).hit})
	looks := 0
	err := r.AwaitAs(context.Background(), "z", func(*snapshot) (bool, fsroom.Pause, error) {
		if looks++; looks == 2 {
			if _, _, err := failing.Update(context.Background(), join("b")); !errors.Is(err, syscall.EIO) {
				t.Error(err)
			}
		}
		return looks == 3, fsroom.Pause{}, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRingTouchesNothingElse: no agent, no link's target, no file that was not
// there.
func TestRingTouchesNothingElse(t *testing.T) {
	f := newFixture(t)
	f.do(join("a"))
	f.room.Agent("nobody").Ring()
	if _, err := os.Lstat(f.room.Agent("nobody").Path("")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a ring made an agent: %v", err)
	}
	outside := filepath.Join(tempDir(t), "outside")
	f.must(os.WriteFile(outside, nil, 0o600))
	past := time.Unix(1e9, 0)
	f.must(os.Chtimes(outside, past, past))
	a := f.hang("a")
	f.must(os.Remove(a.Path("bell")))
	f.must(os.Symlink(outside, a.Path("bell")))
	a.Ring()
	if info, err := os.Stat(outside); err != nil || !info.ModTime().Equal(past) {
		t.Errorf("a ring went through a link: %v, %v", info.ModTime(), err)
	}
	f.must(a.HangBell())
	if info, err := os.Lstat(a.Path("bell")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link is still there: %v, %v", info.Mode(), err)
	}
}

// TestHeldMarkStays, also with a second name, as a copy made of links gives it: who
// holds it would hold what nobody finds.
func TestHeldMarkStays(t *testing.T) {
	f := newFixture(t)
	f.do(join("a"))
	a := f.hang("a")
	f.must(os.Link(a.Path("waiting"), filepath.Join(tempDir(t), "copy")))
	f.must(a.Mark("waiting", time.Now()))
	if !a.Held("waiting") {
		t.Error("it is not held any more")
	}
}

// TestPollComesAsOftenAsAsked, and sees what was not heard.
func TestPollComesAsOftenAsAsked(t *testing.T) {
	f := newFixture(t)
	r := f.belled(fsroom.Options{})
	change(t, r, join("a"))
	f.hang("z")
	looks := 0
	var last time.Time
	err := r.AwaitAs(context.Background(), "z", func(*snapshot) (bool, fsroom.Pause, error) {
		if looks++; looks == 2 {
			change(t, r, say("a", "unheard")) // wakes nobody
			last = time.Now()
		}
		return looks == 3, fsroom.Pause{Poll: time.Millisecond}, nil
	})
	if waited := time.Since(last); err != nil || waited > soon {
		t.Errorf("%v after %v", err, waited)
	}
}
