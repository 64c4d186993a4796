//go:build linux

package main

import (
	"slices"
	"time"
)

// Whoever waits is told promptly, whatever happens to its watcher. A busy machine
// may make one in a hundred later; a wake-up that is lost is made good by a poll,
// which takes seconds more.
const (
	promptly = time.Second
	atLatest = 3 * time.Second
)

// wereTold notes how long after a change those who waited for it were told.
func (r *report) wereTold(late ...time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = append(r.late, late...)
}

// tellLate tells how late everybody was told, and takes it for wrong if that was
// not promptly. Killed and stopped processes are not among them.
func (r *report) tellLate() {
	if len(r.late) == 0 {
		r.wrong("nobody was told anything")
		return
	}
	slices.Sort(r.late)
	n := len(r.late)
	part := func(share float64) time.Duration { return r.late[int(share*float64(n-1))].Round(time.Millisecond) }
	r.tell("%d were told after %v (half of them), %v (99 of 100), %v (the last)", n, part(.5), part(.99), part(1))
	tardy := 0
	for _, d := range r.late {
		if d > promptly {
			tardy++
		}
		if d > atLatest {
			r.wrong("one was told %v late", d.Round(time.Millisecond))
		}
	}
	if tardy > 1+n/100 {
		r.wrong("%d of %d were told later than after %v", tardy, n, promptly)
	}
}
