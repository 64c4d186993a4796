package turn

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/talking-stick/tt/journal/event"
)

// Evidence says why a takeover is possible. An agent reads it before it decides
// whether to take over.
type Evidence struct {
	LastSeenAt *event.Time `json:"last_seen_at,omitzero"` // when the owner or recipient was last heard of
	GoneSince  *event.Time `json:"gone_since,omitzero"`   // nil: not gone, or it is not known since when
	Sentence   string      `json:"evidence,omitempty"`    // what has ended, or for how long there was silence
	Hint       string      `json:"hint,omitempty"`        // how to make sure
}

// evidence returns the evidence for a takeover of the given kind, one of the
// takeover reasons.
func (s *State) evidence(f Facts, kind string) Evidence {
	who := cmp.Or(s.Owner, s.ReservedFor)
	e := Evidence{Hint: fill(hintMakeSure, who, 0)}
	m := s.Member(who)
	if m == nil {
		return e
	}
	p := f.presence(who)
	if f.Gone(s, m) && !p.OutlivesProcess {
		e.Hint = fill(hintEnded, who, 0)
	}
	e.LastSeenAt, e.GoneSince = known(f.lastSeen(m)), f.goneSince(s, m)
	var sentences []string
	if words := grounds[kind].evidence; words != "" {
		sentences = append(sentences, fill(words, who, 0, "{past}", spoken(f.Now.Wall.Sub(f.lease(s).End(f.Now).Time)), "{since}",
			f.activity(who).Since.UTC().Format(utcClock), "{ttl}", spoken(ms(s.Policy.ClaimTTL))))
	}
	if sentences = append(sentences, s.troubleFacts(f, kind)...); len(sentences) == 0 {
		over := ended(who, p)
		sentences = append(sentences, over.Fact())
	}
	silent := fmt.Sprintf("%s was last heard of %s ago", who, spoken(f.silence(m)))
	e.Sentence = strings.Join(append(sentences, silent), "; ")
	return e
}

// troubleFacts says in words what is wrong with the holder, but for one ground. A guardian ends with its agent:
// that is no fact of its own.
func (s *State) troubleFacts(f Facts, but string) (facts []string) {
	ended := false
	for _, t := range s.Trouble(f) {
		ended = ended || t.What == HarnessEnded
		if (t.What != GuardianEnded || !ended) && (t.row == "" || t.row != but) {
			facts = append(facts, t.Fact())
		}
	}
	return facts
}

// ended says in words that a member has ended.
func (p Presence) ended() string {
	switch {
	case p.SessionEnded:
		return "its session has ended"
	case p.Guardian:
		return "its guardian has ended"
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
	if since.After(f.Now.Wall.Time) {
		return nil
	}
	return known(since)
}
