package topic

import (
	"github.com/talking-stick/tt/journal"
)

// HasPending reports whether pending_list would offer the agent anything.
func (s *State) HasPending(agent string) bool { return len(s.answerable(agent, 1)) > 0 }

// PendingSettled reports whether waiting for a question to answer is over: there
// is one, or the topic is closed and none can come any more.
func (s *State) PendingSettled(agent string) bool { return s.Status != Open || s.HasPending(agent) }

// AskSettled reports whether waiting for an answer to the question is over: it
// has one, or it was cancelled or marked answered.
func (s *State) AskSettled(questionID string) bool {
	q := s.Question(questionID)
	return q == nil || q.Status != Pending || len(q.Answers) > 0
}

func (s *State) answerable(agent string, limit int) []*Question {
	var found []*Question
	for i := range s.Questions {
		if len(found) == limit {
			break
		}
		if q := &s.Questions[i]; q.Answerable(agent) {
			found = append(found, q)
		}
	}
	return found
}

// A PendingQuestion is a question as it is offered to those who may answer it.
type PendingQuestion struct {
	QuestionID string       `json:"question_id"`
	Text       string       `json:"question_text"`
	AskedAt    journal.Time `json:"asked_at"`
	AskedBy    string       `json:"asked_by"`
}

// PendingList returns the oldest questions that the agent can answer, at most limit
// of them. Waited says whether the call was to wait for one.
func (s *State) PendingList(agent string, limit int, waited bool, lookup Lookup) (*PendingResult, error) {
	if !s.Exists() {
		return nil, NotFound("topic_id", s.TopicID)
	}
	r := &PendingResult{Pending: []PendingQuestion{}, Status: StatusReady, topicID: s.TopicID}
	for _, q := range s.answerable(agent, limit) {
		var p askedPayload
		e, err := lookup.load(q.Seq, EventAsked, &p)
		if err != nil {
			return nil, err
		}
		r.Pending = append(r.Pending, PendingQuestion{QuestionID: q.ID, Text: p.Text, AskedAt: e.CreatedAt, AskedBy: q.AskedBy})
	}
	if len(r.Pending) == 0 {
		r.Status = StatusEmpty
		if waited && s.Status == Open {
			r.Status = StatusTimeout
		}
	}
	return r, nil
}

// An Answer is one answer as the asker reads it.
type Answer struct {
	AnswerID   string       `json:"answer_id"`
	AnsweredBy string       `json:"answered_by"`
	AnsweredAt journal.Time `json:"answered_at"`
	Payload    Payload      `json:"payload"`
}

// Poll tells how the question stands, with its answers. Anybody may ask.
func (s *State) Poll(questionID string, lookup Lookup) (*PollResult, error) {
	q, err := s.find(questionID)
	if err != nil {
		return nil, err
	}
	r := &PollResult{
		QuestionID: q.ID, Status: q.Status, QuestionStatus: q.Status, AcceptingAnswers: q.Status == Pending,
		Answers: []Answer{}, AnswersCount: len(q.Answers), CancelReason: q.CancelReason, topicID: s.TopicID,
	}
	for _, ref := range q.Answers {
		a, err := lookup.answer(ref.Seq)
		if err != nil {
			return nil, err
		}
		r.Answers = append(r.Answers, a)
	}
	if len(r.Answers) > 0 {
		if q.Status == Pending {
			r.Status = Answered
		}
		r.Rendered = Render(s.TopicID, r.Answers)
	}
	return r, nil
}

func (l Lookup) answer(seq int64) (Answer, error) {
	var p answerPayload
	e, err := l.load(seq, EventAnswer, &p)
	if err != nil {
		return Answer{}, err
	}
	return Answer{AnswerID: p.AnswerID, AnsweredBy: e.From, AnsweredAt: e.CreatedAt, Payload: p.Payload}, nil
}

// QuestionText returns the text of a question of the state.
func (q *Question) QuestionText(lookup Lookup) (string, error) {
	var p askedPayload
	_, err := lookup.load(q.Seq, EventAsked, &p)
	return p.Text, err
}
