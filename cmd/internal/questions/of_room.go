package questions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
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
	if store.Options().Engine == nil { // which lets one host make it
		unlock, err := store.LockFolder(ctx, roomtypes.Topics().Folder)
		if err != nil {
			return err
		}
		defer func() { _ = unlock() }()
	}
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
