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

// Activities are all of them.
var Activities = []string{ActivityWorking, ActivityAsks, ActivityLimited, ActivityIdle, ActivityEnded}

// An Activity is what the machine, not the journal, knows of what an agent does. Without
// What nothing is known.
type Activity struct {
	What   string
	Since  event.Time
	At     event.Time // the last sign of life
	Tool   string
	Detail string
	Source string // who says so: hook, harness or host
}

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

func (f Facts) activity(id string) Activity {
	if f.Activity == nil {
		return Activity{}
	}
	return f.Activity(id)
}

// rest returns why and since when the holder of the turn does nothing with it: its model
// is idle, or limited, since the grant and its last command. after is for how long others
// leave it the turn then; zero: for ever.
func (s *State) rest(f Facts) (reason string, since time.Time, after time.Duration) {
	m := s.Member(s.Owner)
	if m == nil {
		return "", time.Time{}, 0
	}
	a := f.activity(s.Owner)
	switch a.What {
	case ActivityIdle:
		reason, after = ReasonOwnerIdle, ms(s.Policy.IdleTTL)
	case ActivityLimited:
		reason, after = ReasonOwnerLimited, ms(s.Policy.LimitTTL)
	default:
		return "", time.Time{}, 0
	}
	since = a.Since.Time
	for _, later := range []time.Time{s.Grant.At.Wall.Time, f.presence(s.Owner).Seen} {
		if later.After(since) {
			since = later
		}
	}
	return reason, since, after
}

// offeredFor returns the reason for which the turn of a holder that does nothing with it is
// offered to others, "" if it is not, and in how long it will be, zero if never.
func (s *State) offeredFor(f Facts) (reason string, in time.Duration) {
	reason, since, after := s.rest(f)
	switch left := after - f.Now.Wall.Sub(since); {
	case reason == "" || after == 0:
		return "", 0
	case left > 0:
		return "", left
	}
	return reason, 0
}

// nextOffer returns how long the turn is surely not offered because its holder does nothing
// with it; zero: that does not come, or not by time alone.
func (s *State) nextOffer(f Facts) (next time.Duration) {
	if f.activity(s.Owner).What == "" {
		return 0
	}
	if _, in := s.offeredFor(f); in > 0 {
		return in
	}
	for _, ttl := range []time.Duration{ms(s.Policy.IdleTTL), ms(s.Policy.LimitTTL)} {
		if ttl > 0 && (next == 0 || ttl < next) {
			next = ttl
		}
	}
	return next
}
