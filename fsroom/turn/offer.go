package turn

import (
	"fmt"
	"slices"
	"time"
)

// UnheardAfter is how long a listener may leave a notification unnoticed. Tests allow more.
var UnheardAfter = 5 * time.Second

// An Offer says what is due, so that a turn that was released does not stay with members
// that do not hear of it.
type Offer struct {
	Notify string        // the agent whose listener is to be notified now; "": none
	Again  time.Duration // when to look again if the room does not change; 0: never
	to     string        // the member whose time it is; "": that of none
}

// Offer returns what is due. The turn is offered to one member after the other of those
// that listen: first to the preferred one, then to the fairest. Each has the wake grace
// from its notification on, or until it turns out that it does not hear. The turn is not
// reserved meanwhile: the others may claim it as soon as it is not the preferred member's
// alone any more. Whoever does what is due, the guardian of the turn that was released,
// needs no memory: what has been done is in the facts.
//
// Nothing is due while somebody has the turn or it is reserved, nor where nobody listens or
// the turn is at rest.
func (s *State) Offer(f Facts) Offer {
	p, grace := s.Pending, ms(s.Policy.WakeGrace)
	if s.Owner != "" || s.ReservedFor != "" || p.Seq == 0 || s.AtRest() || p.forNobody() {
		return Offer{}
	}
	begins := p.At.Wall.Time // of the next member's time
	if p.Preferred != "" && !p.Listens {
		begins = begins.Add(ms(s.Policy.WaiterGrace))
	}
	for _, id := range s.listeners(f, p.From) {
		h, now := f.hearing(id), f.Now.Wall.Time
		since := h.Notified
		if id == p.Preferred && p.Listens {
			since = begins
		}
		switch {
		case now.Before(begins):
			return Offer{Again: begins.Sub(now), to: id}
		case h.Unheard:
			if given := since.Add(UnheardAfter); given.After(begins) {
				begins = given
			}
		case since.Before(begins):
			return Offer{Notify: id, Again: min(grace, UnheardAfter), to: id}
		case now.Sub(since) >= grace:
			begins = since.Add(grace)
		default:
			again := grace - now.Sub(since)
			if h.UnheardIn > 0 {
				again = min(again, h.UnheardIn)
			}
			return Offer{Again: again, to: id}
		}
	}
	return Offer{}
}

// toldNext returns the member to which the free turn is offered now, or as soon as it turns out that those before it do
// not hear; "" if there is none.
func (s *State) toldNext(f Facts) string {
	to, ids := s.Offer(f).to, s.listeners(f, s.Pending.From)
	for _, id := range ids[max(0, slices.Index(ids, to)):] {
		if to != "" && !f.ended(id) && !f.hearing(id).Unheard {
			return id
		}
	}
	return ""
}

// listeners returns the active members that listen, heard or not, in the order in which a
// turn of the author is offered to them: the preferred one if it listened, then the
// fairest. It is empty if the wake grace is switched off.
func (s *State) listeners(f Facts, author string) (ids []string) {
	if s.Policy.WakeGrace == 0 {
		return nil
	}
	if p := s.Pending; p.Listens {
		ids = append(ids, p.Preferred)
	}
	var ended []string
	for _, m := range s.inTurn(author) {
		switch h := f.hearing(m.AgentID); {
		case slices.Contains(ids, m.AgentID) || h.How == "" || h.TurnsSpent != 0 || !f.active(s, m):
		case f.ended(m.AgentID):
			ended = append(ended, m.AgentID)
		default:
			ids = append(ids, m.AgentID)
		}
	}
	return append(ids, ended...)
}

// shortTurn is how long a turn lasts at most for which its agent had no use.
const shortTurn = time.Minute

// shortTurns returns how many turns in a row were taken by agents that were woken for them
// and ended soon, if the turn in progress ends at a moment.
func (s *State) shortTurns(end Instant) int64 {
	if !s.Grant.Woken || end.Since(s.Grant.At) >= shortTurn {
		return 0
	}
	return s.ShortTurns + 1
}

// AtRest reports whether the free turn wakes nobody. That is so after a number of turns in a row, as
// many as there are members, that agents took because they were woken and that changed
// nothing: the next one would be passed on without end. Whoever asks for the turn gets it,
// which ends that. A turn that is assigned, or that a person releases, wakes as always.
func (s *State) AtRest() bool {
	p := s.Pending
	return s.Owner == "" && p.Seq != 0 && s.ReservedFor == "" && p.Preferred == "" && s.rests(p.From, s.ShortTurns)
}

// rests reports whether a release by the agent after so many short turns wakes nobody.
func (s *State) rests(agent string, shortTurns int64) bool {
	return shortTurns > 0 && shortTurns > int64(len(s.rivals(agent))) && !s.IsPerson(agent)
}

// restWords says why nobody is woken for the turn.
func restWords(turns int64) string {
	return fmt.Sprintf("the last %d turns ended within a minute, by agents that were woken for them: nobody is woken for this one", turns)
}
