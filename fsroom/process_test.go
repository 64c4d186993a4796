package fsroom_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom"
)

// said is what was said, oldest first.
func (f *fixture) said() []string {
	f.t.Helper()
	var words []string
	for _, l := range f.history() {
		if _, rest, ok := strings.Cut(l, `: "`); ok {
			word, _, _ := strings.Cut(rest, `" (`)
			words = append(words, word)
		}
	}
	return words
}

// words counts how often each word is in the journals of the room.
func (f *fixture) words() map[string]int {
	f.t.Helper()
	count := map[string]int{}
	for _, word := range f.said() {
		count[word]++
	}
	return count
}

// TestManyWriters: what each has said is there once, and nothing else.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const writers, words = 6, 50
	var all []*process
	for i := range writers {
		all = append(all, start(t, "write", f.dir, fmt.Sprint("writer", i), fmt.Sprint(words)))
	}
	for _, p := range all {
		if got := len(p.rest()); got != words+1 {
			t.Errorf("%d changes were acknowledged to one writer, want %d", got, words+1)
		}
		p.done()
	}
	count := f.words()
	for i := range writers {
		for n := range words {
			if word := fmt.Sprintf("writer%d says %d", i, n); count[word] != 1 {
				t.Errorf("%q is there %d times", word, count[word])
			}
		}
	}
	if s := f.view(); s.Position.Seq != 1+writers*(1+words) || len(s.State.In) != writers {
		t.Errorf("%+v at %+v", s.State, s.Position)
	}
}

// TestKilledWriters: whatever was acknowledged before the kill is there once,
// nothing is there twice, and those who go on need no help. One kind of writer
// stays in the room, the other ends it again and again.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	kills := 50
	if testing.Short() {
		kills = 12
	}
	for _, part := range []string{"write", "churn"} {
		t.Run(part, func(t *testing.T) {
			f := newFixture(t)
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			var acknowledged []string
			begin := func(i, n int) *process {
				return start(t, part, f.dir, fmt.Sprintf("writer%d#%d", i, n), "100000")
			}
			running := []*process{begin(0, 0), begin(1, 0)}
			for n := range kills {
				i := random.IntN(len(running))
				for range random.IntN(8) {
					acknowledged = append(acknowledged, running[i].line())
				}
				acknowledged = append(acknowledged, running[i].kill()...)
				running[i] = begin(i, n+1)
			}
			for _, p := range running {
				acknowledged = append(acknowledged, p.kill()...)
			}
			f.settled(acknowledged)
		})
	}
}

// settled checks that after all the kills every word is there once.
func (f *fixture) settled(acknowledged []string) {
	f.t.Helper()
	f.do(join("after"), say("after", "all"))
	count := f.words()
	said := 0
	for _, word := range acknowledged {
		if strings.HasSuffix(word, " joins") {
			continue
		}
		if said++; count[word] != 1 {
			f.t.Errorf("%q was acknowledged and is there %d times", word, count[word])
		}
	}
	for word, n := range count {
		if n != 1 {
			f.t.Errorf("%q is there %d times", word, n)
		}
	}
	if said == 0 {
		f.t.Error("nothing was ever acknowledged")
	}
	f.t.Logf("%d changes acknowledged, %d words in the journals", said, len(count))
}

// TestCopyIsABackup: a copy taken while others write is a room as it was at some
// moment of the copying, whether lives end meanwhile or not.
func TestCopyIsABackup(t *testing.T) {
	t.Parallel()
	cp, err := exec.LookPath("cp")
	if err != nil {
		t.Skip(err)
	}
	for _, part := range []string{"write", "churn"} {
		t.Run(part, func(t *testing.T) {
			f := newFixture(t)
			writer := start(t, part, f.dir, "writer", "100000")
			var copied []string
			copies := 15
			if testing.Short() {
				copies = 4
			}
			for i := range copies {
				writer.line()
				dir := filepath.Join(filepath.Dir(f.dir), fmt.Sprint("copy", i))
				// Files come and go, and cp says so of those that went.
				_ = exec.Command(cp, "-a", f.dir, dir).Run()
				copied = append(copied, f.restored(dir, part == "churn")...)
			}
			writer.kill()
			f.do(join("after"))
			original := map[string]bool{}
			for _, l := range f.history() {
				original[l] = true
			}
			for _, l := range copied {
				if !original[l] {
					t.Errorf("a copy has %q, the original not", l)
				}
			}
		})
	}
}

// restored uses a copy as a data directory, which works, and returns the history
// it came with.
func (f *fixture) restored(dir string, ends bool) []string {
	f.t.Helper()
	c := fixtureIn(f.t, dir)
	c.odd = ends // the archive can be older or younger than the room
	if _, err := os.Stat(c.room.Dir()); err != nil {
		f.t.Fatalf("nothing was copied: %v", err)
	}
	history, snap := c.history(), c.view()
	seen, lost := snap.Position.Seq, int64(0)
	if snap.Lost != nil { // state.json was copied after the journal, and knows more
		c.expect("journal_shortened")
		lost = snap.Lost.To - snap.Lost.From + 1
	}
	if after := c.do(join("restored"), say("restored", "hello")).Position.Seq; after <= seen {
		f.t.Errorf("%d events before, %d after", seen, after)
	}
	if !ends && int64(len(history))+lost != seen {
		f.t.Errorf("%d events and %d that are lost, but the last is %d", len(history), lost, seen)
	}
	return history
}

// TestReaderOfManyLives: whatever a reader meets, between the steps of those who
// join, leave and archive, it never fails and never sees anything go back.
func TestReaderOfManyLives(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	writers := []*process{start(t, "churn", f.dir, "a"), start(t, "churn", f.dir, "b")}
	writers[0].line()
	var last int64
	for range 3000 {
		snap, err := f.room.View()
		if err != nil {
			t.Fatalf("after %d: %v", last, err)
		}
		if snap.Position.Seq < last || snap.State.Seq != snap.Position.Seq {
			t.Fatalf("after %d: %+v at %+v", last, snap.State, snap.Position)
		}
		last = snap.Position.Seq
	}
	for _, p := range writers {
		p.kill()
	}
	f.do(join("after"))
	t.Logf("%d events in %d lives", last, len(f.archives()))
}

// TestManyGoroutines share one store and one room, as in a server.
func TestManyGoroutines(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	const goroutines, words = 16, 10
	done := make(chan error)
	r := f.at(fsroom.Options{})
	for i := range goroutines {
		go func() {
			for n := range words {
				if _, _, err := r.Update(context.Background(), say("a", fmt.Sprintf("%d says %d", i, n))); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range goroutines {
		f.must(<-done)
	}
	if s := f.view(); s.State.Said["a"] != goroutines*words {
		t.Errorf("%+v", s.State)
	}
}
