package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// Apply folds one event into the state. The rules have decided before the event was
// written, so Apply checks none of them. It fails only for a payload that cannot be
// decoded and for a room of a newer format, and leaves the state unchanged then. An
// event of an unknown type changes nothing but the last event_seq, so that an older tt
// can read a journal with newer types of events. Where a repair has lost a grant, other events tell its
// number, which is not granted again.
func (s *State) Apply(e *event.Event) error {
	if err := s.change(e); err != nil {
		return err
	}
	s.Seq, s.UpdatedAt = e.Seq, e.CreatedAt
	if e.Turn > s.Turn && (e.Type == event.Damaged || KnownEventType(e.Type)) {
		s.Turn = e.Turn
	}
	return nil
}

func (s *State) change(e *event.Event) error {
	switch e.Type {
	case RoomOpened:
		return s.applyOpened(e)
	case MemberJoined:
		return talk.Fold(e, s.applyJoined)
	case MemberLeft:
		s.remove(e.From, Loss{})
	case Claim, Takeover:
		return talk.Fold(e, s.applyGrant)
	case Released, Passed:
		return talk.Fold(e, s.applyRelease)
	case Kicked:
		s.applyKick(e)
	case MessageSent:
		s.applyMail(e)
	case NoteAdded:
		return talk.Fold(e, func(e *event.Event, p talk.NotePayload) { s.Notes = append(s.Notes, p.Note(e)) })
	case NoteResolved:
		return talk.Fold(e, func(_ *event.Event, p talk.ResolvedPayload) {
			s.Notes = slices.DeleteFunc(s.Notes, func(n talk.Note) bool { return n.ID == p.ID })
		})
	case PolicyChanged:
		return s.applyPolicy(e)
	case Closed: // the identity of the room and its counters stay
		*s = State{RoomID: s.RoomID, CanonicalPath: s.CanonicalPath, WorkspaceRoot: s.WorkspaceRoot, Turn: s.Turn, Policy: s.Policy}
	case TreeChanged:
		return s.applyTreeChanged(e)
	case JobEnded:
		return talk.Fold(e, s.applyJobEnded)
	case JournalDamaged:
		return s.applyLoss(e)
	}
	return nil
}

// applyLoss makes s the state that the room goes on from after events were lost.
func (s *State) applyLoss(e *event.Event) error {
	var p event.Loss
	if err := talk.Decode(e, &p); err != nil || len(p.State) == 0 {
		return err
	}
	known := New(s.RoomID)
	if err := wire.Decode(p.State, known); err != nil {
		return fmt.Errorf("%s event %d: state: %w", e.Type, e.Seq, err)
	}
	known.RoomID = cmp.Or(s.RoomID, known.RoomID) // an import has given another
	*s = *known
	return nil
}

// applyOpened starts a life of the room. The event has the counters of the life
// before, so the archive is not needed to fold a journal.
func (s *State) applyOpened(e *event.Event) error {
	p := openedPayload{Policy: DefaultPolicy()}
	if err := talk.Decode(e, &p); err != nil {
		return err
	}
	if p.Format > Format {
		return code.New(code.UnsupportedFormat, "the room was written by a newer tt (format %d, this one knows %d)", p.Format, Format).
			WithHint("update tt; the room was left untouched")
	}
	*s = State{
		RoomID: cmp.Or(s.RoomID, e.RoomID), CanonicalPath: p.CanonicalPath, WorkspaceRoot: p.WorkspaceRoot,
		Open: true, Turn: e.Turn, Policy: p.Policy,
	}
	return nil
}

func (s *State) applyJoined(e *event.Event, p joinedPayload) {
	if m := s.Member(e.From); m != nil {
		m.Observer = m.Observer && p.Observer
		return
	}
	s.Members = append(s.Members, Member{
		AgentID: e.From, DisplayName: p.DisplayName, SessionKind: p.SessionKind, Observer: p.Observer,
		Ordinal: s.NextOrdinal, JoinedAt: e.CreatedAt, Joined: e.Seq,
	})
	if f := memberOf(s.Former, e.From); f != nil { // it still comes after the members that never held the stick
		m := s.Member(e.From)
		m.LastHeld, m.Lost = f.LastHeld, f.Lost
		s.Former = slices.DeleteFunc(s.Former, func(h Member) bool { return h.AgentID == e.From })
	}
	s.NextOrdinal++
}

func (s *State) applyKick(e *event.Event) {
	why := strings.ToValidUTF8(e.Reason[:min(len(e.Reason), mostWhy)], "")
	removed := Loss{Type: e.Type, Seq: e.Seq, By: e.From, At: e.CreatedAt, Why: why}
	if s.Owner == e.To {
		removed.Turn = e.Turn
		s.lose(removed)
	}
	s.remove(e.To, removed)
}

// remove removes a member. A handoff that it was given or offered is pending again,
// for the next agent that claims the turn.
func (s *State) remove(id string, how Loss) {
	for i := range s.Members {
		if m := s.Members[i]; m.AgentID == id {
			s.Members = slices.Delete(s.Members, i, i+1)
			s.rememberFormer(m, how)
			break
		}
	}
	if s.Owner == id {
		s.Owner, s.Pending, s.Grant, s.ShortTurns = "", s.Grant.Handoff, Grant{}, 0
	}
	if s.ReservedFor == id {
		s.ReservedFor = ""
	}
	if s.Pending.Preferred == id {
		s.Pending.Preferred, s.Pending.Listens = "", false
	}
}

// maxFormer is the length of the list of former members. The first to leave is
// forgotten first.
const maxFormer = 64

// rememberFormer keeps when a member that leaves last held the stick, and how it lost that and its membership.
func (s *State) rememberFormer(m Member, how Loss) {
	if m.LastHeld == 0 && how.Type == "" {
		return
	}
	s.Former = append(s.Former, Member{AgentID: m.AgentID, LastHeld: m.LastHeld, Lost: m.Lost, Removed: how})
	if n := len(s.Former) - maxFormer; n > 0 {
		s.Former = slices.Delete(s.Former, 0, n)
	}
}

func (s *State) applyGrant(e *event.Event, p grantPayload) {
	given := s.lastHandoff()
	given.Preferred, given.Listens = "", false
	if given.Unchanged {
		given = PendingHandoff{Seq: given.Given, From: given.GivenFrom}
	}
	if e.Type == Takeover {
		s.lose(Loss{Type: e.Type, Seq: e.Seq, Turn: s.Turn, By: e.To, Kind: p.Kind, At: e.CreatedAt})
	}
	s.Turn, s.Owner, s.ReservedFor, s.Pending = e.Turn, e.To, "", PendingHandoff{}
	s.Grant = Grant{Lease: p.Lease, At: p.Clock.at(e.CreatedAt), TTL: ms(p.TTL), Host: p.Host, Handoff: given, Woken: p.Woken, Auto: p.Auto}
	if m := s.Member(e.To); m != nil {
		m.LastHeld, m.Lost = e.Seq, Loss{}
	}
}

// lastHandoff returns the handoff that goes with a grant: the pending one, or the one
// that the owner was given if the turn is taken from it.
func (s *State) lastHandoff() PendingHandoff {
	if s.Pending.Seq != 0 {
		return s.Pending
	}
	return s.Grant.Handoff
}

func (s *State) applyRelease(e *event.Event, p releasePayload) {
	at := p.Clock.at(e.CreatedAt)
	s.ShortTurns = s.shortTurns(at)
	s.lose(Loss{Type: e.Type, Seq: e.Seq, Turn: s.Turn, At: e.CreatedAt})
	given := s.Grant.Handoff
	s.Owner, s.Grant, s.ReservedFor = "", Grant{}, e.To
	s.Pending = PendingHandoff{Seq: e.Seq, From: e.From, Direct: e.Type == Passed, At: at, Preferred: p.Preferred,
		Listens: p.Listens, Auto: p.Auto, Unchanged: p.Unchanged}
	switch {
	case !p.Unchanged:
	case e.To != "" || p.Preferred != "":
		s.Pending.Given, s.Pending.GivenFrom = given.Seq, given.From
	case given.Seq != 0:
		s.Pending = PendingHandoff{Seq: given.Seq, From: given.From, At: at, Auto: true}
	default:
		s.Pending = PendingHandoff{}
	}
}

func (s *State) applyPolicy(e *event.Event) error {
	p := policyPayload{Policy: s.Policy}
	if err := talk.Decode(e, &p); err != nil {
		return err
	}
	s.Policy = p.Policy
	return nil
}
