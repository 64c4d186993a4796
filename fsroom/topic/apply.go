package topic

import (
	"cmp"
	"errors"
	"slices"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// Apply folds one event into the state. An event of an unknown type only moves Seq,
// and so does one that does not fit the state, such as a second answer of the same
// agent: what is in the journal was decided. An error means a payload that cannot be
// read, a topic of a newer format, or one that does not begin with how it was made.
func (s *State) Apply(e *event.Event) error {
	if err := s.fold(e); err != nil {
		return err
	}
	s.Seq = e.Seq
	return nil
}

func (s *State) fold(e *event.Event) error {
	if e.Seq == 1 && e.Type != EventCreated && !s.Exists() {
		return errors.New("the first event of the topic is not that which made it")
	}
	switch e.Type {
	case EventCreated:
		return s.applyCreated(e)
	case EventClosed:
		s.applyClosed(e)
	case EventAsked:
		return s.applyAsked(e)
	case EventCancelled:
		return s.settle(e, Cancelled, e.Reason)
	case EventMarked:
		return s.settle(e, Answered, "")
	case EventAnswer:
		return s.applyAnswer(e)
	case event.JournalDamaged:
		return s.applyLoss(e)
	}
	return nil
}

// applyLoss makes s the state that the topic goes on from after events were lost.
func (s *State) applyLoss(e *event.Event) error {
	var p event.Loss
	if err := decode(e, &p); err != nil || len(p.State) == 0 {
		return err
	}
	known := New(s.TopicID)
	if err := wire.Decode(p.State, known); err != nil {
		return err
	}
	if known.whole = s.whole; s.whole {
		older := slices.DeleteFunc(s.Questions, func(q Question) bool { return known.indexed(q.ID) != nil })
		known.Questions, known.index, known.Forgotten = append(older, known.Questions...), nil, known.Forgotten-len(older)
	}
	known.TopicID = cmp.Or(s.TopicID, known.TopicID)
	*s = *known
	return nil
}

func (s *State) applyCreated(e *event.Event) error {
	var p createdPayload
	if err := decode(e, &p); err != nil {
		return err
	}
	if p.Format > Format {
		return code.New(code.UnsupportedFormat, "the topic was written by a newer version (format %d, this one knows %d)", p.Format, Format).
			WithHint("update; the topic was left untouched")
	}
	if s.Exists() {
		return nil
	}
	s.TopicID, s.Name, s.Status, s.Ordinal = cmp.Or(s.TopicID, e.RoomID), p.Name, Open, p.Ordinal
	s.CreatedAt, s.Metadata = e.CreatedAt, slices.Clone(p.Metadata)
	return nil
}

func (s *State) applyClosed(e *event.Event) {
	if s.Status == Open {
		at := e.CreatedAt
		s.Status, s.ClosedAt, s.CloseReason = Closed, &at, e.Reason
	}
}

func (s *State) applyAsked(e *event.Event) error {
	var p askedPayload
	if err := decode(e, &p); err != nil {
		return err
	}
	if s.Status == Closed {
		s.Status, s.ClosedAt, s.CloseReason = Open, nil, ""
	}
	if s.indexed(p.QuestionID) == nil {
		s.index[p.QuestionID] = len(s.Questions)
		at := e.CreatedAt
		s.Questions = append(s.Questions, Question{ID: p.QuestionID, AskedBy: e.From, To: e.To, Other: p.Other, AskedAt: &at,
			Status: Pending, Seq: e.Seq})
	}
	return nil
}

// indexed is Question for a fold, which looks up a question with every event.
func (s *State) indexed(id string) *Question {
	if s.index == nil {
		s.index = make(map[string]int, len(s.Questions))
		for i := range s.Questions {
			s.index[s.Questions[i].ID] = i
		}
	}
	return s.Question(id)
}

// settle ends a pending question and drops what only a pending question needs.
func (s *State) settle(e *event.Event, status, reason string) error {
	q, err := s.pendingOf(e)
	if q == nil {
		return err
	}
	q.Status, q.CancelReason, q.AskedAt, q.SettledBy = status, reason, nil, e.Seq
	var answers []AnswerRef // a new slice, because a clone of the state shares the old one
	for _, a := range q.Answers {
		answers = append(answers, AnswerRef{Seq: a.Seq})
	}
	q.Answers = answers
	if status == Answered {
		s.Answered++
	} else {
		s.Cancelled++
	}
	s.forget()
	return nil
}

// forget drops the questions that were settled first once there are twice
// [KeptSettled]. It drops many at once, so that a fold takes linear time.
func (s *State) forget() {
	if s.whole || s.settled() < 2*KeptSettled {
		return
	}
	var settled []int64
	for i := range s.Questions {
		if s.Questions[i].Status != Pending {
			settled = append(settled, s.Questions[i].SettledBy)
		}
	}
	slices.Sort(settled)
	first := settled[len(settled)-KeptSettled]
	s.Forgotten += len(settled) - KeptSettled
	s.Questions = slices.DeleteFunc(s.Questions, func(q Question) bool { return q.Status != Pending && q.SettledBy < first })
	s.index = nil
}

func (s *State) applyAnswer(e *event.Event) error {
	q, err := s.pendingOf(e)
	if q == nil || !q.Answerable(e.From) {
		return err
	}
	// Clip makes append copy, because a clone of the state shares the answers.
	q.Answers = append(slices.Clip(q.Answers), AnswerRef{AnsweredBy: e.From, Seq: e.Seq})
	return nil
}

// pendingOf returns the question that the event is about, nil if it is not pending.
func (s *State) pendingOf(e *event.Event) (*Question, error) {
	var p questionPayload
	if err := decode(e, &p); err != nil {
		return nil, err
	}
	q := s.indexed(p.QuestionID)
	if q == nil || q.Status != Pending {
		return nil, nil
	}
	return q, nil
}
