package turn

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/talking-stick/tt/journal/event"
)

// A Standing says who has the turn and who may have it next.
type Standing struct {
	Position
	OfferedTo    string          `json:"offered_to,omitempty"`
	From         string          `json:"handoff_from,omitempty"` // whose handoff is pending
	Since        *event.Time     `json:"since,omitzero"`         // since when somebody has the turn, or when it was handed over; nil: it was never held
	OfferedUntil *event.Time     `json:"offered_until,omitzero"`
	Process      Process         `json:"process,omitempty"` // of the owner, or of whom the turn is reserved for; "": neither
	GoneAt       *event.Time     `json:"gone_at,omitzero"`  // see [State.GoneAt]
	Lost         json.RawMessage `json:"lost,omitempty"`    // what was not committed and went since the last turn: {files, since}; nil: nothing, or not known
}

// Standing returns how the turn stands at the moment of the facts.
func (s *State) Standing(f Facts) Standing {
	r := s.Room(f)
	v := Standing{Position: r.Position, OfferedTo: r.OfferedTo, From: s.Pending.From, OfferedUntil: r.OfferedUntil}
	if who := cmp.Or(s.Owner, s.ReservedFor); who != "" {
		v.Process, v.GoneAt = f.presence(who).shown(), s.GoneAt(f, who)
	}
	since := s.Pending.At
	if s.Owner != "" {
		since = s.Grant.At
	}
	if !since.IsZero() {
		v.Since = &since.Wall
	}
	return v
}

// Outlook returns what happens next, by itself or by what somebody does, in sentences.
// Times are UTC.
func (s *State) Outlook(f Facts) []string {
	v := s.Standing(f)
	var next []string
	add := func(format string, args ...any) { next = append(next, fmt.Sprintf(format, args...)) }
	away := IsCutOff(v.Trouble)
	stuck := !away && Stuck(v.State) != "" // the evidence has what is wrong with the holder
	for i := range v.Trouble {
		if t := &v.Trouble[i]; t.What == LockStopped || !stuck {
			add("%s: %s", t.Sentence(), t.Do)
		}
	}
	switch {
	case away:
		return next
	case v.State == StateClosed:
		return []string{`the room has ended: "tt join" opens it again`}
	case stuck:
		e := s.evidence(f, s.takeoverReason(f))
		add("nothing happens by itself: %s", cmp.Or(e.Sentence, cmp.Or(s.Owner, s.ReservedFor)+" does not go on"))
		add("%s", e.Hint)
		return next
	case s.Owner != "":
		if job := f.activity(s.Owner).JobWords(f.Now.Wall.Time); job != "" {
			add("%s %s", s.Owner, job)
		}
		switch {
		case len(v.Trouble) > 0:
		case s.isAuto(f, s.Owner):
			add("the turn, which the hooks of %s took, is released by itself when its model stops or its process ends", s.Owner)
		case s.Grant.Host != f.Host: // what its guardian does is not seen from here
			add("%s, on another host, keeps the turn until it releases it; its lease ends at %s, as far as this host knows", s.Owner,
				v.LeaseExpiresAt.Format(utcClock))
		default:
			add("%s keeps the turn until it releases it: its guardian renews the lease, which ends at %s otherwise", s.Owner,
				v.LeaseExpiresAt.Format(utcClock))
		}
		wanted := func(f Facts, m *Member) bool { return !s.isAuto(f, s.Owner) || wants(f, m) } // as [Release] has it
		switch m := s.heir(f, s.Owner, wanted); {
		case m != nil:
			add("a release gives it to %s; %s", m.AgentID, s.toldWords(f, m.AgentID))
		case s.heir(f, s.Owner, anybody) != nil:
			add("then it is free: nobody else has asked for it")
		default:
			add("nobody else is active who could get it")
		}
	case s.ClaimExpired(f):
		add("%s has not claimed the turn, and still may; another member takes it with \"tt take --reason …\"", s.ReservedFor)
	case s.ReservedFor != "":
		add("%s may claim the turn until %s, then the others may take it: %s", s.ReservedFor, v.ClaimExpiresAt.Format(utcClock),
			s.toldWords(f, s.ReservedFor))
		if reach := s.Reach(f, s.ReservedFor); reach == ReachNone || reach == ReachUnheard {
			add(`if a person wants it now: "tt take --operator-requested --reason …"`)
		}
	case v.OfferedTo != "":
		add("only %s may claim the turn until %s: %s", v.OfferedTo, v.OfferedUntil.Format(utcClock), s.toldWords(f, v.OfferedTo))
		add("after that whoever waits gets it")
	case s.toldNext(f) != "":
		add("%s is told that it is offered to it: %s", s.toldNext(f), s.toldWords(f, s.toldNext(f)))
		add(`whoever runs "tt wait" before it gets the turn with the handoff of %s`, s.Pending.From)
	case s.AtRest():
		add("%s", restWords(s.ShortTurns))
		add(`whoever runs "tt wait" gets the turn with the handoff of %s`, s.Pending.From)
	case s.Pending.From != "":
		add(`whoever runs "tt wait" gets the turn with the handoff of %s, which itself comes last`, s.Pending.From)
	default:
		add(`whoever runs "tt wait" gets the turn`)
	}
	return next
}

// toldWords says how a member is told of its turn.
func (s *State) toldWords(f Facts, id string) string {
	h, reach := f.hearing(id), s.reachOfTurn(f, id, cmp.Or(s.Owner, s.Pending.From))
	told, _ := ReachWords(reach, h.How, h.Within)
	switch {
	case reach == ReachWaiting:
		return "it waits"
	case reach == ReachReady && h.How == ByHold:
		return "it is told " + told + ", or " + ifStopped
	case reach == ReachBusy && h.Asks:
		return h.Note() + ", and is told after the answer"
	case reach == ReachUnheard:
		return "it did not answer the last notification by " + h.How + ": wake it by hand"
	case reach == ReachNextPrompt && h.Stopped:
		return h.Note() + ", and it is told at its next prompt: somebody has to type one"
	case reach == ReachNextPrompt && h.Busy:
		return "it is told when its model next uses a tool, or at its next prompt"
	case reach == ReachNextPrompt && h.How != "":
		return "it was woken often lately, and is told within " + spoken(h.TurnsSpent) + ", or at its next prompt"
	case reach == ReachNextPrompt:
		return "it is told at its next prompt: somebody has to type one"
	case reach == ReachNone && s.worksOn(f, id):
		return "it hears of it with its next command"
	case reach == ReachNone:
		return "nothing tells it, so wake it by hand"
	}
	return "it is told " + told
}
