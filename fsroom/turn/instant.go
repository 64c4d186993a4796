package turn

import (
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// An Instant is one moment on two clocks. Within one boot of the machine the
// monotonic clock decides, so setting the wall clock neither ends nor extends a
// lease. Across boots only the wall clock can be compared.
type Instant struct {
	Wall event.Time `json:"wall"`
	Boot string     `json:"boot_id,omitempty"` // identifies the boot; "" if it is not known
	Mono int64      `json:"mono_ms,omitempty"` // milliseconds since boot
}

// At returns the instant with the given readings, cut to milliseconds, which is
// the precision of a journal line.
func At(wall time.Time, boot string, mono time.Duration) Instant {
	return Instant{Wall: event.NewTime(wall), Boot: boot, Mono: mono.Milliseconds()}
}

// IsZero reports whether i was never set.
func (i Instant) IsZero() bool { return i.Wall.IsZero() && i.Boot == "" && i.Mono == 0 }

// Since returns the time from then to i. It is never negative: after a clock was
// set back, no time has passed.
func (i Instant) Since(then Instant) time.Duration {
	if i.Boot != "" && i.Boot == then.Boot {
		return max(0, time.Duration(i.Mono-then.Mono)*time.Millisecond)
	}
	return max(0, i.Wall.Sub(then.Wall.Time))
}

// Expired reports whether ttl has passed since start. The deadline itself
// counts as passed. No other function judges a deadline.
func (i Instant) Expired(start Instant, ttl time.Duration) bool {
	return i.Since(start) >= ttl
}

// Left returns the time until ttl will have passed since start, zero once it has.
func (i Instant) Left(start Instant, ttl time.Duration) time.Duration {
	return max(0, ttl-i.Since(start))
}

// End returns when ttl has passed since start, on i's wall clock. If that clock
// was stepped since, or the monotonic clock stopped while the machine slept, the
// result is moved by as much, so that it agrees with [Instant.Expired].
func (i Instant) End(start Instant, ttl time.Duration) event.Time {
	const tolerance = time.Second // two readings of clocks that were not stepped differ by less
	end := start.Wall.Add(ttl)
	byNow := i.Wall.Add(ttl - i.Since(start))
	if d := byNow.Sub(end); d > tolerance || d < -tolerance {
		end = byNow
	}
	return event.NewTime(end)
}

// ms converts the milliseconds of a [Policy].
func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
