package questions

import (
	"context"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// Ask stores a question of the agent and returns its id. With an error the id is not
// empty if the question may have been stored all the same.
func Ask(ctx context.Context, r *Topic, agent string, request topic.AskRequest, l topic.Limits) (questionID string, err error) {
	_, _, err = r.Update(ctx, func(s *topic.State) (events []event.Event, err error) {
		events, questionID, err = s.Ask(agent, request, newQuestionID, l)
		return events, err
	})
	return questionID, err
}

// Answer stores the agent's responses. It returns the topic as it is then.
func Answer(ctx context.Context, r *Topic, agent string, responses []topic.Response) (*topic.State, topic.Tally, error) {
	var tally topic.Tally
	var twins []*twin
	for _, response := range responses {
		w, err := inTwin(ctx, r, response.QuestionID, func(s *topic.State) ([]event.Event, error) {
			events, _, err := s.Answer(agent, []topic.Response{response}, newAnswerID)
			return events, err
		})
		if err != nil {
			return nil, tally, err
		}
		twins = append(twins, w)
	}
	snap, _, err := r.Update(ctx, func(s *topic.State) (events []event.Event, err error) {
		events, tally, err = s.Answer(agent, responses, newAnswerID)
		return events, err
	})
	if err != nil {
		return nil, topic.Tally{}, err
	}
	for _, w := range twins {
		w.answered(ctx, r)
	}
	known := snap.State
	for i, skip := range tally.Skipped {
		if skip.Reason != topic.SkipNotOnTopic {
			continue
		}
		// The answers are stored, so an error must not fail the call: it only leaves
		// the reason less exact.
		if all, err := WithQuestion(ctx, r, known, skip.QuestionID); err == nil {
			known, tally.Skipped[i] = all, all.Skip(skip.QuestionID)
		}
	}
	return snap.State, tally, nil
}

// Close closes the topic. It returns the topic as it is then, and whether it was
// open before.
func Close(ctx context.Context, r *Topic, by, reason string) (s *topic.State, changed bool, err error) {
	snap, _, err := r.Update(ctx, func(s *topic.State) ([]event.Event, error) {
		events, err := s.Close(by, reason)
		changed = len(events) > 0
		return events, err
	})
	if err != nil {
		return nil, false, err
	}
	return snap.State, changed, nil
}

// Settle carries out decide, which cancels the question or marks it answered. It
// returns the topic as it is then, and whether that changed anything. If the state
// has forgotten the question, the topic returned is the history.
func Settle(ctx context.Context, r *Topic, questionID string,
	decide func(*topic.State) ([]event.Event, error)) (s *topic.State, changed bool, err error) {
	if _, err := inTwin(ctx, r, questionID, decide); err != nil {
		return nil, false, err
	}
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
