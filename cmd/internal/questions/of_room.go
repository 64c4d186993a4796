package questions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// A room of the talking stick has its questions on one topic, whose name is the room's
// name. The first question makes it. It outlives the lives of the room. Where it was
// closed, the next question makes another one.

// mostQuestions is how many questions the topic of a room takes. If none is pending
// then, the next question closes it and makes another one: looking up an old question
// reads the whole journal.
const mostQuestions = 10_000

// OfRoomID returns the id of the topic that has the questions of a room, or with n > 0
// that of the nth one after it.
func OfRoomID(room string, n int) string {
	const hash, digits = 16, idLength - 1 // the name of a room ends with 16 digits of a hash
	if n == 0 && len(room) >= hash {
		if id := "t" + room[len(room)-hash:][:digits]; IsID(id) {
			return id
		}
	}
	return hashedID(fmt.Sprintf("%s/%d", room, n))
}

// hashedID returns the id of a topic that follows from a text.
func hashedID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "t" + hex.EncodeToString(sum[:])[:idLength-1]
}

// OfRoom returns the topic that has the questions of a room, and how many came before it.
// It may not exist.
func OfRoom(store *fsroom.Store, room string) (r *Topic, n int) {
	r = At(store, room, 0)
	for next := r; next.Exists() && (n == 0 || next.HasJournal()); {
		r = next
		n++
		next = At(store, room, n)
	}
	return r, max(0, n-1)
}

// topicsOfRoom returns the topics of a room, the present one first.
func topicsOfRoom(store *fsroom.Store, room string) iter.Seq[*Topic] {
	return func(yield func(*Topic) bool) {
		for t, n := OfRoom(store, room); t.Exists() && yield(t) && n > 0; n-- {
			t = At(store, room, n-1)
		}
	}
}

// At returns the nth topic of a room, whether it exists or not.
func At(store *fsroom.Store, room string, n int) *Topic {
	return fsroom.At(store, roomtypes.Topics(), OfRoomID(room, n))
}

// AskInRoom stores a question of an agent on the topic of a room, whose path is kept with
// the topic, and makes the topic if need be. It returns the topic, the state, the id of
// the question and its event.
func AskInRoom(ctx context.Context, store *fsroom.Store, room, path, agent string, request topic.AskRequest) (r *Topic,
	s *topic.State, id string, seq int64, err error) {
	for {
		n := 0
		if r, n = OfRoom(store, room); !r.Exists() {
			if err := createOfRoom(ctx, store, room, path, n); err != nil {
				return nil, nil, "", 0, err
			}
		}
		full := false
		snap, _, err := r.Update(ctx, func(s *topic.State) (events []event.Event, err error) {
			c := s.Counts()
			if full = s.Status == topic.Closed; full {
				return nil, nil
			}
			if full = c.Total >= mostQuestions && c.Pending == 0; full {
				return s.Close("", fmt.Sprintf("the topic has had %d questions; another one follows", c.Total))
			}
			events, id, err = s.Ask(agent, request, newQuestionID, topic.DefaultLimits())
			return events, err
		})
		switch {
		case err != nil:
			return nil, nil, "", 0, err
		case !full:
			return r, snap.State, id, snap.State.Question(id).Seq, nil
		}
		if err := createOfRoom(ctx, store, room, path, n+1); err != nil {
			return nil, nil, "", 0, err
		}
	}
}

// createOfRoom makes the nth topic of a room, unless another process has done so.
func createOfRoom(ctx context.Context, store *fsroom.Store, room, path string, n int) error {
	unlock, err := store.LockFolder(ctx, roomtypes.Topics().Folder)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	r := At(store, room, n)
	if r.Exists() && r.HasJournal() {
		return nil
	}
	ordinal, err := nextOrdinal(store)
	if err != nil {
		return err
	}
	_, _, err = r.Update(ctx, func(s *topic.State) ([]event.Event, error) {
		if s.Exists() {
			return nil, nil
		}
		return topic.CreateNamed(room, wire.Append(nil, &ofRoom{path}), ordinal), nil
	})
	return err
}

// nextOrdinal returns the number of the next topic that is made, see [topic.State].
func nextOrdinal(store *fsroom.Store) (next int64, err error) {
	store = store.Offline()
	ids, err := fsroom.Rooms(store, roomtypes.Topics())
	next = 1
	for _, id := range ids {
		if snap, err := fsroom.At(store, roomtypes.Topics(), id).View(); err == nil { // one that is damaged does not matter
			next = max(next, snap.State.Ordinal+1)
		}
	}
	return next, err
}

// ofRoom is the metadata of the topic of a room.
type ofRoom struct {
	Path string `json:"path"`
}

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
