//go:build linux

package hosts

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// A report counts what an attack did and what was wrong after it.
type report struct {
	name    string
	started time.Time

	mu      sync.Mutex
	faults  int
	kills   int
	turns   int
	taken   int // turns that were taken over
	acks    int
	doubts  int // commands that were killed, or could not tell
	refused int // and those that said that nothing had happened
	bad     int
	first   string // the first thing that was wrong
	quiet   bool   // what is wrong is expected
}

// wrong notes what must not be. The first few are printed.
func (r *report) wrong(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if r.bad++; r.bad == 1 {
		r.first = text
	}
	if r.bad <= 10 && !r.quiet {
		fmt.Printf("  WRONG %s: %s\n", r.name, text)
	}
}

// caught reports whether something was wrong that was expected to be.
func (r *report) caught() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.quiet && r.bad > 0
}

// check is wrong for an error that is not nil. It reports whether it was nil.
func (r *report) check(what string, err error) bool {
	if err != nil {
		r.wrong("%s: %v", what, err)
	}
	return err == nil
}

// say prints something worth knowing.
func (r *report) say(format string, args ...any) {
	if r.quiet {
		return
	}
	fmt.Printf("  %s: %s\n", r.name, fmt.Sprintf(format, args...))
}

// skip notes that this machine cannot do an attack, or a part of it.
func (r *report) skip(why string) {
	if os.Getenv("CI") == "true" {
		r.bad++
	}
	fmt.Printf("  SKIPPED %s: %s\n", r.name, why)
}

func (r *report) print() {
	fmt.Printf("%-10s faults %3d  turns %5d  taken over %3d  kills %4d  acknowledged %6d  in doubt %4d  refused %4d  wrong %d  %5.1f s\n",
		r.name, r.faults, r.turns, r.taken, r.kills, r.acks, r.doubts, r.refused, r.bad, time.Since(r.started).Seconds())
}
