//go:build linux

package main

import (
	"math/rand/v2"
	"time"
)

// sometime lets a random time pass: what comes next is to come at no moment in
// particular.
func sometime(random *rand.Rand, most time.Duration) {
	time.Sleep(time.Duration(random.Int64N(int64(most))))
}

// eventually looks until it is so, and reports whether it was before the time was
// up. It is for what the kernel and other programs tell nobody about: the state of
// a process that is not ours, a mount that is still busy.
func eventually(patience time.Duration, so func() bool) bool {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if so() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}
