package member

import "time"

// An agent that waits in a loop waits as a whole: a wait that begins soon after the last
// one goes on with it, until the agent has a turn.
const (
	sinceFile = "waiting_since" // its time is when the agent began to wait

	// waitGap is the longest time between two waits that count as one.
	waitGap = 60 * time.Second
)

// waitingSince returns since when the agent has waited. It is zero if the agent does not
// wait and its last wait ended longer than waitGap ago, or was killed.
func (r *Room) waitingSince() time.Time {
	since, until := r.own().Marked(sinceFile), r.own().Marked(waitingFile)
	ended := until.Before(since) || r.time().Sub(until) > waitGap
	if ended && !r.own().Held(waitingFile) {
		return time.Time{}
	}
	return since
}

// beginWait records that a wait begins, and returns since when the agent has waited.
func (r *Room) beginWait() time.Time {
	since := r.waitingSince()
	if since.IsZero() {
		since = r.time()
		_ = r.own().Mark(sinceFile, since)
	}
	return since
}

// forgetWait records that the agent has a turn: its next wait is a new one.
func (r *Room) forgetWait() { _ = r.own().Remove(sinceFile) }

// elapsed returns the time since an instant, 0 for the zero Time.
func (r *Room) elapsed(since time.Time) time.Duration {
	if since.IsZero() {
		return 0
	}
	return max(0, r.time().Sub(since))
}
