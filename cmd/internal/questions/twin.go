package questions

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A twin is a question on the topic of another room, see [Room.Ask]; nil: there is none.
type twin struct {
	on *Topic
	q  topic.Question
}

// inTwin makes a change that concerns the question that id means in the twin that the one on t
// has. Its caller does so before it makes the change on t. What a rule refuses in the twin has
// been done before.
func inTwin(ctx context.Context, t *Topic, id string, decide fsroom.Decision[*topic.State]) (*twin, error) {
	snap, err := t.View()
	if err != nil {
		return nil, err
	}
	q, err := snap.State.Named(id)
	if err != nil {
		return nil, nil // which is for the rule to say
	}
	on := findTwin(t, snap.State, q)
	if on == nil {
		return nil, nil
	}
	after, _, err := on.Update(ctx, func(s *topic.State) ([]event.Event, error) {
		events, _ := decide(s)
		return events, nil
	})
	if err != nil {
		return nil, err
	}
	if room, st := roomOf(on.Store(), on, after.State, ""); room != nil {
		Of(room).tell(st, func(id string) bool { return id == q.AskedBy })
	}
	return &twin{on, *q}, nil
}

// findTwin returns the topic of another room that has the question too, nil if there is none.
func findTwin(t *Topic, s *topic.State, q *topic.Question) *Topic {
	room, st := roomOf(t.Store(), t, s, "")
	if room == nil || q.To == "" || q.To == topic.ToHuman || works(st, q.To) && works(st, q.AskedBy) {
		return nil
	}
	store := t.Store().Local()
	ids, _ := fsroom.Rooms(store, roomtypes.Topics())
	for _, id := range ids {
		other := fsroom.At(store, roomtypes.Topics(), id)
		if id == t.Name() {
			continue
		}
		if snap, err := other.View(); err == nil && isOfRoom(store, other, snap.State) && snap.State.Question(q.ID) != nil {
			return other
		}
	}
	return nil
}

func works(st *turn.State, id string) bool {
	m := st.Member(id)
	return m != nil && !m.Observer
}

// answered settles the question in the room of whom it is for, when both have the answer: the
// asker is shown it in its own.
func (w *twin) answered(ctx context.Context, t *Topic) {
	if w == nil {
		return
	}
	for _, t := range []*Topic{t, w.on} {
		snap, err := t.View()
		if err != nil {
			continue
		}
		if room, st := roomOf(t.Store(), t, snap.State, ""); room != nil && works(st, w.q.To) {
			_, _, _ = t.Update(ctx, func(s *topic.State) ([]event.Event, error) { return s.MarkShown(w.q.AskedBy, []string{w.q.ID}), nil })
		}
	}
}
