package questions

import (
	"context"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// TopicOf returns the id of the topic that has the question, "" if none has it. The topic
// except, which may be "", is known not to have it.
func (d *Dir) TopicOf(ctx context.Context, questionID, except string) (string, error) {
	all, err := d.Index()
	if err != nil {
		return "", err
	}
	for _, s := range all.States {
		if s.TopicID == except {
			continue
		}
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
func WithQuestion(ctx context.Context, r *Topic, s *topic.State, questionID string) (*topic.State, error) {
	if !s.Forgets() || s.Question(questionID) != nil {
		return s, nil
	}
	return History(ctx, r)
}

// History returns the topic with every question that it ever had, folded from the
// whole journal.
func History(ctx context.Context, r *Topic) (*topic.State, error) {
	s := topic.NewHistory(r.Name())
	_, err := r.Events(ctx, 0, s.Apply)
	return s, err
}

// Whole is [History] with the lookup for all texts, read in one pass.
func Whole(ctx context.Context, r *Topic) (*topic.State, topic.Lookup, error) {
	s, texts := topic.NewHistory(r.Name()), map[int64]*event.Event{}
	_, err := r.Events(ctx, 0, func(e *event.Event) error {
		if e.Type == topic.EventAsked || e.Type == topic.EventAnswer {
			kept := e.Clone()
			texts[e.Seq] = &kept
		}
		return s.Apply(e)
	})
	return s, func(seq int64) (*event.Event, error) { return texts[seq], nil }, err
}

// Await waits until over reports true for the topic, or the context ends.
func Await(ctx context.Context, r *Topic, over func(*topic.State) bool) error {
	return r.Await(ctx, func(s *Snapshot) (bool, fsroom.Sleep, error) { return over(s.State), fsroom.Sleep{}, nil })
}

// OpenLookup opens the topic's journal for reading single events, until close is
// called.
func OpenLookup(ctx context.Context, r *Topic) (lookup topic.Lookup, close func(), err error) {
	return r.Lookup(ctx)
}

// ReadQuestion returns a state that has the question, as WithQuestion does, and the
// lookup for its texts.
func ReadQuestion(ctx context.Context, r *Topic, questionID string) (s *topic.State, lookup topic.Lookup, close func(), err error) {
	snap, err := r.View()
	if err != nil {
		return nil, nil, nil, err
	}
	if s, err = WithQuestion(ctx, r, snap.State, questionID); err != nil {
		return nil, nil, nil, err
	}
	lookup, close, err = OpenLookup(ctx, r)
	return s, lookup, close, err
}
