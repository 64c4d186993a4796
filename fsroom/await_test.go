package fsroom_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
)

// soon is far above what a very busy machine takes, and below seldom: who looks again within it
// was woken.
const soon, seldom = time.Minute, 2 * time.Minute

// watched is the fixture's room in a store whose waits are woken by the watcher, or seldom.
func (f *fixture) watched() *room {
	f.t.Helper()
	return f.at(fsroom.Options{BlindPoll: seldom})
}

// polled is the room in a store that watches nothing.
func (f *fixture) polled() *room {
	f.t.Helper()
	return f.at(fsroom.Options{NoWatch: true, BlindPoll: time.Millisecond})
}

// A looker is the look of an Await that does one thing after each look until
// there is none left, and is done when the word was said.
type looker struct {
	t     *testing.T
	after []func() fsroom.Sleep
	word  string
	looks int
	last  time.Time // when the last of the things was done
}

func (l *looker) look(s *snapshot) (bool, fsroom.Sleep, error) {
	l.looks++
	if l.looks <= len(l.after) {
		pause := l.after[l.looks-1]()
		l.last = time.Now()
		return false, pause, nil
	}
	return s.State.Last == l.word, fsroom.Sleep{}, nil
}

// await waits until the look is done, which must be soon after the last change.
func (l *looker) await(r *room) {
	l.t.Helper()
	if err := r.Await(context.Background(), l.look); err != nil {
		l.t.Fatal(err)
	}
	if waited := time.Since(l.last); waited > soon {
		l.t.Errorf("woken only after %v", waited)
	}
}

func rest() fsroom.Sleep { return fsroom.Sleep{} }

// saying says the word, which happens between a look and the sleep after it.
func (f *fixture) saying(word string) func() fsroom.Sleep {
	return func() fsroom.Sleep { f.do(say("a", word)); return fsroom.Sleep{} }
}

// TestAwaitIsWoken by a change, at whatever point of its loop it is.
func TestAwaitIsWoken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	later := make(chan error, 1)
	elsewhere := func() fsroom.Sleep {
		go func() {
			_, _, err := f.room.Update(context.Background(), say("a", "hello"))
			later <- err
		}()
		return fsroom.Sleep{}
	}
	tests := map[string][]func() fsroom.Sleep{
		"before it watches":  {f.saying("hello")},
		"while it looks":     {rest, f.saying("hello")},
		"while it sleeps":    {rest, elsewhere},
		"after other change": {rest, f.saying("one"), f.saying("two"), f.saying("hello")},
	}
	for name, after := range tests {
		t.Run(name, func(t *testing.T) {
			f.do(say("a", "nothing yet"))
			l := &looker{t: t, after: after, word: "hello"}
			l.await(f.watched())
			if name == "while it sleeps" {
				f.must(<-later)
			}
		})
	}
}

// TestAwaitIsWokenWithoutState: a change is committed by the journal. What follows
// may fail.
func TestAwaitIsWokenWithoutState(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	full := f.at(fsroom.Options{Fault: (&fault{step: fsroom.StepReplace, err: syscall.ENOSPC}).hit})
	l := &looker{t: t, after: []func() fsroom.Sleep{rest, func() fsroom.Sleep { change(t, full, say("a", "hello")); return rest() }}, word: "hello"}
	l.await(f.watched())
	f.do(say("a", "state.json is written again"))
}

// TestAwaitIsWokenByTheEnd of the room, archived or not.
func TestAwaitIsWokenByTheEnd(t *testing.T) {
	t.Parallel()
	for _, step := range []fsroom.Step{"none", fsroom.StepArchive} {
		f := newFixture(t)
		f.do(join("a"))
		looks := 0
		var ended time.Time
		err := f.watched().Await(context.Background(), func(s *snapshot) (bool, fsroom.Sleep, error) {
			if looks++; looks == 2 {
				f.dying(step, leave("a"))
				ended = time.Now()
				return false, fsroom.Sleep{}, nil
			}
			return !s.State.Open, fsroom.Sleep{}, nil
		})
		if waited := time.Since(ended); err != nil || waited > soon {
			t.Errorf("%s: %v after %v", step, err, waited)
		}
		f.do(join("b"))
	}
}

// TestAwaitPolls where nothing can be watched: by choice, in a room that is not
// there yet, in one that was moved, and after the watcher was closed.
func TestAwaitPolls(t *testing.T) {
	t.Parallel()
	t.Run("by choice", func(t *testing.T) {
		f := newFixture(t)
		f.do(join("a"))
		l := &looker{t: t, after: []func() fsroom.Sleep{rest, f.saying("one"), f.saying("two")}, word: "two"}
		l.await(f.polled())
	})
	t.Run("no room yet", func(t *testing.T) {
		f := newFixture(t)
		r := f.at(fsroom.Options{BlindPoll: time.Millisecond})
		l := &looker{t: t, after: []func() fsroom.Sleep{rest, func() fsroom.Sleep { f.do(join("a")); return rest() }, f.saying("hello")}, word: "hello"}
		l.await(r)
	})
	t.Run("room was moved", func(t *testing.T) {
		f := newFixture(t)
		f.do(join("a"))
		r := f.at(fsroom.Options{BlindPoll: time.Millisecond})
		l := &looker{t: t, after: []func() fsroom.Sleep{rest, f.moving, f.saying("one"), f.saying("two")}, word: "two"}
		l.await(r)
	})
	t.Run("store was closed", func(t *testing.T) {
		f := newFixture(t)
		f.do(join("a"))
		store := openStore(t, f.dir, fsroom.Options{BlindPoll: time.Millisecond})
		closing := func() fsroom.Sleep { f.must(store.Close()); return rest() }
		l := &looker{t: t, after: []func() fsroom.Sleep{rest, closing, f.saying("one"), f.saying("two")}, word: "two"}
		l.await(fsroom.At(store, tallyRules, "demo"))
		again := &looker{t: t, after: []func() fsroom.Sleep{rest, f.saying("three")}, word: "three"}
		again.await(fsroom.At(store, tallyRules, "demo"))
	})
}

// TestPollSeesAJournalOfTheSameLength, as one is that was put back from a copy.
func TestPollSeesAJournalOfTheSameLength(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "hullo"))
	ctx, cancel := context.WithTimeout(context.Background(), 2*soon)
	defer cancel()
	path := f.room.JournalPath()
	restore := func() fsroom.Sleep {
		b, err := os.ReadFile(path)
		f.must(err)
		f.must(os.WriteFile(path, bytes.ReplaceAll(b, []byte("hullo"), []byte("hello")), 0o600))
		f.must(os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)))
		return rest()
	}
	l := &looker{t: t, after: []func() fsroom.Sleep{rest, restore}, word: "hello"}
	f.must(f.polled().Await(ctx, l.look))
	if waited := time.Since(l.last); waited > soon {
		t.Errorf("noticed only after %v", waited)
	}
	f.do(say("a", "state.json is written again"))
}

// moving moves the room's directory away and back, which takes its watch along.
func (f *fixture) moving() fsroom.Sleep {
	f.must(os.Rename(f.room.Dir(), f.room.Dir()+"-away"))
	f.must(os.Rename(f.room.Dir()+"-away", f.room.Dir()))
	return fsroom.Sleep{}
}

// TestMovedRoomIsWatchedAnew by the next who waits.
func TestMovedRoomIsWatchedAnew(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "hello"))
	r := f.watched()
	first := &looker{t: t, after: []func() fsroom.Sleep{rest, f.moving}, word: "hello"}
	first.await(r)
	second := &looker{t: t, after: []func() fsroom.Sleep{rest, f.saying("again")}, word: "again"}
	second.await(r)
}

// TestAwaitLooksAtItsMoment: not before a deadline, and not much after it.
func TestAwaitLooksAtItsMoment(t *testing.T) {
	t.Parallel()
	const d = 30 * time.Millisecond
	f := newFixture(t)
	f.do(join("a"), say("a", "hello"))
	at := func() fsroom.Sleep { return fsroom.Sleep{For: d} }
	for name, r := range map[string]*room{"watched": f.watched(), "blind": f.at(fsroom.Options{NoWatch: true, BlindPoll: seldom})} {
		l := &looker{t: t, after: []func() fsroom.Sleep{rest, at}, word: "hello"}
		l.await(r)
		if waited := time.Since(l.last); waited < d || l.looks != 3 {
			t.Errorf("%s: %d looks, the last after %v", name, l.looks, waited)
		}
	}
}

// TestAwaitLooksAfterAnExit.
func TestAwaitLooksAfterAnExit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "hello"))
	exit := make(chan struct{})
	dies := func() fsroom.Sleep { close(exit); return fsroom.Sleep{Exit: exit} }
	l := &looker{t: t, after: []func() fsroom.Sleep{rest, dies}, word: "hello"}
	l.await(f.watched())
}

// TestAwaitEnds with its context, whose cause it returns, after one look at least.
func TestAwaitEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	own := errors.New("enough")
	for endsAt := range 4 {
		ctx, cancel := context.WithCancelCause(context.Background())
		if endsAt == 0 {
			cancel(own)
		}
		looks := 0
		err := f.watched().Await(ctx, func(*snapshot) (bool, fsroom.Sleep, error) {
			if looks++; looks == endsAt {
				cancel(own)
			}
			return false, fsroom.Sleep{For: time.Millisecond}, nil
		})
		if err != own || looks != max(1, endsAt) {
			t.Errorf("ended at look %d: %v after %d", endsAt, err, looks)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := f.watched().Await(ctx, func(*snapshot) (bool, fsroom.Sleep, error) { return true, fsroom.Sleep{}, nil }); err != nil {
		t.Errorf("done at the first look, but: %v", err)
	}
	if err := f.watched().Await(context.Background(), func(*snapshot) (bool, fsroom.Sleep, error) { return false, fsroom.Sleep{}, own }); err != own {
		t.Errorf("the look failed, but: %v", err)
	}
}

// TestWaitsShareOneWatcher: the end of one leaves the others theirs.
func TestWaitsShareOneWatcher(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	r := f.watched()
	words := []string{"one", "two", "three"}
	asleep, done := make(chan bool), make(chan error)
	for _, word := range words {
		go func() {
			looks := 0
			done <- r.Await(context.Background(), func(s *snapshot) (bool, fsroom.Sleep, error) {
				if looks++; looks == 2 {
					asleep <- true
				}
				return s.State.Last == word, fsroom.Sleep{}, nil
			})
		}()
	}
	for range words {
		<-asleep
	}
	for _, word := range words {
		began := time.Now()
		f.do(say("a", word))
		f.must(<-done)
		if waited := time.Since(began); waited > soon {
			t.Errorf("%s: woken only after %v", word, waited)
		}
	}
}
