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

// check is wrong for an error that is not nil, and reports whether it was nil. The first few are printed.
func (r *report) check(what string, err error) bool {
	if err == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bad++; r.bad <= 10 {
		fmt.Printf("  WRONG %s: %s: %v\n", r.name, what, err)
	}
	return false
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
		fmt.Printf("  %s %d", what, r.counts[what])
	}
	fmt.Printf("  wrong %d  %.1f s\n", r.bad, time.Since(r.started).Seconds())
}
