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
	"github.com/talking-stick/tt/journal/event"
)

// wakeRules notify "z" when an agent joins or the turn goes on.
var wakeRules = func() *fsroom.Rules[*tally] {
	r := *tallyRules
	r.Notify = func(before, after *tally, _ []event.Event) []string {
		if len(after.In) > len(before.In) || after.Turn > before.Turn {
			return []string{"z"}
		}
		return nil
	}
	return &r
}()

// withWakeRules is the fixture's room under wakeRules, in a store whose waits are only
// ever woken.
func (f *fixture) withWakeRules(o fsroom.Options) *room {
	f.t.Helper()
	o.BlindPoll = seldom
	return fsroom.At(openStore(f.t, f.dir, o), wakeRules, "demo")
}

// waiting creates the wake file of an agent.
func (f *fixture) waiting(id string) fsroom.Agent {
	f.t.Helper()
	a := f.room.Agent(id)
	release, err := a.Hold("waiting")
	f.must(err)
	f.t.Cleanup(release)
	f.must(a.EnsureWakeFile())
	return a
}

// TestWakeFileWakes agents that a change concerns, and agents that are notified by hand.
func TestWakeFileWakes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.withWakeRules(fsroom.Options{})
	change(t, r, join("a"))
	z := f.waiting("z")
	rings := func() fsroom.Sleep { z.Notify(); return rest() }
	joins := func(id string) func() fsroom.Sleep {
		return func() fsroom.Sleep { change(t, r, join(id)); return rest() }
	}
	for name, after := range map[string][]func() fsroom.Sleep{
		"by the rules, before it watches": {joins("b")},
		"by the rules, while it looks":    {rest, joins("c")},
		"by somebody":                     {rest, rings, rings, rings},
	} {
		l := &looker{t: t, after: after}
		err := r.AwaitAs(context.Background(), "z", func(s *snapshot) (bool, fsroom.Sleep, error) {
			_, pause, err := l.look(s)
			return l.looks > len(after), pause, err
		})
		if waited := time.Since(l.last); err != nil || waited > soon {
			t.Errorf("%s: %v after %v", name, err, waited)
		}
	}
}

// TestWakeFileLetsSleep agents that a change does not concern.
func TestWakeFileLetsSleep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.withWakeRules(fsroom.Options{})
	change(t, r, join("a"))
	z := f.waiting("z")
	looks := 0
	err := r.AwaitAs(context.Background(), "z", func(*snapshot) (bool, fsroom.Sleep, error) {
		switch looks++; looks {
		case 2: // watching by now: of what is said nothing is heard, only of the ring
			change(t, r, say("a", "one"), say("a", "two"))
			go z.Notify()
		case 3:
			return true, fsroom.Sleep{}, nil
		}
		return false, fsroom.Sleep{}, nil
	})
	if err != nil || looks != 3 {
		t.Errorf("%d looks, %v", looks, err)
	}
}

// TestWakeFileComesBeforeTheCommit: with a writer that fails or dies there, who was
// rung has looked after the lock was free, so nothing is missed.
func TestWakeFileComesBeforeTheCommit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.withWakeRules(fsroom.Options{})
	change(t, r, join("a"))
	f.waiting("z")
	failing := f.withWakeRules(fsroom.Options{Fault: (&fault{step: fsroom.StepAppend, err: syscall.EIO}).hit})
	looks := 0
	err := r.AwaitAs(context.Background(), "z", func(*snapshot) (bool, fsroom.Sleep, error) {
		if looks++; looks == 2 {
			if _, _, err := failing.Update(context.Background(), join("b")); !errors.Is(err, syscall.EIO) {
				t.Error(err)
			}
		}
		return looks == 3, fsroom.Sleep{}, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWakeFileNotifiesBeforeTheCommit: otherwise a writer that is killed right after the
// commit would have notified no agent.
func TestWakeFileNotifiesBeforeTheCommit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	change(t, f.withWakeRules(fsroom.Options{}), join("a"))
	wakeFile := f.waiting("z").Path("bell")
	past := time.Unix(1e9, 0)
	f.must(os.Chtimes(wakeFile, past, past))
	r := f.withWakeRules(fsroom.Options{Fault: func(step fsroom.Step) error {
		if info, err := os.Stat(wakeFile); step == fsroom.StepAppend && (err != nil || info.ModTime().Equal(past)) {
			t.Errorf("nobody was rung for: %v", err)
		}
		return nil
	}})
	change(t, r, join("b"))
}

// TestNobodyLooksPastTheCommit: who was woken before it looks when it is done, not
// at a room that has not changed yet, and then never again.
func TestNobodyLooksPastTheCommit(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]fsroom.Step{"bell": fsroom.StepAppend, "journal": fsroom.StepReplace} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			r := f.withWakeRules(fsroom.Options{})
			change(t, r, join("a"))
			f.waiting("z")
			early := make(chan struct{})
			slow := f.withWakeRules(fsroom.Options{Fault: func(at fsroom.Step) error {
				if at == step {
					select {
					case <-early:
						t.Error("it looked before the change was done")
					case <-time.After(100 * time.Millisecond): // only to notice a fault: nothing depends on it
					}
				}
				return nil
			}})
			looks, done := 0, make(chan error, 1)
			look := func(s *snapshot) (bool, fsroom.Sleep, error) {
				switch looks++; looks {
				case 2:
					go func() {
						_, _, err := slow.Update(context.Background(), join("b"))
						done <- err
					}()
				case 3:
					close(early)
				}
				return len(s.State.In) == 2, fsroom.Sleep{}, nil
			}
			began := time.Now()
			if name == "bell" {
				f.must(r.AwaitAs(context.Background(), "z", look))
			} else {
				f.must(f.watched().Await(context.Background(), look))
			}
			f.must(<-done)
			if waited := time.Since(began); waited > soon {
				t.Errorf("woken only after %v", waited)
			}
		})
	}
}

// TestSlowWriterIsNotMissed: who was woken has looked while it was still writing, and
// nothing wakes again.
func TestSlowWriterIsNotMissed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.withWakeRules(fsroom.Options{Patience: time.Millisecond})
	change(t, r, join("a"))
	f.waiting("z")
	looked, done := make(chan struct{}), make(chan error, 1)
	slow := f.withWakeRules(fsroom.Options{Fault: func(step fsroom.Step) error {
		if step == fsroom.StepAppend {
			select {
			case <-looked:
			case <-time.After(2 * soon):
				t.Error("it did not look while the writer wrote")
			}
		}
		return nil
	}})
	looks := 0
	var last time.Time
	err := r.AwaitAs(context.Background(), "z", func(s *snapshot) (bool, fsroom.Sleep, error) {
		switch looks++; looks {
		case 2:
			go func() {
				_, _, err := slow.Update(context.Background(), join("b"))
				done <- err
			}()
		case 3:
			last = time.Now()
			close(looked)
		}
		return len(s.State.In) == 2, fsroom.Sleep{}, nil
	})
	f.must(err)
	f.must(<-done)
	if waited := time.Since(last); waited > soon {
		t.Errorf("noticed only after %v", waited)
	}
}

// TestNotifyTouchesNothingElse: no agent, no link's target, no file that was not
// there.
func TestNotifyTouchesNothingElse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	f.room.Agent("nobody").Notify()
	if _, err := os.Lstat(f.room.Agent("nobody").Path("")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a notification made an agent: %v", err)
	}
	outside := filepath.Join(tempDir(t), "outside")
	f.must(os.WriteFile(outside, nil, 0o600))
	past := time.Unix(1e9, 0)
	f.must(os.Chtimes(outside, past, past))
	a := f.waiting("a")
	f.must(os.Remove(a.Path("bell")))
	f.must(os.Symlink(outside, a.Path("bell")))
	a.Notify()
	if info, err := os.Stat(outside); err != nil || !info.ModTime().Equal(past) {
		t.Errorf("a notification went through a link: %v, %v", info.ModTime(), err)
	}
	f.must(a.EnsureWakeFile())
	if info, err := os.Lstat(a.Path("bell")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link is still there: %v, %v", info.Mode(), err)
	}
}

// TestHeldMarkStays, also with a second name, which a copy made of links has: otherwise
// its holder would hold a file that no other process finds.
func TestHeldMarkStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	a := f.waiting("a")
	f.must(os.Link(a.Path("waiting"), filepath.Join(tempDir(t), "copy")))
	f.must(a.Mark("waiting", time.Now()))
	if !a.Held("waiting") {
		t.Error("it is not held any more")
	}
}

// TestPollComesAsOftenAsAsked, and sees what was not heard.
func TestPollComesAsOftenAsAsked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.withWakeRules(fsroom.Options{})
	change(t, r, join("a"))
	f.waiting("z")
	looks := 0
	var last time.Time
	err := r.AwaitAs(context.Background(), "z", func(*snapshot) (bool, fsroom.Sleep, error) {
		if looks++; looks == 2 {
			change(t, r, say("a", "unheard")) // wakes nobody
			last = time.Now()
		}
		return looks == 3, fsroom.Sleep{Poll: time.Millisecond}, nil
	})
	if waited := time.Since(last); err != nil || waited > soon {
		t.Errorf("%v after %v", err, waited)
	}
}
