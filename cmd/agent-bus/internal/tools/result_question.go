package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// The status of an ask or pending_list, where it is not the status of a question.
const (
	StatusQueued  = "queued"
	StatusTimeout = "timeout"
	StatusReady   = "ready"
	StatusEmpty   = "empty"
)

// A QueuedResult answers an ask that has no answer yet.
type QueuedResult struct {
	QuestionID     string     `json:"question_id"`
	Status         string     `json:"status"`                    // queued, or timeout after a wait
	AskedBy        string     `json:"asked_by,omitempty"`        // when queued
	To             string     `json:"to_agent_id,omitempty"`     // "" for anybody
	QuestionStatus string     `json:"question_status,omitempty"` // after a wait: pending
	Listeners      *int       `json:"listeners,omitempty"`       // after a wait: the agents that it is offered to and that could hear of it
	NextAction     NextAction `json:"next_action"`
	ClientPlan     ClientPlan `json:"client_plan"`
	Notices
}

// NewQueuedResult returns the result of an ask that does not wait.
func NewQueuedResult(topicID, questionID, agent, to string) *QueuedResult {
	return &QueuedResult{
		QuestionID: questionID, Status: StatusQueued, AskedBy: agent, To: to,
		NextAction: pollAction(topicID, questionID), ClientPlan: ClientPlan{MaxAttempts: 3},
	}
}

func (r *QueuedResult) Text() string {
	text := "Your question, asked by " + r.AskedBy + ", is queued."
	switch {
	case r.Status == StatusTimeout:
		text = "Nobody has answered yet; the question stays open, question_status=" + r.QuestionStatus + "."
		if n := r.Listeners; n != nil {
			text += " Listeners: " + code.Count(*n, "agent") + " could hear of it."
		}
	case r.To != "":
		text = "Your question, asked by " + r.AskedBy + ", is queued for " + r.To + "."
	}
	return fmt.Sprintf("%s: question_id=%s\n%s\nNext: %s, up to %d times.", r.Status, r.QuestionID,
		text, r.NextAction.Call(), r.ClientPlan.MaxAttempts)
}

// A PollResult answers ask_poll, and an ask that was answered.
type PollResult struct {
	QuestionID       string         `json:"question_id"`
	Status           string         `json:"status"`                // answered as soon as there is an answer
	To               string         `json:"to_agent_id,omitempty"` // "" for anybody
	QuestionStatus   string         `json:"question_status"`       // as stored
	AcceptingAnswers bool           `json:"accepting_answers"`
	Answers          []topic.Answer `json:"answers"`       // oldest first
	AnswersCount     int            `json:"answers_count"` // also of those that are not in Answers
	CancelReason     string         `json:"cancel_reason,omitempty"`
	Rendered         string         `json:"rendered,omitempty"`        // the request to follow up, see [FollowUp]; when there are answers
	HasMore          bool           `json:"has_more,omitempty"`        // there are later answers: see [MaxResultChars]
	NextAction       *NextAction    `json:"next_action,omitempty"`     // how to read them
	Missing          int            `json:"missing_answers,omitempty"` // after a wait for several that ended with fewer
	Notices

	topicID string
}

func (r *PollResult) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: question_id=%s, question_status=%s, accepting_answers=%t, answers_count=%d",
		r.Status, r.QuestionID, r.QuestionStatus, r.AcceptingAnswers, r.AnswersCount)
	if r.To != "" {
		fmt.Fprintf(&b, ", to_agent_id=%s", r.To)
	}
	if r.Missing > 0 {
		fmt.Fprintf(&b, ", missing_answers=%d: the wait ended before", r.Missing)
	}
	if r.CancelReason != "" {
		b.WriteString("\nreason: " + r.CancelReason)
	}
	switch {
	case len(r.Answers) > 0:
		b.WriteString("\n" + RenderAnswers(r.Answers))
		if r.HasMore {
			fmt.Fprintf(&b, "Later answers are not shown. Next: %s\n\n", r.NextAction.Call())
		}
		b.WriteString(r.Rendered)
	case r.AnswersCount > 0:
		b.WriteString("\nAll answers were skipped.")
	case r.Status == topic.Answered:
		b.WriteString("\nIt was marked answered; there is no answer.")
	case r.Status == topic.Pending:
		b.WriteString("\nNobody has answered yet.")
	}
	return b.String()
}

// NewPollResult returns the status of a question and its answers without the first skip ones,
// as many as fit into a result. Anybody may ask.
func NewPollResult(s *topic.State, questionID string, skip int, lookup topic.Lookup) (*PollResult, error) {
	q, err := s.FindQuestion(questionID)
	if err != nil {
		return nil, err
	}
	r := &PollResult{
		QuestionID: q.ID, Status: q.Status, To: q.To, QuestionStatus: q.Status, AcceptingAnswers: q.Status == topic.Pending,
		Answers: []topic.Answer{}, AnswersCount: len(q.Answers), CancelReason: q.CancelReason, Notices: noticesOf(s), topicID: s.TopicID,
	}
	if q.Status == topic.Pending && len(q.Answers) > 0 {
		r.Status = topic.Answered
	}
	skip = min(skip, len(q.Answers))
	var size budget
	for _, ref := range q.Answers[skip:] {
		a, err := lookup.Answer(ref)
		if err != nil {
			return nil, err
		}
		if !size.fits(slices.Concat([]string{a.Payload.Markdown}, a.Payload.Pointers, a.Payload.Followups)...) {
			r.HasMore = true
			next := pollAction(s.TopicID, questionID)
			next.Args.Skip, next.Args.WaitSeconds = skip+len(r.Answers), 0
			r.NextAction = &next
			break
		}
		r.Answers = append(r.Answers, a)
	}
	if len(r.Answers) > 0 {
		r.Rendered = FollowUp(s.TopicID, s.Status == topic.Closed, r.Answers)
	}
	return r, nil
}

// AskResult returns the poll as the result of an ask that has waited until then.
// Listeners is the number of agents that could hear of it, negative if it is not known.
func (r *PollResult) AskResult(listeners int) Result {
	switch r.Status {
	case topic.Pending:
		timeout := NewQueuedResult(r.topicID, r.QuestionID, "", r.To)
		timeout.Status, timeout.QuestionStatus, timeout.Notices = StatusTimeout, r.QuestionStatus, r.Notices
		if listeners >= 0 {
			timeout.Listeners = &listeners
		}
		return timeout
	case topic.Cancelled:
		return &SettledResult{QuestionID: r.QuestionID, Status: topic.Cancelled, CancelReason: r.CancelReason, Notices: r.Notices}
	}
	return r
}

// A SettledResult answers ask_cancel and question_mark_answered, and an ask whose
// question was cancelled while it waited.
type SettledResult struct {
	TopicID      string `json:"topic_id,omitempty"` // not of an ask
	QuestionID   string `json:"question_id"`
	Status       string `json:"status"` // cancelled or answered
	CancelReason string `json:"cancel_reason,omitempty"`
	Notices
}

// NewSettledResult returns the result of the call that has settled the question.
func NewSettledResult(s *topic.State, questionID string) *SettledResult {
	q := s.Question(questionID)
	return &SettledResult{TopicID: s.TopicID, QuestionID: q.ID, Status: q.Status, CancelReason: q.CancelReason, Notices: noticesOf(s)}
}

func (r *SettledResult) Text() string {
	text := fmt.Sprintf("%s: question_id=%s", r.Status, r.QuestionID)
	if r.TopicID != "" {
		text += ", topic_id=" + r.TopicID
	}
	if r.Status == topic.Answered {
		text += "\nIt is not offered to anybody any more."
	}
	if r.CancelReason != "" {
		text += "\nreason: " + r.CancelReason
	}
	return text
}

// A PendingResult answers pending_list.
type PendingResult struct {
	Pending []topic.PendingQuestion `json:"pending"` // oldest first
	Status  string                  `json:"status"`  // ready, empty, or timeout after a wait
	Total   int                     `json:"total"`
	HasMore bool                    `json:"has_more,omitempty"` // later questions were left out: see limit and [MaxResultChars]
	Notices

	topicID string
	mine    bool
}

// PendingList returns the oldest questions that the agent can answer, or with Mine
// the newest pending ones of its own, as many as fit into a result.
func PendingList(s *topic.State, agent string, request *Pending, lookup topic.Lookup) (Result, error) {
	if !s.Exists() {
		return nil, topic.NotFound("topic_id", s.TopicID)
	}
	questions := s.Offered(agent)
	if request.Mine {
		questions = s.Own(agent)
		slices.Reverse(questions) // the newest is the one whose ask was interrupted
	}
	r := &PendingResult{
		Pending: []topic.PendingQuestion{}, Status: StatusReady, Total: len(questions), Notices: Notices{TopicStatus: s.Status},
		topicID: s.TopicID, mine: request.Mine,
	}
	var size budget
	for _, q := range questions {
		if r.HasMore = len(r.Pending) == request.Limit; r.HasMore {
			break
		}
		pending, err := lookup.Pending(q)
		if err != nil {
			return nil, err
		}
		if r.HasMore = !size.fits(pending.Text); r.HasMore {
			break
		}
		r.Pending = append(r.Pending, pending)
	}
	if r.Total == 0 {
		r.Status = StatusEmpty
		if request.WaitSeconds > 0 && s.Status == topic.Open {
			r.Status = StatusTimeout
		}
	}
	return r, nil
}

func (r *PendingResult) Text() string {
	what, end := "to answer", "oldest"
	if r.mine {
		what, end = "of your own that is open", "newest"
	}
	if len(r.Pending) == 0 {
		return fmt.Sprintf("%s: no question %s on topic_id=%s, topic_status=%s", r.Status, what, r.topicID, r.TopicStatus)
	}
	var b strings.Builder
	if r.mine {
		fmt.Fprintf(&b, "%s: %d of your own that are open, topic_status=%s; see answers with ask_poll, close with "+
			"question_mark_answered or ask_cancel\n", r.Status, r.Total, r.TopicStatus)
	} else {
		fmt.Fprintf(&b, "%s: %d to answer with answer(topic_id=%q, responses=[…]), topic_status=%s\n", r.Status, r.Total,
			r.topicID, r.TopicStatus)
	}
	for _, q := range r.Pending {
		fmt.Fprintf(&b, "\nquestion_id=%s\nasked by %s at %s", q.QuestionID, q.AskedBy, q.AskedAt)
		if q.To != "" {
			fmt.Fprintf(&b, " to %s", q.To)
		}
		fmt.Fprintf(&b, ", %s so far\n%s\n", code.Count(q.AnswersCount, "answer"), Enclosed(q.Text))
	}
	if r.HasMore {
		fmt.Fprintf(&b, "\nThe %s %d of %d are shown.\n", end, len(r.Pending), r.Total)
	}
	return b.String()
}

// A SavedResult answers answer.
type SavedResult struct {
	Saved      int          `json:"saved"`
	Skipped    int          `json:"skipped"`
	Reasons    []topic.Skip `json:"skipped_questions,omitempty"`
	NextAction NextAction   `json:"next_action"`
	ClientPlan ClientPlan   `json:"client_plan"`
	Notices
}

// NewSavedResult returns the result of answer.
func NewSavedResult(s *topic.State, t topic.Tally) *SavedResult {
	// The plan has no delay, because pending_list waits.
	return &SavedResult{
		Saved: len(t.AnswerIDs), Skipped: len(t.Skipped), Reasons: t.Skipped, ClientPlan: ClientPlan{MaxAttempts: 3}, Notices: noticesOf(s),
		NextAction: NextAction{"pending_list", CallArgs{TopicID: s.TopicID, Limit: DefaultListLimit, WaitSeconds: DefaultWaitSeconds}},
	}
}

func (r *SavedResult) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "saved %d, skipped %d\n", r.Saved, r.Skipped)
	for _, skip := range r.Reasons {
		fmt.Fprintf(&b, "skipped question_id=%s: %s\n", skip.QuestionID, skip.Reason)
	}
	fmt.Fprintf(&b, "Next: %s, up to %d times.", r.NextAction.Call(), r.ClientPlan.MaxAttempts)
	return b.String()
}

// A NextAction is the call that the agent should make next.
type NextAction struct {
	Tool string   `json:"tool"`
	Args CallArgs `json:"args"`
}

// CallArgs are the arguments of a [NextAction], without those that are zero.
type CallArgs struct {
	TopicID     string `json:"topic_id"`
	QuestionID  string `json:"question_id,omitempty"`
	Skip        int    `json:"skip,omitempty"`
	Limit       int    `json:"limit,omitempty"`
	WaitSeconds int    `json:"wait_seconds,omitempty"`
}

// A ClientPlan says how often to make the call.
type ClientPlan struct {
	MaxAttempts int `json:"max_attempts"`
}

func pollAction(topicID, questionID string) NextAction {
	return NextAction{Tool: "ask_poll", Args: CallArgs{TopicID: topicID, QuestionID: questionID, WaitSeconds: MaxWaitSeconds}}
}

// Call writes the action as a call: ask_poll(topic_id="…", question_id="…").
func (a NextAction) Call() string {
	text := fmt.Sprintf("%s(topic_id=%q", a.Tool, a.Args.TopicID)
	if a.Args.QuestionID != "" {
		text += fmt.Sprintf(", question_id=%q", a.Args.QuestionID)
	}
	for _, arg := range []struct {
		name  string
		value int
	}{{"skip", a.Args.Skip}, {"limit", a.Args.Limit}, {"wait_seconds", a.Args.WaitSeconds}} {
		if arg.value != 0 {
			text += fmt.Sprintf(", %s=%d", arg.name, arg.value)
		}
	}
	return text + ")"
}
