package questions

import (
	"context"
	"strings"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// Ask stores a question of the agent. It returns the topic as it is then, and the id. With an error
// the id is not empty if the question may have been stored all the same.
func Ask(ctx context.Context, r *Topic, agent string, request topic.AskRequest, l topic.Limits) (s *topic.State, id string, err error) {
	snap, _, err := r.Update(ctx, func(s *topic.State) (events []event.Event, err error) {
		events, id, err = s.Ask(agent, request, newQuestionID, l)
		return events, err
	})
	if err != nil {
		return nil, id, err
	}
	return snap.State, id, nil
}

// change makes a change that concerns the questions that the ids mean: first in their twins, then on
// the topic. It returns the topic as it is then, and whether that has changed anything.
func change(ctx context.Context, t *Topic, ids []string, decide fsroom.Decision[*topic.State]) (s *topic.State, changed bool, err error) {
	var twins []*twin
	for _, id := range ids {
		w, err := inTwin(ctx, t, id, decide)
		if err != nil {
			return nil, false, err
		}
		if w != nil {
			twins, changed = append(twins, w), changed || w.made
		}
	}
	snap, events, err := t.Update(ctx, decide)
	if c := code.Of(err); changed && (c == code.AlreadyAnswered || c == code.QuestionClosed) {
		snap, err = t.View() // the agent's other commands have seen the twin, see [Room.mend]
	}
	if err != nil {
		return nil, false, err
	}
	for _, w := range twins {
		w.answered(ctx, t)
	}
	return snap.State, changed || len(events) > 0, nil
}

// Answer stores the agent's responses. It returns the topic as it is then.
func Answer(ctx context.Context, r *Topic, agent string, responses []topic.Response) (*topic.State, topic.Tally, error) {
	var tally topic.Tally
	var ids []string
	for _, response := range responses {
		ids = append(ids, response.QuestionID)
	}
	known, _, err := change(ctx, r, ids, func(s *topic.State) (events []event.Event, err error) {
		events, tally, err = s.Answer(agent, responses, newAnswerID)
		return events, err
	})
	if err != nil {
		return nil, topic.Tally{}, err
	}
	s := known
	for i, skip := range tally.Skipped {
		if skip.Reason != topic.SkipNotOnTopic {
			continue
		}
		// The answers are stored, so an error must not fail the call: it only leaves the reason less exact.
		if all, err := WithQuestion(ctx, r, known, skip.QuestionID); err == nil {
			known, tally.Skipped[i] = all, all.Skip(skip.QuestionID)
		}
	}
	return s, tally, nil
}

// Close closes the topic. It returns the topic as it is then, and whether it was open before.
func Close(ctx context.Context, r *Topic, by, reason string) (s *topic.State, changed bool, err error) {
	snap, events, err := r.Update(ctx, func(s *topic.State) ([]event.Event, error) { return s.Close(by, reason) })
	if err != nil {
		return nil, false, err
	}
	return snap.State, len(events) > 0, nil
}

// Settle carries out decide, which cancels the question or marks it answered. It returns the topic as it is then, and whether that changed
// anything. If the state has forgotten the question, the topic returned is the history.
func Settle(ctx context.Context, r *Topic, questionID string, decide fsroom.Decision[*topic.State]) (s *topic.State, changed bool,
	err error) {
	if s, changed, err = change(ctx, r, []string{questionID}, decide); code.Of(err) != topic.QuestionNotFound {
		return s, changed, err
	}
	// A question that is found now is settled already, so there are no events.
	if s, err = History(ctx, r); err == nil {
		_, err = decide(s)
	}
	return s, false, err
}

// A twin is a question on the topic of another room, see [Room.Ask]; nil: there is none.
type twin struct {
	on   *Topic
	q    *topic.Question // nil: it is not there yet
	made bool            // by inTwin: it has changed
}

// twinOf returns the twin of a question.
func twinOf(ctx context.Context, store *fsroom.Store, q *topic.Question) (*twin, error) {
	if q.Other == "" {
		return nil, nil
	}
	on, found, _, err := find(ctx, store.Local(), q.Other, q.ID)
	if code.Of(err) == code.UnknownTarget {
		return &twin{}, nil
	}
	return &twin{on: on, q: found}, err
}

// inTwin makes a change that concerns the question that id means in the twin that the one on t has. Its caller does so before it makes the
// change on t. What a rule refuses in the twin has been done before.
func inTwin(ctx context.Context, t *Topic, id string, decide fsroom.Decision[*topic.State]) (*twin, error) {
	snap, err := t.View()
	if err != nil {
		return nil, err
	}
	q, err := snap.State.Named(id)
	if err != nil {
		return nil, nil // which is for the rule to say
	}
	w, err := twinOf(ctx, t.Store(), q)
	if err != nil || w == nil || w.q == nil {
		return nil, err
	}
	after, events, err := w.on.Update(ctx, func(s *topic.State) ([]event.Event, error) {
		events, _ := decide(s)
		return events, nil
	})
	if err != nil {
		return nil, err
	}
	w.made = len(events) > 0
	if room, st := roomOf(w.on, after.State, ""); room != nil {
		Of(room).tell(st, func(id string) bool { return id == q.AskedBy })
	}
	return w, nil
}

// answered settles the question in the room of whom it is for, when both have the answer: the asker is shown it in its own.
func (w *twin) answered(ctx context.Context, t *Topic) {
	if w.q == nil {
		return
	}
	for _, t := range []*Topic{t, w.on} {
		snap, err := t.View()
		if err != nil {
			continue
		}
		if room, st := roomOf(t, snap.State, ""); room != nil && st.Member(w.q.To) != nil && !st.Member(w.q.To).Observer {
			_, _, _ = t.Update(ctx, func(s *topic.State) ([]event.Event, error) {
				return s.MarkShown(w.q.AskedBy, []string{w.q.ID}, s.Seq), nil
			})
		}
	}
}

// mend completes on the topic of the room what a process that was killed has begun in one of two rooms and not in the other: questions of
// the agent, and answers to and withdrawals of questions of the agent or for it. What cannot be mended now is mended next time. It reports
// whether it has changed something.
func (r *Room) mend(ctx context.Context, t *Topic, s *topic.State) (changed bool) {
	for _, q := range s.All() {
		if q.Other == "" || q.AskedBy != r.Room.Self.ID && q.To != r.Room.Self.ID {
			continue
		}
		w, err := twinOf(ctx, t.Store(), q)
		if err != nil {
			continue
		}
		decide, err := r.rest(ctx, t, q, w)
		if err != nil {
			continue
		}
		events, _ := decide(s)
		if len(events) > 0 {
			_, _, err = t.Update(ctx, decide)
		}
		if settles := q.To == r.Room.Self.ID && (len(events) > 0 || !q.Owed()); settles && err == nil {
			w.answered(ctx, t)
		}
		changed = changed || err == nil
	}
	return changed
}

// rest returns the change of a pending question that the twin has had, or ought to have had:
// one that was asked in no other room is asked there, or withdrawn if it cannot be.
func (r *Room) rest(ctx context.Context, t *Topic, q *topic.Question, w *twin) (fsroom.Decision[*topic.State], error) {
	mine, reason := q.AskedBy == r.Room.Self.ID, ""
	var answers []topic.ShownAnswer
	switch {
	case w.q == nil && !mine:
	case w.q == nil:
		text, _, err := Texts(ctx, t).Question(q)
		if err != nil {
			return nothing, err
		}
		_, err = Of(r.Room.Visit(q.Other)).ask(ctx, topic.AskRequest{Question: text, To: q.To, ID: q.ID, Other: r.Room.FS.Name()}, nil)
		switch code.Of(err) {
		case code.UnknownRecipient, code.RoomNotFound, code.RoomClosed:
			reason = "it could not be asked"
		default:
			return nothing, err
		}
	case w.q.Status == topic.Cancelled:
		reason = w.q.CancelReason
	default:
		var err error
		if answers, err = Texts(ctx, w.on).Answers(w.q); err != nil {
			return nothing, err
		}
	}
	return func(s *topic.State) (events []event.Event, err error) {
		now := s.Question(q.ID)
		switch {
		case now == nil || now.Status != topic.Pending:
			return nil, nil
		case w.q == nil && mine || w.q != nil && w.q.Status == topic.Cancelled:
			return s.Cancel(q.AskedBy, q.ID, reason)
		}
		for _, a := range answers {
			if a.AnswerID == "" { // it is lost, as its readers are told
				a.Markdown, a.AnsweredBy = "", strings.TrimPrefix(a.AnsweredBy, topic.LostName)
			}
			if now.Answerable(a.AnsweredBy) {
				added, _, err := s.Answer(a.AnsweredBy, []topic.Response{{QuestionID: q.ID, Payload: a.Payload()}}, func() string { return a.AnswerID })
				if err != nil {
					return nil, err
				}
				events = append(events, added...)
			}
		}
		if len(events) == 0 && w.q != nil && w.q.Status == topic.Answered && now.Owed() {
			return s.MarkAnswered(q.AskedBy, q.ID)
		}
		return events, nil
	}, nil
}

func nothing(*topic.State) ([]event.Event, error) { return nil, nil }
