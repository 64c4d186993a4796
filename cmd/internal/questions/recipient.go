package questions

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// An Addressee is whom a question on a topic is for.
type Addressee struct {
	ID         string   // as [topic.AskRequest] has it
	Known      bool     // false: nobody of that name has been there yet
	Candidates []string // who else is there, if it is not known
	RoomEnded  bool     // the topic belongs to a room of tt that has ended
}

// AddresseeOf returns whom an agent means by a name on a topic. On the topic of a room that
// is who [turn.Asked] says, so that tt and agent-bus ask the same agent. Else it is an agent
// that is connected, or has asked or answered there, whatever the case of the letters. A
// name that means several agents is refused.
func AddresseeOf(store *fsroom.Store, t *Topic, s *topic.State, asker, to string) (Addressee, error) {
	room, st := roomOf(store, t, s, asker)
	a := Addressee{ID: to, Known: true, RoomEnded: room == nil && isOfRoom(store, t, s)}
	there := connected(t, asker)
	if to == "" || to == topic.ToHuman || slices.Contains(there, to) {
		return a, nil
	}
	if room != nil {
		id, err := turn.Asked(st, room.Facts(st), asker, to)
		switch code.Of(err) {
		case "":
			a.ID = id
			return a, nil
		case code.AmbiguousRecipient:
			return a, err
		}
		there = append(there, st.Others(asker)...)
	}
	there = append(there, s.Names()...)
	slices.Sort(there)
	there = slices.DeleteFunc(slices.Compact(there), func(id string) bool { return id == asker })
	for _, id := range there {
		if strings.EqualFold(id, to) {
			a.ID = id
			return a, nil
		}
	}
	a.Known, a.Candidates = false, there
	return a, nil
}

// Hearers returns the agents that a question is offered to and that can hear of it now: those
// that are connected, and on the topic of a room the members that wait or listen.
func Hearers(store *fsroom.Store, t *Topic, s *topic.State, questionID string) []string {
	q := s.Question(questionID)
	if q == nil {
		return nil
	}
	there := connected(t, q.AskedBy)
	if room, st := roomOf(store, t, s, q.AskedBy); room != nil {
		for _, v := range st.MemberViews(room.Facts(st)) {
			switch v.Reach {
			case turn.ReachWaiting, turn.ReachReady, turn.ReachBusy:
				there = append(there, v.AgentID)
			}
		}
	}
	slices.Sort(there)
	return slices.DeleteFunc(slices.Compact(there), func(id string) bool { return id == q.AskedBy || !q.OfferedTo(id) })
}

// connected returns the other agents with a live session on the topic.
func connected(t *Topic, without string) (ids []string) {
	holders, _ := Listeners(t, without)
	for _, h := range holders {
		ids = append(ids, h.ID)
	}
	return ids
}

// isOfRoom reports whether the topic is that of a room of tt.
func isOfRoom(store *fsroom.Store, t *Topic, s *topic.State) bool {
	of, _ := OfRoom(store, s.Name)
	return s.Name != "" && of.Name() == t.Name()
}

// roomOf returns the open room of tt that a topic belongs to, nil if it belongs to none that
// is there.
func roomOf(store *fsroom.Store, t *Topic, s *topic.State, asker string) (*member.Room, *turn.State) {
	if !isOfRoom(store, t, s) {
		return nil, nil
	}
	c := &member.Client{Store: store, Table: identity.System(), Self: identity.Agent{ID: asker}}
	room := c.Room(s.Name, nil)
	if !room.FS.Exists() {
		return nil, nil
	}
	snap, err := room.FS.View()
	if err != nil || !snap.State.Open {
		return nil, nil
	}
	return room, snap.State
}
