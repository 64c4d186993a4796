package turn

import (
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// What an agent does.
const (
	ActivityWorking = "working" // its model is in a turn
	ActivityAsks    = "asks"    // its user is asked for something
	ActivityLimited = "limited" // its model does not answer: a limit, or an error of the service
	ActivityIdle    = "idle"    // its model has ended its turn
	ActivityEnded   = "ended"   // its process has ended
)

// Activities has the values of [Activity.What].
var Activities = []string{ActivityWorking, ActivityAsks, ActivityLimited, ActivityIdle, ActivityEnded}

// An Activity is what the machine, not the journal, knows of what an agent does. Without
// What nothing is known.
type Activity struct {
	What   string     `json:"what"`
	Since  event.Time `json:"since"`
	At     event.Time `json:"at"` // the last sign of life
	Tool   string     `json:"tool,omitempty"`
	Detail string     `json:"detail,omitempty"`
	Source string     `json:"source"` // who says so: hook, harness, or its host, where a job of it runs

	Job      string // its newest job that runs on this host, as NAME#ID; not part of the JSON
	JobID    int64
	JobSince time.Time

	Began   Instant // Since, as it is judged; not part of the JSON
	Stopped bool    // see [Hearing]; not part of the JSON
}

// IsZero reports whether nothing is known.
func (a Activity) IsZero() bool { return a.What == "" }

// InTurn reports whether the model of an agent with this [Activity.What] is in a turn.
func InTurn(what string) bool { return what == ActivityWorking || what == ActivityAsks }

// Words says what the agent does; "" if nothing is known or it works.
func (a Activity) Words() string {
	switch a.What {
	case ActivityAsks:
		return "asks its user"
	case ActivityLimited:
		return "its model is limited"
	case ActivityIdle:
		return "its model is idle"
	}
	return ""
}

// JobWords says at a moment which job of its own runs for the agent, "" if none does.
func (a Activity) JobWords(now time.Time) string {
	running := spoken(max(time.Second, now.Sub(a.JobSince)))
	switch {
	case a.Job == "":
		return ""
	case a.Source != "host": // the model is in a turn
		return "has a job running: " + a.Job + ", for " + running
	}
	return "waits for its job " + a.Job + ", running for " + running
}

func (f Facts) activity(id string) Activity {
	if f.Activity == nil {
		return Activity{}
	}
	return f.Activity(id)
}

// rest returns why the holder of the turn does nothing with it: its model is idle, or
// limited. left is for how long others leave it the turn, zero if it is offered to them, and
// negative if it never is. That counts from the grant and the last sign of life too.
func (s *State) rest(f Facts) (reason string, left time.Duration) {
	if s.Member(s.Owner) == nil {
		return "", 0
	}
	a, after := f.activity(s.Owner), int64(0)
	switch a.What {
	case ActivityIdle:
		reason, after = ReasonOwnerIdle, s.Policy.IdleTTL
	case ActivityLimited:
		reason, after = ReasonOwnerLimited, s.Policy.LimitTTL
	default:
		return "", 0
	}
	if after == 0 {
		return reason, -1
	}
	left = max(f.Now.Left(a.Began, ms(after)), f.Now.Left(s.Grant.At, ms(after)))
	for _, seen := range []time.Time{a.At.Time, f.presence(s.Owner).Seen} {
		left = max(left, min(ms(after), ms(after)-f.Now.Wall.Sub(seen)))
	}
	return reason, left
}

// nextOffer returns how long the turn is surely not offered because its holder does nothing
// with it; zero: that does not come, or not by time alone.
func (s *State) nextOffer(f Facts) time.Duration {
	if f.activity(s.Owner).What == "" {
		return 0
	}
	if _, left := s.rest(f); left > 0 {
		return left
	}
	return Soonest(ms(s.Policy.IdleTTL), ms(s.Policy.LimitTTL))
}
