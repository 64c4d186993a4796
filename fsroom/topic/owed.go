package topic

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// These are the rules of the questions of a room of the talking stick, for the commands
// of tt. Their refusals have the codes of tt. Agents of the bus answer the same questions
// by the other rules of this package.

// Owed reports whether nobody has given the answer that the question asks for: that of
// the agent it is for, of any person, or of anybody. The answer of another agent helps
// and settles no debt.
func (q *Question) Owed() bool {
	return q.Status == Pending && !slices.ContainsFunc(q.Answers, func(a AnswerRef) bool { return q.isFor(a.AnsweredBy) })
}

// OwedBy reports whether the agent owes the answer.
func (q *Question) OwedBy(agent string) bool { return q.Owed() && q.OfferedTo(agent) }

// Debts returns the questions that the agent owes an answer, oldest first. The pointers
// are valid until the next Apply.
func (s *State) Debts(agent string) []*Question {
	return s.selectQuestions(func(q *Question) bool { return q.OwedBy(agent) })
}

// All returns the pending questions, oldest first. The pointers are valid until the next
// Apply.
func (s *State) All() []*Question {
	return s.selectQuestions(func(q *Question) bool { return q.Status == Pending })
}

// shortestPrefix is how many characters of an id name a question, at least.
const shortestPrefix = 4

// Named returns the question that an id or the first characters of one mean: a pending
// one if there is one. It refuses others with unknown_target and ambiguous_target.
func (s *State) Named(id string) (*Question, error) {
	if q := s.Question(id); q != nil {
		return q, nil
	}
	unknown := code.New(code.UnknownTarget, "the room has no question %q", Clip(id)).
		WithHint("tt questions lists the open ones").With("question_id", id)
	if len(id) < shortestPrefix {
		return nil, unknown.WithHint("give the id, or its first %d or more characters; tt questions lists the open ones", shortestPrefix)
	}
	found := s.selectQuestions(func(q *Question) bool { return strings.HasPrefix(q.ID, id) })
	pending := slices.DeleteFunc(slices.Clone(found), func(q *Question) bool { return q.Status != Pending })
	if len(pending) > 0 {
		found = pending
	}
	switch len(found) {
	case 0:
		return nil, unknown
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, q := range found {
		ids = append(ids, q.ID)
	}
	return nil, code.New(code.AmbiguousTarget, "%s means more than one question: %s", id, strings.Join(ids, ", ")).
		WithHint("give more characters of the id").With("candidates", ids)
}

// AnswerOne stores the agent's answer to the question that id means under the id of an answer.
func (s *State) AnswerOne(agent, id, markdown, answerID string) (events []event.Event, q *Question, err error) {
	if q, err = s.Named(id); err != nil {
		return nil, nil, err
	}
	switch {
	case q.AskedBy == agent:
		return nil, nil, code.New(code.OwnQuestion, "you asked question %s yourself", q.ID).
			WithHint("tt questions close %s withdraws it", q.ID).With("question_id", q.ID)
	case q.Status != Pending:
		return nil, nil, SettledError(q)
	case q.answeredBy(agent):
		return nil, nil, code.New(code.AlreadyAnswered, "you have answered question %s already", q.ID).
			WithHint(`what you want to add is a message: tt msg send %s "…"`, q.AskedBy).With("question_id", q.ID)
	}
	return []event.Event{answerEvent(q, agent, answerID, Payload{Markdown: markdown})}, q, nil
}

// SettledError returns the refusal to answer a question that is settled.
func SettledError(q *Question) error {
	return code.New(code.QuestionClosed, "question %s is %s", q.ID, q.Status).With("question_id", q.ID).With("status", q.Status).
		WithHint("tt questions lists the open ones")
}

// CloseOne settles the question that id means: as answered if it has answers, otherwise
// as cancelled. Its asker may do so, and a person with a reason. A question that is
// settled stays as it is.
func (s *State) CloseOne(agent string, person bool, id, reason string) (events []event.Event, q *Question, err error) {
	if q, err = s.Named(id); err != nil || q.Status != Pending {
		return nil, q, err
	}
	switch {
	case q.AskedBy == agent:
	case !person:
		return nil, nil, code.New(code.UnknownTarget, "question %s was asked by %s: only its asker, or a person, closes it", q.ID, q.AskedBy).
			With("question_id", q.ID).With("asked_by", q.AskedBy)
	case strings.TrimSpace(reason) == "":
		return nil, nil, code.New(code.ReasonRequired, "question %s was asked by %s: say why you close it", q.ID, q.AskedBy).
			WithHint(`add --reason "…"`).With("question_id", q.ID)
	}
	e := event.Event{Type: EventCancelled, From: agent, Reason: reason, Payload: payload(&questionPayload{q.ID})}
	if len(q.Answers) > 0 {
		e.Type = EventMarked
	}
	return []event.Event{e}, q, nil
}

// MarkShown marks questions of the agent's as answered when it was shown their answers up to the event last.
// Those that still wait for the answer they ask for, or have a later one, stay pending.
func (s *State) MarkShown(agent string, ids []string, last int64) (events []event.Event) {
	for _, id := range ids {
		if q := s.Question(id); q != nil && q.Status == Pending && q.AskedBy == agent && !q.Owed() &&
			!slices.ContainsFunc(q.Answers, func(a AnswerRef) bool { return a.Seq > last }) {
			events = append(events, event.Event{Type: EventMarked, From: agent, Payload: payload(&questionPayload{q.ID})})
		}
	}
	return events
}

// An Answering is an answer to a question.
type Answering struct {
	*Question
	AnswerRef
}

// NewAnswers returns the answers to pending questions of the agent that it was not shown, in the order in which they
// came. The pointers are valid until the next Apply.
func (s *State) NewAnswers(agent string, seen *talk.Seen) (found []Answering) {
	for _, q := range s.Own(agent) {
		for _, ref := range q.Answers {
			if !seen.Has(talk.KindAnswer, ref.Seq) {
				found = append(found, Answering{q, ref})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Answering) int { return cmp.Compare(a.AnswerRef.Seq, b.AnswerRef.Seq) })
	return found
}
