package topic

import "github.com/talking-stick/tt/journal/event"

// HasPending reports whether pending_list would offer the agent anything.
func (s *State) HasPending(agent string) bool {
	for i := range s.Questions {
		if s.Questions[i].Offered(agent) {
			return true
		}
	}
	return false
}

// PendingSettled reports whether waiting for a question to answer is over: there
// is one, or the topic is closed and none can come any more.
func (s *State) PendingSettled(agent string) bool { return s.Status != Open || s.HasPending(agent) }

// AskSettled reports whether waiting for answers to the question is over: it has
// as many as wanted, it was cancelled or marked answered, or the topic is closed.
func (s *State) AskSettled(questionID string, answers int) bool {
	q := s.Question(questionID)
	return q == nil || s.Status != Open || q.Status != Pending || len(q.Answers) >= answers
}

// A PendingQuestion is a question as it is listed to those who may answer it, and
// to its asker.
type PendingQuestion struct {
	QuestionID   string     `json:"question_id"`
	Text         string     `json:"question_text"`
	AskedAt      event.Time `json:"asked_at"`
	AskedBy      string     `json:"asked_by"`
	To           string     `json:"to_agent_id,omitempty"` // "" for anybody
	AnswersCount int        `json:"answers_count"`
}

// PendingList returns the oldest questions that the agent can answer, or with
// Mine those of its own that are pending.
func (s *State) PendingList(agent string, request PendingRequest, lookup Lookup) (*PendingResult, error) {
	if !s.Exists() {
		return nil, NotFound("topic_id", s.TopicID)
	}
	r := &PendingResult{Pending: []PendingQuestion{}, Status: StatusReady, topicID: s.TopicID, mine: request.Mine}
	r.TopicStatus = s.Status
	var size budget
	for i := range s.Questions {
		q := &s.Questions[i]
		if listed := request.Mine && q.Status == Pending && q.AskedBy == agent || !request.Mine && q.Offered(agent); !listed {
			continue
		}
		r.Total++
		if r.HasMore = r.HasMore || len(r.Pending) == request.Limit; r.HasMore {
			continue
		}
		listed, err := s.pending(q, lookup)
		if err != nil {
			return nil, err
		}
		if r.HasMore = !size.fits(listed.Text); !r.HasMore {
			r.Pending = append(r.Pending, listed)
		}
	}
	if r.Total == 0 {
		r.Status = StatusEmpty
		if request.WaitSeconds > 0 && s.Status == Open {
			r.Status = StatusTimeout
		}
	}
	return r, nil
}

func (s *State) pending(q *Question, lookup Lookup) (PendingQuestion, error) {
	var p askedPayload
	e, err := lookup.load(q.Seq, EventAsked, &p)
	if err != nil {
		return PendingQuestion{}, err
	}
	return PendingQuestion{QuestionID: q.ID, Text: p.Text, AskedAt: e.CreatedAt, AskedBy: q.AskedBy, To: q.To, AnswersCount: len(q.Answers)}, nil
}

// An Answer is one answer as the asker reads it.
type Answer struct {
	AnswerID   string     `json:"answer_id"`
	AnsweredBy string     `json:"answered_by"`
	AnsweredAt event.Time `json:"answered_at"`
	Payload    Payload    `json:"payload"`
}

// Poll tells how the question stands, with its answers but the first skip ones.
// Anybody may ask.
func (s *State) Poll(questionID string, skip int, lookup Lookup) (*PollResult, error) {
	r, err := s.poll(questionID)
	if err != nil {
		return nil, err
	}
	refs := s.Question(questionID).Answers
	skip = min(skip, len(refs))
	var size budget
	for _, ref := range refs[skip:] {
		a, err := lookup.answer(ref.Seq)
		if err != nil {
			return nil, err
		}
		if !size.fits(append(append([]string{a.Payload.Markdown}, a.Payload.Pointers...), a.Payload.Followups...)...) {
			r.HasMore = true
			next := pollAction(s.TopicID, questionID)
			next.Args.Skip = skip + len(r.Answers)
			r.NextAction = &next
			break
		}
		r.Answers = append(r.Answers, a)
	}
	if len(r.Answers) > 0 {
		r.Rendered = FollowUp(s.TopicID, s.Status == Closed, r.Answers)
	}
	return r, nil
}

// poll is Poll without the answers.
func (s *State) poll(questionID string) (*PollResult, error) {
	q, err := s.find(questionID)
	if err != nil {
		return nil, err
	}
	r := &PollResult{
		QuestionID: q.ID, Status: q.Status, To: q.To, QuestionStatus: q.Status, AcceptingAnswers: q.Status == Pending,
		Answers: []Answer{}, AnswersCount: len(q.Answers), CancelReason: q.CancelReason, Notices: s.noticesOf(), topicID: s.TopicID,
	}
	if q.Status == Pending && r.AnswersCount > 0 {
		r.Status = Answered
	}
	return r, nil
}

// AllAnswers returns every answer to a question of the state, oldest first.
func (q *Question) AllAnswers(lookup Lookup) ([]Answer, error) {
	answers := []Answer{}
	for _, ref := range q.Answers {
		a, err := lookup.answer(ref.Seq)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	return answers, nil
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
