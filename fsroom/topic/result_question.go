package topic

import (
	"fmt"
	"strings"
)

// The status of an ask or pending_list that is none of a question.
const (
	StatusQueued  = "queued"
	StatusTimeout = "timeout"
	StatusReady   = "ready"
	StatusEmpty   = "empty"
)

// A QueuedResult answers an ask that does not have an answer yet.
type QueuedResult struct {
	QuestionID string     `json:"question_id"`
	Status     string     `json:"status"`             // queued, or timeout after a wait
	AskedBy    string     `json:"asked_by,omitempty"` // when queued
	NextAction NextAction `json:"next_action"`
	ClientPlan ClientPlan `json:"client_plan"`
	Notices
}

// Queued returns what ask answers at once when it is not to wait.
func Queued(topicID, questionID, agent string) *QueuedResult {
	r := timedOut(topicID, questionID)
	r.Status, r.AskedBy = StatusQueued, agent
	return r
}

func timedOut(topicID, questionID string) *QueuedResult {
	return &QueuedResult{
		QuestionID: questionID, Status: StatusTimeout,
		NextAction: pollAction(topicID, questionID), ClientPlan: ClientPlan{MaxAttempts: 3, DelaySeconds: 10},
	}
}

func (r *QueuedResult) Text() string {
	said := "Your question is queued."
	if r.Status == StatusTimeout {
		said = "Nobody has answered yet; the question stays open."
	}
	return fmt.Sprintf("%s: question_id=%s\n%s\nNext: %s, up to %d times, %d seconds apart.", r.Status, r.QuestionID,
		said, r.NextAction.Call(), r.ClientPlan.MaxAttempts, r.ClientPlan.DelaySeconds)
}

// A PollResult answers ask_poll, and an ask that was answered.
type PollResult struct {
	QuestionID       string   `json:"question_id"`
	Status           string   `json:"status"`          // answered as soon as there is an answer
	QuestionStatus   string   `json:"question_status"` // as stored
	AcceptingAnswers bool     `json:"accepting_answers"`
	Answers          []Answer `json:"answers"` // oldest first
	AnswersCount     int      `json:"answers_count"`
	CancelReason     string   `json:"cancel_reason,omitempty"`
	Rendered         string   `json:"rendered,omitempty"` // see [Render]; when there are answers
	Notices

	topicID string
}

func (r *PollResult) Text() string {
	text := fmt.Sprintf("%s: question_id=%s", r.Status, r.QuestionID)
	if r.CancelReason != "" {
		text += "\nreason: " + r.CancelReason
	}
	switch {
	case len(r.Answers) > 0:
		return text + "\n\n" + r.Rendered
	case r.Status == Answered:
		return text + "\nIt was marked answered; there is no answer."
	case r.Status == Pending:
		return text + "\nNobody has answered yet."
	}
	return text
}

// AskResult returns the poll as the ask that has waited until then answers it.
func (r *PollResult) AskResult() Result {
	switch r.Status {
	case Pending:
		return timedOut(r.topicID, r.QuestionID)
	case Cancelled:
		return &CancelledResult{QuestionID: r.QuestionID, Status: Cancelled, CancelReason: r.CancelReason}
	}
	return r
}

// A CancelledResult answers ask_cancel, and an ask that was cancelled while it
// waited.
type CancelledResult struct {
	TopicID      string `json:"topic_id,omitempty"` // of ask_cancel
	QuestionID   string `json:"question_id"`
	Status       string `json:"status"`
	CancelReason string `json:"cancel_reason,omitempty"`
	Notices
}

// CancelResult returns what ask_cancel answers once the question is cancelled.
func (s *State) CancelResult(questionID string) *CancelledResult {
	q := s.Question(questionID)
	return &CancelledResult{TopicID: s.TopicID, QuestionID: q.ID, Status: q.Status, CancelReason: q.CancelReason}
}

func (r *CancelledResult) Text() string {
	text := fmt.Sprintf("%s: question_id=%s", r.Status, r.QuestionID)
	if r.CancelReason != "" {
		text += "\nreason: " + r.CancelReason
	}
	return text
}

// A MarkResult answers question_mark_answered.
type MarkResult struct {
	TopicID    string `json:"topic_id"`
	QuestionID string `json:"question_id"`
	Status     string `json:"status"`
	Notices
}

// MarkResult returns what question_mark_answered answers once the question is
// closed.
func (s *State) MarkResult(questionID string) *MarkResult {
	return &MarkResult{TopicID: s.TopicID, QuestionID: questionID, Status: Answered}
}

func (r *MarkResult) Text() string {
	return fmt.Sprintf("%s: question_id=%s\nIt is not offered to anybody any more.", r.Status, r.QuestionID)
}

// A PendingResult answers pending_list.
type PendingResult struct {
	Pending []PendingQuestion `json:"pending"` // oldest first
	Status  string            `json:"status"`  // ready, empty, or timeout after a wait
	Notices

	topicID string
}

func (r *PendingResult) Text() string {
	if len(r.Pending) == 0 {
		return r.Status + ": no question to answer on topic_id=" + r.topicID
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d to answer with answer(topic_id=%q, responses=[…])\n", r.Status, len(r.Pending), r.topicID)
	for _, q := range r.Pending {
		fmt.Fprintf(&b, "\nquestion_id=%s\nasked by %s at %s\n%s\n", q.QuestionID, q.AskedBy, q.AskedAt, q.Text)
	}
	return b.String()
}

// A SavedResult answers answer.
type SavedResult struct {
	Saved      int        `json:"saved"`
	Skipped    int        `json:"skipped"`
	NextAction NextAction `json:"next_action"`
	ClientPlan ClientPlan `json:"client_plan"`
	Notices
}

// Result returns what answer answers.
func (t Tally) Result(topicID string) *SavedResult {
	// No delay: pending_list waits by itself.
	return &SavedResult{Saved: t.Saved, Skipped: t.Skipped, NextAction: pendingAction(topicID), ClientPlan: ClientPlan{MaxAttempts: 3}}
}

func (r *SavedResult) Text() string {
	text := fmt.Sprintf("saved %d, skipped %d", r.Saved, r.Skipped)
	if r.Skipped > 0 {
		text += " (no such question on this topic, or it is not pending any more)"
	}
	return fmt.Sprintf("%s\nNext: %s, up to %d times.", text, r.NextAction.Call(), r.ClientPlan.MaxAttempts)
}
