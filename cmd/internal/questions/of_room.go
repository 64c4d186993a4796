package questions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/wire"
)

// A room of the talking stick has its questions on one topic, whose name is the room's name. The first question makes it. It outlives the
// lives of the room. Where it was closed, the next question in tt opens it again.

// OfRoomID returns the id of the topic that has the questions of a room.
func OfRoomID(room string) string {
	const hash, digits = 16, idLength - 1 // the name of a room ends with 16 digits of a hash
	if len(room) >= hash {
		if id := "t" + room[len(room)-hash:][:digits]; IsID(id) {
			return id
		}
	}
	return hashedID(room + "/0")
}

// hashedID returns the id of a topic that follows from a text.
func hashedID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "t" + hex.EncodeToString(sum[:])[:idLength-1]
}

// OfRoom returns the topic that has the questions of a room. It may not exist.
func OfRoom(store *fsroom.Store, room string) *Topic {
	return fsroom.At(store, roomtypes.Topics(), OfRoomID(room))
}

// AskInRoom stores a question of an agent on the topic of a room, whose path is kept with the topic, and makes the topic if need be. It
// returns the topic as it is then, and the id of the question.
func AskInRoom(ctx context.Context, store *fsroom.Store, room, path, agent string, request topic.AskRequest) (r *Topic,
	s *topic.State, id string, err error) {
	if r = OfRoom(store, room); !r.Exists() {
		if _, err := createOfRoom(ctx, r, room, path); err != nil {
			return nil, nil, "", err
		}
	}
	request.Reopens = true
	s, id, err = Ask(ctx, r, agent, request, topic.DefaultLimits())
	return r, s, id, err
}

// OfRoom returns the topic of the open room of tt that has a name, and makes it if need be. It returns nil if no room has the name.
func (d *Dir) OfRoom(ctx context.Context, name string) (*topic.State, error) {
	store, err := d.Store()
	if err != nil {
		return nil, err
	}
	room, st := openRoom(store, name, "")
	if room == nil {
		return nil, nil
	}
	return createOfRoom(ctx, OfRoom(store, name), name, st.CanonicalPath)
}

// createOfRoom makes the topic of a room, unless another process has done so.
func createOfRoom(ctx context.Context, r *Topic, room, path string) (*topic.State, error) {
	unlock, err := r.Store().LockFolder(ctx, roomtypes.Topics().Folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }()
	all, err := indexOf(r.Store())
	if err != nil {
		return nil, err
	}
	metadata := struct {
		Path string `json:"path"`
	}{path}
	snap, _, err := r.Update(ctx, unlessMade(topic.CreateNamed(all.States, room, wire.Append(nil, &metadata))))
	if err != nil {
		return nil, err
	}
	return snap.State, nil
}

// An Addressee is whom a question on a topic is for.
type Addressee struct {
	ID         string   // as [topic.AskRequest] has it
	Known      bool     // false: nobody of that name has been there yet
	Candidates []string // who else is there, if it is not known
	RoomEnded  bool     // the topic belongs to a room of tt that has ended
}

// AddresseeOf returns whom an agent means by a name on a topic. On the topic of a room that is who [turn.Asked] says, so that tt and
// agent-bus ask the same agent. Else it is an agent that is connected, or has asked or answered there, whatever the case of the letters. A
// name that means several agents is refused.
func AddresseeOf(t *Topic, asker, to string) (Addressee, error) {
	snap, err := t.View()
	if err != nil {
		return Addressee{}, err
	}
	s := snap.State
	room, st := roomOf(t, s, asker)
	a := Addressee{ID: to, Known: true, RoomEnded: room == nil && isOfRoom(t, s)}
	there := connected(t, asker)
	if to == "" || to == talk.AnyPerson || slices.Contains(there, to) {
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
	there = slices.DeleteFunc(slices.Compact(there), func(id string) bool { return id == asker || id == "" }) // "": forgotten
	for _, id := range there {
		if strings.EqualFold(id, to) {
			a.ID = id
			return a, nil
		}
	}
	a.Known, a.Candidates = false, there
	return a, nil
}

// Hearers returns the agents that a question is offered to and that can hear of it now: those that are connected, and on the topic of a
// room the members that wait or listen. An error means that they cannot be found out.
func Hearers(t *Topic, questionID string) ([]string, error) {
	snap, err := t.View()
	if err != nil {
		return nil, err
	}
	q := snap.State.Question(questionID)
	if q == nil {
		return nil, nil
	}
	there := connected(t, q.AskedBy)
	if room, st := roomOf(t, snap.State, q.AskedBy); room != nil {
		for _, v := range st.MemberViews(room.Facts(st)) {
			if slices.Contains([]string{turn.ReachWaiting, turn.ReachReady, turn.ReachBusy}, v.Reach) {
				there = append(there, v.AgentID)
			}
		}
	}
	slices.Sort(there)
	return slices.DeleteFunc(slices.Compact(there), func(id string) bool { return id == q.AskedBy || !q.OfferedTo(id) }), nil
}

// AnswersShown records that the agent was shown the first n answers to a question of its on the topic of a room, so that tt
// does not tell it of them. If an answer before them to another question was not shown, tt tells it of all.
func AnswersShown(t *Topic, agent, questionID string, n int) {
	snap, err := t.View()
	if err != nil {
		return
	}
	s := snap.State
	room, st := roomOf(t, s, agent)
	q := s.Question(questionID)
	if room == nil || !room.IsMember(st) || q == nil || q.AskedBy != agent || n > len(q.Answers) {
		return
	}
	at, last := Of(room).Cursor(st, agent), q.Answers[n-1].Seq
	at.On(s.Life())
	for _, a := range s.NewAnswers(agent, &at.Seen) {
		if a.ID != questionID && a.AnswerRef.Seq < last {
			return
		}
	}
	shown := hearing.Cursor{JoinedAt: at.JoinedAt, Seen: talk.Seen{Topic: at.Topic, AnswersSeq: last}}
	_ = Of(room).Advance(agent, shown)
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
func isOfRoom(t *Topic, s *topic.State) bool {
	return s.Name != "" && OfRoom(t.Store(), s.Name).Name() == t.Name()
}

// roomOf returns the open room of tt that a topic belongs to, nil if it belongs to none that is there.
func roomOf(t *Topic, s *topic.State, asker string) (*member.Room, *turn.State) {
	if !isOfRoom(t, s) {
		return nil, nil
	}
	return openRoom(t.Store(), s.Name, asker)
}

// openRoom returns the open room of tt that has a name, nil if none has it.
func openRoom(store *fsroom.Store, name, asker string) (*member.Room, *turn.State) {
	c := &member.Client{Store: store, Table: identity.System(), Self: identity.Agent{ID: asker}}
	room := c.Room(name, nil)
	if name == "" || filepath.Base(name) != name || !room.FS.Exists() {
		return nil, nil
	}
	snap, err := room.FS.View()
	if err != nil || !snap.State.Open {
		return nil, nil
	}
	return room, snap.State
}
