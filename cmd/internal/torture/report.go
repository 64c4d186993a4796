//go:build linux

package main

import (
	"fmt"
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
	bad     int
	skipped string
	quiet   bool // what is wrong is expected
}

func (r *report) add(points, kills, acks int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.points, r.kills, r.acks = r.points+points, r.kills+kills, r.acks+acks
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
	r.skipped = why
	fmt.Printf("  SKIPPED %s: %s\n", r.name, why)
}

func (r *report) print() {
	fmt.Printf("%-9s points %5d  kills %5d  acknowledged %6d  wrong %d  %5.1f s", r.name, r.points, r.kills, r.acks, r.bad, time.Since(r.started).Seconds())
	if r.skipped != "" {
		fmt.Printf("  SKIPPED: %s", r.skipped)
	}
	fmt.Println()
}
