package fsroom_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/journal/event"
)

var errEnough = errors.New("enough")

// A reader collects events until it has as many as it wants.
type reader struct {
	lines []string
	want  int
}

func (r *reader) take(e *event.Event) error {
	r.lines = append(r.lines, line(*e))
	return nil
}

func (r *reader) enough() error {
	if len(r.lines) >= r.want {
		return errEnough
	}
	return nil
}

// TestFollowWhileOthersWrite: every event, once, in order.
func TestFollowWhileOthersWrite(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("z"))
	const writers, words = 4, 30
	var all []*process
	for i := range writers {
		all = append(all, start(t, "write", f.dir, fmt.Sprint("writer", i), fmt.Sprint(words)))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for _, p := range all {
			p.rest()
			if err := p.cmd.Wait(); err != nil {
				cancel(err) // there will not be as many events
			}
		}
	}()
	r := &reader{want: 2 + writers*(1+words)}
	end, err := f.watched().Follow(ctx, 0, r.take, r.enough)
	if err != errEnough || end != int64(r.want) {
		t.Errorf("ended at %d: %v", end, err)
	}
	<-ended
	if want := f.history(); !slices.Equal(r.lines, want) {
		t.Errorf("%d events were delivered, %d are in the journal", len(r.lines), len(want))
	}
}

// TestFollowEndsWithTheLife and has then delivered all of it, be it that the life
// ends while the reader takes what was the last event, or after that.
func TestFollowEndsWithTheLife(t *testing.T) {
	t.Parallel()
	for name, follow := range map[string]func(*fixture) *room{"watched": (*fixture).watched, "polled": (*fixture).polled} {
		for _, whileReading := range []bool{true, false} {
			f := newFixture(t)
			f.do(join("a"))
			ended := false
			end := func(now bool) {
				if now && !ended {
					ended = true
					f.do(say("a", "last words"), leave("a"), join("b")) // a new life has begun
				}
			}
			r := &reader{}
			at, err := follow(f).Follow(context.Background(), 0, func(e *event.Event) error {
				end(whileReading && e.Seq == 2)
				return r.take(e)
			}, func() error {
				end(!whileReading)
				return nil
			})
			if !errors.Is(err, fsroom.ErrLifeEnded) || at != 5 {
				t.Errorf("%s, while reading %v: ended at %d: %v", name, whileReading, at, err)
			}
			if want := f.history()[:5]; !slices.Equal(r.lines, want) {
				t.Errorf("%s, while reading %v: delivered %q, want %q", name, whileReading, r.lines, want)
			}
		}
	}
}

// TestFollowPastAnUndoneEvent: an event that was read before its sync failed, and
// was undone, does not hide the one that takes its number, be that longer, shorter
// or of the same length.
func TestFollowPastAnUndoneEvent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"two", "2", "a longer one"} {
		for _, undone := range []decision{say("a", "one"), leaveOpen("a")} {
			f := newFixture(t)
			f.do(join("a"))
			before, state := f.read(f.room.JournalPath()), f.saved()
			f.do(undone)
			r := &reader{}
			_, err := f.polled().Follow(context.Background(), 0, r.take, func() error {
				if len(r.lines) < 5 && r.want == 0 {
					r.want = len(r.lines) + 2
					f.must(os.Truncate(f.room.JournalPath(), int64(len(before))))
					state.restore(f)
					f.do(say("a", text), say("a", "three"))
				}
				return r.enough()
			})
			got := r.lines[len(r.lines)-2:]
			if want := f.history()[2:]; err != errEnough || !slices.Equal(got, want) {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		}
	}
}

// TestFollowAJournalThatWasReplaced by a copy of itself: the life goes on.
func TestFollowAJournalThatWasReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "one"))
	r := &reader{want: 4}
	_, err := f.polled().Follow(context.Background(), 0, r.take, func() error {
		if len(r.lines) == 3 {
			f.must(os.Link(f.room.JournalPath(), filepath.Join(tempDir(t), "copy")))
			f.do(say("a", "two")) // which parts the two names
		}
		return r.enough()
	})
	if want := f.history(); err != errEnough || !slices.Equal(r.lines, want) {
		t.Errorf("%q, %v; want %q", r.lines, err, want)
	}
}

// TestFollowAJournalThatWasCut by another program: what comes after that is
// delivered.
func TestFollowAJournalThatWasCut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	before := f.read(f.room.JournalPath())
	f.do(say("a", "one"), say("a", "two"))
	f.expect("journal_shortened")
	r := &reader{want: 8}
	looks := 0
	_, err := f.polled().Follow(context.Background(), 0, r.take, func() error {
		switch looks++; looks {
		case 1:
			f.must(os.Truncate(f.room.JournalPath(), int64(len(before))))
		case 2:
			f.do(say("a", "three"), say("a", "four"), say("a", "five"))
		}
		return r.enough()
	})
	if want := f.history(); err != errEnough || !slices.Equal(r.lines[4:], want[2:]) {
		t.Errorf("%q, %v; want %q", r.lines, err, want)
	}
}

// TestFollowAJournalThatWasPutBack from an older copy, which was empty for a moment: what comes then has numbers
// that were passed, and is delivered, and nothing else is.
func TestFollowAJournalThatWasPutBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "zero"))
	before, state := f.read(f.room.JournalPath()), f.saved()
	f.do(say("a", "one"), say("a", "two"), say("a", "three"))
	r := &reader{want: 2}
	looks := 0
	end, err := f.polled().Follow(context.Background(), 6, r.take, func() error {
		switch looks++; looks {
		case 1:
			f.must(os.Truncate(f.room.JournalPath(), 0))
		case 2:
			f.write(f.room.JournalPath(), before)
			state.restore(f)
		case 3:
			f.do(say("a", "four"), say("a", "five"))
		case 9:
			return errors.New("nothing comes")
		}
		return r.enough()
	})
	if want := f.history()[3:]; err != errEnough || end != 5 || !slices.Equal(r.lines, want) {
		t.Errorf("%q, ended at %d: %v; want %q", r.lines, end, err, want)
	}
}

// TestFollowDamageThatGoes: a journal that another program replaces is damaged for a moment, and is read again.
func TestFollowDamageThatGoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "one"), say("a", "two"))
	want := f.history()
	whole := string(f.read(f.room.JournalPath()))
	write := func(journal string) { f.must(os.WriteFile(f.room.JournalPath(), []byte(journal), 0o600)) }
	rules, looks := *tallyRules, 0
	rules.New = func(room string) *tally {
		if looks++; looks == 4 { // it was found damaged twice in the same place
			write(whole)
		}
		return tallyRules.New(room)
	}
	write(strings.Replace(whole, `"one"`, "\x00one\x00", 1))
	r := &reader{want: len(want)}
	_, err := fsroom.At(f.polled().Store(), &rules, f.room.Name()).Follow(context.Background(), 0, r.take, r.enough)
	if err != errEnough || !slices.Equal(r.lines, want) {
		t.Errorf("%q, %v; want %q", r.lines, err, want)
	}
}

// TestFollowOfNoLife ends at once.
func TestFollowOfNoLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 2 {
		end, err := f.watched().Follow(context.Background(), 0, (&reader{}).take, nil)
		if !errors.Is(err, fsroom.ErrLifeEnded) || end != 0 {
			t.Errorf("ended at %d: %v", end, err)
		}
		f.live("a")
	}
}

// TestSlowReaderLosesNothing, nor does it hold up those who write.
func TestSlowReaderLosesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	r := &reader{want: 102}
	_, err := f.watched().Follow(context.Background(), 0, func(e *event.Event) error {
		if e.Seq == 1 {
			for i := range 100 {
				f.do(say("a", fmt.Sprint(i)))
			}
		}
		return r.take(e)
	}, r.enough)
	if want := f.history(); err != errEnough || !slices.Equal(r.lines, want) {
		t.Errorf("%d events of %d: %v", len(r.lines), len(want), err)
	}
}

// TestCursor: delivered is what comes after it, whether it stands between two
// changes, inside one, or beyond the end.
func TestCursor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), leave("a"), join("a"), say("a", "one"), leaveOpen("a"), say("z", "two"))
	life := eventsIn(t, f.room.JournalPath()) // events 5 to 10
	for after := int64(0); after <= 12; after++ {
		want := life[min(max(after-4, 0), 6):]
		once, followed := &reader{}, &reader{}
		position, err := f.room.Events(context.Background(), after, once.take)
		if err != nil || position.Seq != 10 {
			t.Errorf("after %d: at %+v, %v", after, position, err)
		}
		end, err := f.polled().Follow(context.Background(), after, followed.take, followed.enough)
		if err != errEnough || end != max(after, 10) {
			t.Errorf("after %d: ended at %d, %v", after, end, err)
		}
		if !slices.Equal(once.lines, want) || !slices.Equal(followed.lines, want) {
			t.Errorf("after %d: events %q, followed %q, want %q", after, once.lines, followed.lines, want)
		}
	}
	beyond := &reader{want: 1}
	words := 0
	_, err := f.polled().Follow(context.Background(), 12, beyond.take, func() error {
		if words++; words <= 3 {
			f.do(say("z", "more"))
		}
		return beyond.enough()
	})
	if err != errEnough || len(beyond.lines) != 1 || beyond.lines[0] != f.history()[12] {
		t.Errorf("after 12: %q, %v", beyond.lines, err)
	}
}

// TestFollowReturnsItsReason: the cause of the context's end, wherever it is by
// then, and errors of the reader as they are.
func TestFollowReturnsItsReason(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "hello"))
	nothing := func(*event.Event) error { return nil }
	tests := map[string]func(ctx context.Context, end func()) (int64, error){
		"ended before": func(ctx context.Context, end func()) (int64, error) {
			end()
			return f.watched().Follow(ctx, 0, nothing, nil)
		},
		"ended while reading": func(ctx context.Context, end func()) (int64, error) {
			return f.watched().Follow(ctx, 0, func(*event.Event) error { end(); return nil }, nil)
		},
		"ended while caught up": func(ctx context.Context, end func()) (int64, error) {
			return f.watched().Follow(ctx, 0, nothing, func() error { end(); return nil })
		},
		"reader fails": func(ctx context.Context, end func()) (int64, error) {
			return f.watched().Follow(ctx, 0, func(*event.Event) error { return errNoSpace }, nil)
		},
		"events fail": func(ctx context.Context, end func()) (int64, error) {
			at, err := f.room.Events(ctx, 0, func(*event.Event) error { return errNoSpace })
			return at.Seq, err
		},
		"events ended": func(ctx context.Context, end func()) (int64, error) {
			at, err := f.room.Events(ctx, 0, func(*event.Event) error { end(); return nil })
			return at.Seq, err
		},
	}
	for name, follow := range tests {
		ctx, cancel := context.WithCancelCause(context.Background())
		end, err := follow(ctx, func() { cancel(errNoSpace) })
		cancel(nil)
		if err != errNoSpace {
			t.Errorf("%s: ended at %d with %v", name, end, err)
		}
	}
}

// TestEvent finds one event of the current life.
func TestEvent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.live("a")
	if _, err := f.room.Event(context.Background(), 1); err == nil {
		t.Error("found an event.Event in an ended room")
	}
	f.do(join("b"), say("b", "hello"), leaveOpen("b"))
	want := f.history()
	for seq := int64(1); seq <= 11; seq++ {
		e, err := f.room.Event(context.Background(), seq)
		if there := seq >= 6 && seq <= 10; there != (err == nil) || there && line(*e) != want[seq-1] {
			t.Errorf("event %d: %+v, %v", seq, e, err)
		}
	}
}
