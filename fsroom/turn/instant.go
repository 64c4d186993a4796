package turn

import (
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// An Instant is one moment on two clocks. Within one boot of the machine the
// monotonic clock decides, so setting the wall clock neither ends nor stretches
// a lease; across boots only the wall clock is left.
type Instant struct {
	Wall event.Time
	Boot string
	Mono int64 // milliseconds since boot
}

// At returns the instant with the given readings, cut to milliseconds, which is
// what a journal line keeps.
func At(wall time.Time, boot string, mono time.Duration) Instant {
	return Instant{Wall: event.NewTime(wall), Boot: boot, Mono: mono.Milliseconds()}
}

// IsZero reports whether i was never set.
func (i Instant) IsZero() bool { return i.Wall.IsZero() && i.Boot == "" && i.Mono == 0 }

// Since is the time from then to i. It is never negative: a clock that was set
// back makes something young again, not unborn.
func (i Instant) Since(then Instant) time.Duration {
	if i.Boot != "" && i.Boot == then.Boot {
		return max(0, time.Duration(i.Mono-then.Mono)*time.Millisecond)
	}
	return max(0, i.Wall.Sub(then.Wall.Time))
}

// Expired reports whether ttl has passed since start. The deadline itself
// counts as passed. This is the only place where a deadline is judged.
func (i Instant) Expired(start Instant, ttl time.Duration) bool {
	return i.Since(start) >= ttl
}

// Left is the time until ttl will have passed since start; zero once it has.
func (i Instant) Left(start Instant, ttl time.Duration) time.Duration {
	return max(0, ttl-i.Since(start))
}

// End returns when ttl has passed since start, on i's wall clock. If that clock
// was stepped since, or the monotonic clock stood still with the machine, the
// result is moved by as much, so that it agrees with [Instant.Expired].
func (i Instant) End(start Instant, ttl time.Duration) event.Time {
	const reading = time.Second // by which two readings of unmoved clocks may differ
	end := start.Wall.Add(ttl)
	byNow := i.Wall.Add(ttl - i.Since(start))
	if d := byNow.Sub(end); d > reading || d < -reading {
		end = byNow
	}
	return event.NewTime(end)
}
