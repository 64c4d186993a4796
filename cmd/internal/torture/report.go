//go:build linux

package main

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
	points  int // states or calls tried
	kills   int
	acks    int
	missed  int // points that no run came to
	locked  int // points at which the command had the room's lock
	spared  int // kills that ended another process than the command
	bad     int
	skipped string
	quiet   bool            // what is wrong is expected
	late    []time.Duration // how long after a change those who wait for it were told
}

func (r *report) add(points, kills, acks int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.points, r.kills, r.acks = r.points+points, r.kills+kills, r.acks+acks
}

// hit counts a run that came to its point.
func (r *report) hit(f fault, killed, acked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.points++
	if killed {
		r.kills++
	}
	if acked {
		r.acks++
	}
	if f.isKill() && !killed {
		r.spared++
	}
}

// held counts a stop with the lock.
func (r *report) held(held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if held {
		r.locked++
	}
}

// reach runs try until it came to its point. No two runs of a command make quite
// the same calls: now and then Go writes to wake its own poller, or a process is
// looked at that is just ending.
func (r *report) reach(what string, try func() (hit bool)) {
	for range 4 {
		if try() {
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed++
	if r.missed <= 10 {
		r.tell("not reached: %s", what)
	}
}

// wrong notes what must not be. The first few are told as they come.
func (r *report) wrong(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bad++
	if r.bad <= 10 && !r.quiet {
		fmt.Printf("  WRONG %s: %s\n", r.name, fmt.Sprintf(format, args...))
	}
}

// tell prints something worth knowing.
func (r *report) tell(format string, args ...any) {
	fmt.Printf("  %s: %s\n", r.name, fmt.Sprintf(format, args...))
}

// skip says that this machine cannot do an attack, or a part of it.
func (r *report) skip(why string) {
	r.mu.Lock()
	if r.skipped = why; os.Getenv("CI") == "true" {
		r.bad++
	}
	r.mu.Unlock()
	fmt.Printf("  SKIPPED %s: %s\n", r.name, why)
}

func (r *report) print() {
	fmt.Printf("%-9s points %5d  kills %5d  acknowledged %6d  wrong %d  %5.1f s", r.name, r.points, r.kills, r.acks, r.bad, time.Since(r.started).Seconds())
	if r.missed > 0 {
		fmt.Printf("  not reached %d", r.missed)
	}
	if r.locked > 0 {
		fmt.Printf("  with the lock %d", r.locked)
	}
	if r.spared > 0 {
		fmt.Printf("  killed beside the command %d", r.spared)
	}
	if r.skipped != "" {
		fmt.Printf("  SKIPPED: %s", r.skipped)
	}
	fmt.Println()
}
