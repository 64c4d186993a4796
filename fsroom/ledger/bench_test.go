package ledger

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkTree measures what is done with a tree of 5000 files.
func BenchmarkTree(b *testing.B) {
	f := newFixture(b)
	text := strings.Repeat("a line of some text that is no secret\n", 150)
	for i := range 5000 {
		f.write(fmt.Sprintf("d%03d/f%d", i/25, i), fmt.Sprint(i, "\n")+text)
	}
	f.git("init", "-q")
	f.git("add", "-A")
	f.git("commit", "-qm", "one")
	f.git("gc", "-q")
	b.Run("first", func(b *testing.B) {
		for range b.N {
			_ = f.Remove(b.Context())
			f.take(WhyPerson, 0)
		}
	})
	f.settled()
	first := f.take(WhyPerson, 0)
	b.Run("unchanged", func(b *testing.B) {
		for range b.N {
			f.take(WhyPerson, 0)
		}
	})
	n := 0
	change := func() {
		for i := range 10 {
			n++
			f.write(fmt.Sprintf("d%03d/f%d", 20*i, 500*i), fmt.Sprint(n, "\n")+text)
		}
	}
	b.Run("changed", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			change()
			b.StartTimer()
			f.take(WhyPerson, 0)
		}
	})
	b.Run("restore", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			change()
			b.StartTimer()
			f.restore(first, true)
		}
	})
	b.Run("undo", func(b *testing.B) {
		for i := range b.N {
			b.StopTimer()
			f.take(WhyStart, int64(i+1))
			change()
			f.take(WhyEnd, int64(i+1))
			b.StartTimer()
			if _, err := f.undo(int64(i + 1)); err != nil {
				b.Fatal(err)
			}
		}
	})
	f.take(WhyStart, 100_000)
	guard := func() {
		if _, err := f.Take(b.Context(), Request{Why: WhyGuard, Turn: 100_000, Agent: "a", Unsynced: true}); err != nil {
			_ = f.Sync(b.Context()) // as a guardian does
		}
	}
	b.Run("write", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			n++
			f.write("d007/f175", fmt.Sprint(n, "\n")+text)
			b.StartTimer()
			guard()
		}
	})
	b.Run("lost", func(b *testing.B) {
		for range maxLookedBack {
			n++
			f.write("d007/f175", fmt.Sprint(n, "\n")+text)
			guard()
		}
		b.ResetTimer()
		for range b.N {
			v, err := f.Look(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if files, _, err := v.LostNow(); files > 0 || err != nil {
				b.Fatal(files, err)
			}
			v.Close()
		}
	})
	change()
	now := f.take(WhyPerson, 0)
	b.Run("diff", func(b *testing.B) {
		for range b.N {
			v := f.Recorded()
			if _, err := v.Changes(first, now, nil, MostPaths); err != nil {
				b.Fatal(err)
			}
			v.Close()
		}
	})
}
