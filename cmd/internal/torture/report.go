//go:build linux

package torture

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// A report counts what an attack did and what was wrong after it.
type report struct {
	name    string
	started time.Time

	mu     sync.Mutex
	counts map[string]int // of points, which are states or calls tried, and of all else that was done
	bad    int
}

func (r *report) count(what string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[what] += n
}

// wrong notes what must not be. The first few are printed.
func (r *report) wrong(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if r.bad++; r.bad <= 10 {
		fmt.Printf("  WRONG %s: %s\n", r.name, text)
	}
}

// check is wrong for an error that is not nil. It reports whether it was nil.
func (r *report) check(what string, err error) bool {
	if err != nil {
		r.wrong("%s: %v", what, err)
	}
	return err == nil
}

// skip notes that this machine cannot do an attack, or a part of it.
func (r *report) skip(why string) {
	if os.Getenv("CI") == "true" {
		r.bad++
	}
	fmt.Printf("  SKIPPED %s: %s\n", r.name, why)
}

func (r *report) print() {
	fmt.Printf("%-10s", r.name)
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		if n := r.counts[what]; n > 0 {
			fmt.Printf("  %s %d", what, n)
		}
	}
	fmt.Printf("  wrong %d  %.1f s\n", r.bad, time.Since(r.started).Seconds())
}
