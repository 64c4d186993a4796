package fsroom_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// seqs returns the numbers of the events that History delivers.
func (f *fixture) seqs(after int64) (seqs []int64, end int64) {
	f.t.Helper()
	end, err := f.room.History(context.Background(), after, func(e *event.Event) error {
		seqs = append(seqs, e.Seq)
		return nil
	})
	f.must(err)
	return seqs, end
}

func upTo(first, last int64) (seqs []int64) {
	for n := first; n <= last; n++ {
		seqs = append(seqs, n)
	}
	return seqs
}

// TestHistory: the lives of a room read as one journal, from any number on, while
// it lives and between two lives.
func TestHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.live("a")
	f.live("b")
	last := f.view().Position.Seq
	check := func() {
		t.Helper()
		for after := range last + 2 {
			got, end := f.seqs(after)
			if !slices.Equal(got, upTo(after+1, last)) || end != max(after, last) {
				t.Errorf("after %d: %v, %d, want those up to %d", after, got, end, last)
			}
		}
	}
	check()
	last = f.do(join("c")).Position.Seq
	check()
	enough := errors.New("enough")
	end, err := f.room.History(context.Background(), 1, func(e *event.Event) error {
		if e.Seq == 4 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || end != 3 {
		t.Errorf("got %d, %v", end, err)
	}
}

// TestHistoryOverTheEnd: a life that ends, and another that begins, while the
// history is read are delivered too.
func TestHistoryOverTheEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.live("a")
	last := f.do(join("b")).Position.Seq
	ends := true
	var got []int64
	_, err := f.room.History(context.Background(), 0, func(e *event.Event) error {
		got = append(got, e.Seq)
		if e.Seq == last && ends {
			ends = false
			f.do(leave("b"))
			last = f.do(join("c")).Position.Seq
		}
		return nil
	})
	f.must(err)
	if !slices.Equal(got, upTo(1, last)) {
		t.Errorf("got %v, want those up to %d", got, last)
	}
}

// TestHistoryWithoutALife: what was removed from the archive is passed over.
func TestHistoryWithoutALife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.live("a").Position.Seq
	second := f.live("b").Position.Seq
	last := f.do(join("c")).Position.Seq
	paths, err := f.room.Archived()
	f.must(err)
	f.must(os.Remove(paths[1]))
	f.gap = true
	if got, _ := f.seqs(0); !slices.Equal(got, append(upTo(1, first), upTo(second+1, last)...)) {
		t.Errorf("got %v", got)
	}
}

// TestHistoryOfADamagedArchive: the last line of an ended life was committed, so one that
// does not read is damage and not a write that was cut short.
func TestHistoryOfADamagedArchive(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.live("a")
	f.do(join("b"))
	paths, err := f.room.Archived()
	f.must(err)
	text, err := os.ReadFile(paths[0])
	f.must(err)
	text[len(text)-20] = 0
	f.must(os.WriteFile(paths[0], text, 0o600))
	f.expect(paths[0] + ":5")
	_, err = f.room.History(context.Background(), 0, func(*event.Event) error { return nil })
	if code.Of(err) != code.CorruptRoom {
		t.Errorf("got %v, want %s", err, code.CorruptRoom)
	}
}
