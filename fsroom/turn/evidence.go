package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/journal/event"
)

// Evidence says why a takeover is possible. An agent reads it before it decides
// whether to take over.
type Evidence struct {
	LastSeenAt *event.Time // when the owner or recipient was last heard of
	GoneSince  *event.Time // nil: not gone, or it is not known since when
	Sentence   string      // what has ended, or for how long there was silence
	Hint       string      // how to make sure
}

// evidence returns the evidence for a takeover of the given kind, one of the
// takeover reasons.
func (s *State) evidence(f Facts, kind string) Evidence {
	who := cmp.Or(s.Owner, s.ReservedFor)
	e := Evidence{Hint: hintMakeSure(who)}
	m := s.Member(who)
	if m == nil {
		return e
	}
	p := f.presence(who)
	if f.Gone(s, m) && !p.OutlivesProcess {
		e.Hint = hintEnded(who)
	}
	seen := event.NewTime(f.lastSeen(m))
	e.LastSeenAt, e.GoneSince = &seen, f.goneSince(s, m)
	silent := fmt.Sprintf("%s was last heard of %s ago", who, spoken(f.silence(m)))
	lease, _ := s.deadlines(f)
	switch kind {
	case ReasonOwnerGone, ReasonRecipientGone:
		facts := s.troubleFacts(f)
		if len(facts) == 0 {
			facts = []string{ended(who, p)}
		}
		e.Sentence = strings.Join(append(facts, silent), "; ")
	case ReasonOwnerTimeout:
		ranOut := fmt.Sprintf("the lease of %s ran out %s ago and was not renewed", who, spoken(f.Now.Wall.Sub(lease.Time)))
		e.Sentence = strings.Join(slices.Concat([]string{ranOut}, s.troubleFacts(f), []string{silent}), "; ")
	case ReasonOwnerIdle, ReasonOwnerLimited:
		since := f.activity(s.Owner).Since
		e.Sentence = fmt.Sprintf("%s ended its model's turn at %s and has not released since; %s", who, since.UTC().Format(utcClock), silent)
		if kind == ReasonOwnerLimited {
			e.Sentence = fmt.Sprintf("the model of %s is limited since %s; %s", who, since.UTC().Format(utcClock), silent)
		}
	case ReasonClaimTimeout:
		e.Sentence = fmt.Sprintf("%s did not claim the turn within %s; %s", who, spoken(ms(s.Policy.ClaimTTL)), silent)
	}
	return e
}

// troubleFacts says in words what is wrong with the holder. A guardian ends with its agent:
// that is no fact of its own.
func (s *State) troubleFacts(f Facts) (facts []string) {
	ended := false
	for _, t := range s.Trouble(f) {
		ended = ended || t.What == HarnessEnded
		if t.What != GuardianEnded || !ended {
			facts = append(facts, t.Fact())
		}
	}
	return facts
}

// ended says in words which process of the agent has ended.
func ended(who string, p Presence) string {
	t := Trouble{What: HarnessEnded, PID: p.PID, Agent: who, session: p.SessionEnded}
	if p.Guardian && p.PID != 0 {
		t.What = GuardianEnded
	}
	return t.Fact()
}

// whyGone says in words why a member counts as gone.
func whyGone(p Presence) string {
	switch {
	case p.SessionEnded && !p.OutlivesProcess:
		return "its session has ended"
	case p.SessionEnded:
		return "its session has ended, and it is silent"
	case p.Guardian:
		return "its guardian has ended, and it is silent"
	case p.OutlivesProcess:
		return "its process has ended, and it is silent"
	}
	return "its process has ended"
}

// goneSince returns when the member began to count as gone. It is nil if the member
// is not gone, or if the end of its process was not seen.
func (f Facts) goneSince(s *State, m *Member) *event.Time {
	if !f.Gone(s, m) {
		return nil
	}
	p := f.presence(m.AgentID)
	since := p.EndedAt
	if p.OutlivesProcess {
		if silent := f.lastSeen(m).Add(ms(s.Policy.GoneGrace)); silent.After(since) {
			since = silent
		}
	}
	if since.IsZero() || since.After(f.Now.Wall.Time) {
		return nil
	}
	t := event.NewTime(since)
	return &t
}
