// Package topic holds the rules of the agent bus: topics, on which agents ask
// each other questions.
//
// A topic is a [State], which is the fold of its journal:
//
//	(*State).Ask, Answer, Cancel, …   a request becomes events or a refusal    decide.go
//	(*State).Apply(event)             the fold, live and on replay alike       state.go
//	(*State).Offered, Lookup.Answer   what there is to see                     view.go
//	(*State).Owed, AnswerOne, CloseOne   questions as tt shows and settles them   owed.go
//	Create, Find, Select              the topics of one data directory         view.go
//
// Nothing here reads a clock or a disk. The caller makes new ids, times come
// from the events, and a [Lookup] reads what the state does not hold.
//
// Any number of agents may answer a question, each of them once, and nobody
// answers a question of its own. Only the asker cancels a question or marks it
// answered. A closed topic takes no new questions of the bus; pending ones can still be
// answered. An agent is known by the agent_name under which it joined, which is
// the from_agent_id of its events.
//
// # Size
//
// Every change writes the whole state, so the state holds only what decisions
// need. The texts of questions and answers stay in the journal. A pending
// question takes about 150 bytes of the state, and each of its answers 50. A
// settled question (cancelled or marked answered) takes about 100 bytes, and the
// state forgets it once enough others were settled later: see [KeptSettled]. The
// state that starts from [NewHistory] forgets nothing.
//
// Each answer is one event, because fifty answers of the greatest length do not
// fit into one line. A batch of answers is one change: the journal stores all of
// its lines or none.
package topic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// Format is the version of the journal's events and of the state. A topic of a
// higher one is refused and left untouched.
const Format = 1

// The status of a topic.
const (
	Open   = "open"
	Closed = "closed"
)

// The status of a question.
const (
	Pending   = "pending"   // accepting answers, whether it has some or not
	Answered  = "answered"  // closed by its asker
	Cancelled = "cancelled" // by its asker
)

// KeptSettled is how many settled questions a state keeps at least: those that were
// settled last. With twice as many it forgets the others, which are still in the
// state that starts from [NewHistory].
const KeptSettled = 100

// A State is one topic, the fold of its journal.
type State struct {
	TopicID     string          `json:"topic_id"`
	Name        string          `json:"name"`
	Status      string          `json:"status"` // "" until the topic is created
	Ordinal     int64           `json:"ordinal"`
	CreatedAt   event.Time      `json:"created_at"`
	ClosedAt    *event.Time     `json:"closed_at,omitzero"`
	CloseReason string          `json:"close_reason,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Seq         int64           `json:"last_event_seq"`
	// Questions are the pending questions and those that were settled last, in the
	// order in which they were asked.
	Questions []Question `json:"questions,omitempty"`
	Answered  int        `json:"answered"` // questions ever marked answered
	Cancelled int        `json:"cancelled"`
	Forgotten int        `json:"forgotten"` // of Answered and Cancelled, those that are not in Questions

	index map[string]int // from id to index in Questions; nil if it is not built
	whole bool           // forget nothing
}

// A Question is the part of a question that decisions need. Its text is in the event
// Seq.
type Question struct {
	ID           string      `json:"question_id"`
	AskedBy      string      `json:"asked_by"`
	To           string      `json:"to,omitempty"`         // an agent, [talk.AnyPerson], or "" for anybody
	Other        string      `json:"other_room,omitempty"` // the name of another room that has the question too, "" if none has
	AskedAt      *event.Time `json:"asked_at,omitzero"`    // while pending
	Status       string      `json:"status"`
	Seq          int64       `json:"event_seq"`
	Answers      []AnswerRef `json:"answers,omitempty"` // oldest first
	CancelReason string      `json:"cancel_reason,omitempty"`
	SettledBy    int64       `json:"settled_by,omitempty"` // the event that cancelled it or marked it answered
}

// An AnswerRef says which event is an answer. AnsweredBy is kept while the question
// is pending, when it decides who else may answer.
type AnswerRef struct {
	AnsweredBy string `json:"answered_by,omitempty"`
	Seq        int64  `json:"event_seq"`
}

// New returns the state of a topic without events.
func New(topicID string) *State { return &State{TopicID: topicID} }

// NewHistory is New for a state that keeps every question. Such a state is folded
// from the whole journal and never stored.
func NewHistory(topicID string) *State {
	s := New(topicID)
	s.whole = true
	return s
}

// Exists reports whether the topic has been created.
func (s *State) Exists() bool { return s.Status != "" }

// Life names the topic and the life of it, "" before it begins. One that was removed has the same id when it is made again,
// and other questions under the same numbers.
func (s *State) Life() string {
	if !s.Exists() {
		return ""
	}
	return s.TopicID + "@" + strconv.FormatInt(s.CreatedAt.UnixMilli(), 36)
}

// Clone returns a copy that shares nothing that Apply changes.
func (s *State) Clone() *State {
	c := *s
	c.Questions = slices.Clone(s.Questions)
	c.index = nil
	return &c
}

// Question returns the question with the id, nil if the topic has none or the state
// has forgotten it; see [State.Forgets]. The pointer is valid until the next Apply.
func (s *State) Question(id string) *Question {
	if s.index != nil {
		if i, ok := s.index[id]; ok {
			return &s.Questions[i]
		}
		return nil
	}
	// The newest first, because requests are almost always about recent questions.
	for i := len(s.Questions) - 1; i >= 0; i-- {
		if s.Questions[i].ID == id {
			return &s.Questions[i]
		}
	}
	return nil
}

// Forgets reports whether the state has forgotten questions of the topic, all of
// which are settled.
func (s *State) Forgets() bool { return s.Forgotten > 0 }

// settled counts the settled questions that the state has.
func (s *State) settled() int { return s.Answered + s.Cancelled - s.Forgotten }

// Answerable reports whether the agent may answer the question: it is pending,
// another agent asked it, and the agent has not answered it.
func (q *Question) Answerable(agent string) bool {
	return q.Status == Pending && q.AskedBy != agent && !q.answeredBy(agent)
}

// OfferedTo reports whether the question is listed to the agent as one to answer:
// the agent may answer it, and it is for this agent or for anybody.
func (q *Question) OfferedTo(agent string) bool { return q.isFor(agent) && q.Answerable(agent) }

// isFor reports whether the question is for the agent, or for anybody.
func (q *Question) isFor(agent string) bool {
	return q.To == "" || q.To == agent || q.To == talk.AnyPerson && strings.HasPrefix(agent, "human:")
}

func (q *Question) answeredBy(agent string) bool {
	return slices.ContainsFunc(q.Answers, func(a AnswerRef) bool { return a.AnsweredBy == agent })
}

// Counts are a topic's questions by status.
type Counts struct {
	Total     int `json:"total"` // the sum of the others
	Pending   int `json:"pending"`
	Answered  int `json:"answered"`
	Cancelled int `json:"cancelled"`
}

// String returns the counts as text.
func (c Counts) String() string {
	return fmt.Sprintf("%d pending, %d answered, %d cancelled", c.Pending, c.Answered, c.Cancelled)
}

// Counts counts the questions, also the forgotten ones.
func (s *State) Counts() Counts {
	c := Counts{Pending: len(s.Questions) - s.settled(), Answered: s.Answered, Cancelled: s.Cancelled}
	c.Total = c.Pending + c.Answered + c.Cancelled
	return c
}

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
		return errors.New("the first event of the topic is not that which made it; put it aside with: agent-bus cli archive " + s.TopicID)
	}
	switch e.Type {
	case EventCreated:
		return s.applyCreated(e)
	case EventClosed:
		if s.Status == Open {
			at := e.CreatedAt
			s.Status, s.ClosedAt, s.CloseReason = Closed, &at, e.Reason
		}
	case EventAsked:
		return talk.Fold(e, s.applyAsked)
	case EventCancelled:
		return s.settle(e, Cancelled, e.Reason)
	case EventMarked:
		return s.settle(e, Answered, "")
	case EventAnswer:
		return s.ofPending(e, func(q *Question) {
			if q.Answerable(e.From) { // Clip makes append copy, because a clone of the state shares the answers
				q.Answers = append(slices.Clip(q.Answers), AnswerRef{AnsweredBy: e.From, Seq: e.Seq})
			}
		})
	case event.JournalDamaged:
		return s.applyLoss(e)
	}
	return nil
}

// applyLoss makes s the state that the topic goes on from after events were lost.
func (s *State) applyLoss(e *event.Event) error {
	var p event.Loss
	if err := talk.Decode(e, &p); err != nil || len(p.State) == 0 {
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
	if err := talk.Decode(e, &p); err != nil {
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

func (s *State) applyAsked(e *event.Event, p askedPayload) {
	if s.Status == Closed {
		s.Status, s.ClosedAt, s.CloseReason = Open, nil, ""
	}
	if s.indexed(p.QuestionID) == nil {
		s.index[p.QuestionID] = len(s.Questions)
		at := e.CreatedAt
		s.Questions = append(s.Questions, Question{ID: p.QuestionID, AskedBy: e.From, To: e.To, Other: p.Other, AskedAt: &at,
			Status: Pending, Seq: e.Seq})
	}
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
	return s.ofPending(e, func(q *Question) {
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
	})
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

// ofPending calls change with the question that the event is about, if it is pending.
func (s *State) ofPending(e *event.Event, change func(*Question)) error {
	return talk.Fold(e, func(_ *event.Event, p questionPayload) {
		if q := s.indexed(p.QuestionID); q != nil && q.Status == Pending {
			change(q)
		}
	})
}
