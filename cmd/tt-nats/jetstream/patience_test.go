package jetstream

import (
	"testing"
	"time"
)

// A far server is waited for longer, but a command never so long that nobody looks what became of a
// change before the four seconds are over.
func TestPatienceFollowsTheRoundTrip(t *testing.T) {
	for rtt, want := range map[time.Duration]time.Duration{
		0:                      requestTimeout,
		300 * time.Millisecond: 2700 * time.Millisecond,
		2 * time.Second:        requestMost,
	} {
		e := &Engine{}
		e.rtt.Store(int64(rtt))
		if got := e.patience(); got != want || got >= callTimeout {
			t.Errorf("with %v there and back: %v, want %v", rtt, got, want)
		}
	}
}
