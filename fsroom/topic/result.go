package topic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/talking-stick/tt/journal"
)

// A Result is what a tool answers: as JSON, and as text for clients that show
// their model only that.
type Result interface {
	Text() string
	Warn(...Warning)
}

// Notices are the warnings that come with a result. They are in its JSON, if
// there are any, and never in its text.
type Notices struct {
	Warnings []Warning `json:"warnings,omitempty"`
}

// Warn adds warnings.
func (n *Notices) Warn(w ...Warning) { n.Warnings = append(n.Warnings, w...) }

// A TopicResult answers topic_create and topic_resolve.
type TopicResult struct {
	TopicID string `json:"topic_id"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Notices
}

// Result returns the topic as topic_create and topic_resolve answer it.
func (i Info) Result() *TopicResult {
	return &TopicResult{TopicID: i.TopicID, Name: i.Name, Status: i.Status}
}

func (r *TopicResult) Text() string {
	return fmt.Sprintf("topic %s, topic_id=%s, is %s", r.Name, r.TopicID, r.Status)
}

// A JoinResult answers topic_join.
type JoinResult struct {
	TopicID   string `json:"topic_id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	AgentName string `json:"agent_name"`
	Notices
}

// Joined returns what topic_join answers.
func (i Info) Joined(agent string) *JoinResult {
	return &JoinResult{TopicID: i.TopicID, Name: i.Name, Status: i.Status, AgentName: agent}
}

func (r *JoinResult) Text() string {
	return fmt.Sprintf("you are %s on topic %s, topic_id=%s, which is %s", r.AgentName, r.Name, r.TopicID, r.Status)
}

// A CloseResult answers topic_close.
type CloseResult struct {
	TopicID     string        `json:"topic_id"`
	Status      string        `json:"status"`
	ClosedAt    *journal.Time `json:"closed_at"`
	CloseReason *string       `json:"close_reason"` // null without one
	Notices
}

// CloseResult returns what topic_close answers once the topic is closed.
func (s *State) CloseResult() *CloseResult {
	i := s.Info()
	return &CloseResult{TopicID: i.TopicID, Status: i.Status, ClosedAt: i.ClosedAt, CloseReason: i.CloseReason}
}

func (r *CloseResult) Text() string {
	text := fmt.Sprintf("topic_id=%s is %s since %s", r.TopicID, r.Status, r.ClosedAt)
	if r.CloseReason != nil {
		text += ": " + *r.CloseReason
	}
	return text + "\nIts questions can still be answered; new ones are refused."
}

// A ListResult answers topic_list.
type ListResult struct {
	Topics []Info `json:"topics"`
	Notices
}

// listedRows is how many topics the text shows; the JSON has all of them.
const listedRows = 50

func (r *ListResult) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "topics: %d\n", len(r.Topics))
	for _, t := range r.Topics[:min(listedRows, len(r.Topics))] {
		fmt.Fprintf(&b, "- %s topic_id=%s %s, %d of %d questions pending\n", t.Name, t.TopicID, t.Status, t.Counts.Pending, t.Counts.Total)
	}
	if more := len(r.Topics) - listedRows; more > 0 {
		fmt.Fprintf(&b, "and %d older ones\n", more)
	}
	return b.String()
}

// ErrorResult is an error as a tool answers it: the text, which is all that
// many clients show their model, and the structured content
// {"error":{"code","message"}, …details}.
func ErrorResult(err error) (text string, structured json.RawMessage) {
	e := Translate(err)
	content := make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		content[k] = v
	}
	reported := map[string]string{"code": string(e.Code), "message": e.Message}
	text = string(e.Code) + ": " + e.Message
	if e.Hint != "" {
		reported["hint"] = e.Hint
		text += "\n" + e.Hint
	}
	content["error"] = reported
	return text, payload(content)
}
