package topics

import (
	"context"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// TopicOf returns the id of the topic that has the question, "" if none has it.
func (d *Dir) TopicOf(ctx context.Context, questionID string) (string, error) {
	all, err := d.Index()
	if err != nil {
		return "", err
	}
	for _, s := range all.States {
		if s.Forgets() {
			r, err := d.Topic(s.TopicID)
			if err != nil {
				return "", err
			}
			if s, err = WithQuestion(ctx, r, s, questionID); err != nil {
				return "", err
			}
		}
		if s.Question(questionID) != nil {
			return s.TopicID, nil
		}
	}
	return "", nil
}

// WithQuestion returns a state that has the question, if the topic ever had it: s
// itself, or the history.
func WithQuestion(ctx context.Context, r *Room, s *topic.State, questionID string) (*topic.State, error) {
	if !s.Forgets() || s.Question(questionID) != nil {
		return s, nil
	}
	return History(ctx, r)
}

// History returns the topic with every question that it ever had, folded from the
// whole journal.
func History(ctx context.Context, r *Room) (*topic.State, error) {
	s := topic.NewHistory(r.Name())
	_, err := r.Events(ctx, 0, s.Apply)
	return s, err
}

// OpenLookup opens the topic's journal for reading single events, until close is
// called.
func OpenLookup(ctx context.Context, r *Room) (lookup topic.Lookup, close func(), err error) {
	reader, err := r.Reader()
	if err != nil {
		return nil, nil, err
	}
	lookup = func(seq int64) (*event.Event, error) { return reader.Event(ctx, seq) }
	return lookup, func() { _ = reader.Close() }, nil
}

// Settle carries out decide, which cancels a question or marks it answered. It
// returns the topic as it is then, and whether that changed anything. If the state
// has forgotten the question, the topic returned is the history.
func Settle(ctx context.Context, r *Room, questionID string, decide func(*topic.State) ([]event.Event, error)) (s *topic.State, changed bool, err error) {
	var forgotten bool
	snap, _, err := r.Update(ctx, func(s *topic.State) (events []event.Event, err error) {
		if forgotten = s.Forgets() && s.Question(questionID) == nil; forgotten {
			return nil, nil
		}
		events, err = decide(s)
		changed = len(events) > 0
		return events, err
	})
	if err != nil {
		return nil, false, err
	}
	if !forgotten {
		return snap.State, changed, nil
	}
	// A question that is found now is settled already, so there are no events.
	if s, err = History(ctx, r); err == nil {
		_, err = decide(s)
	}
	return s, false, err
}
