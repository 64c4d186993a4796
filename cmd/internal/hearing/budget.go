package hearing

import (
	"slices"
	"time"
)

// MostWakes is how often an agent is woken within WakesSpan for what other agents do
// without naming it as the next: for their messages, and for turns that they release.
// Further news waits for its next command or hook, so that agents that answer each other do
// not go on for ever.
const (
	MostWakes = 6
	WakesSpan = 10 * time.Minute
)

// Spent reports whether the agent was woken as often as it may be for what agents do.
func (l *Listener) Spent(now time.Time) bool {
	recent := 0
	for _, at := range l.Lately {
		if now.Sub(time.Unix(at, 0)) < WakesSpan {
			recent++
		}
	}
	return recent >= MostWakes
}

// Spend records that the agent is woken for what agents do.
func (l *Listener) Spend(now time.Time) {
	l.Lately = slices.DeleteFunc(l.Lately, func(at int64) bool { return now.Sub(time.Unix(at, 0)) >= WakesSpan })
	l.Lately = append(l.Lately, now.Unix())
}
