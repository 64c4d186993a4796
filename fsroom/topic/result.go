package topic

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/talking-stick/tt/journal/event"
)

// A Result is what a tool answers: as JSON, and as text for clients that show
// their model only that. [TextOf] returns the whole text.
type Result interface {
	Text() string
	Warn(...Warning)
	notices() *Notices
}

// Notices are what can come with any result.
type Notices struct {
	// TopicStatus is there when the topic is closed, and in every PendingResult.
	TopicStatus string    `json:"topic_status,omitempty"`
	Warnings    []Warning `json:"warnings,omitempty"`
}

// Warn adds warnings.
func (n *Notices) Warn(w ...Warning) { n.Warnings = append(n.Warnings, w...) }

func (n *Notices) notices() *Notices { return n }

// noticesOf are those of a result about a topic.
func (s *State) noticesOf() Notices {
	if s.Status == Closed {
		return Notices{TopicStatus: Closed}
	}
	return Notices{}
}

// TextOf returns all that the result's JSON says as text.
func TextOf(r Result) string {
	n := r.notices()
	more := ""
	if n.TopicStatus == Closed {
		more = "\nThe topic is closed: it takes no new questions; pending ones can still be answered."
	}
	more += warningsText(n.Warnings)
	if more == "" {
		return r.Text()
	}
	return strings.TrimRight(r.Text(), "\n") + more
}

// MaxResultChars is about how many characters of a result clients show their
// model. Lists in a result end before they exceed it, but have one element at
// least.
const MaxResultChars = 80_000

// A budget counts the characters of a result.
type budget struct{ used int }

// fits reports whether a result may have another element with these texts, and
// adds it if so.
func (b *budget) fits(texts ...string) bool {
	const overhead = 250 // for times, ids and names of members
	size := overhead
	for _, text := range texts {
		size += utf8.RuneCountInString(text)
	}
	if b.used > 0 && b.used+size > MaxResultChars {
		return false
	}
	b.used += size
	return true
}

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
	DataDir   string `json:"data_dir"` // agents meet if theirs is the same
	Notices
}

// Joined returns what topic_join answers.
func (i Info) Joined(agent, dataDir string) *JoinResult {
	return &JoinResult{TopicID: i.TopicID, Name: i.Name, Status: i.Status, AgentName: agent, DataDir: dataDir}
}

func (r *JoinResult) Text() string {
	return fmt.Sprintf("you are %s on topic %s, topic_id=%s, which is %s\ndata_dir: %s", r.AgentName, r.Name, r.TopicID, r.Status, r.DataDir)
}

// A CloseResult answers topic_close.
type CloseResult struct {
	TopicID     string      `json:"topic_id"`
	Status      string      `json:"status"`
	ClosedAt    *event.Time `json:"closed_at"`
	CloseReason *string     `json:"close_reason"` // null without one
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
	Topics  []Info `json:"topics"` // newest first
	Total   int    `json:"total"`
	HasMore bool   `json:"has_more,omitempty"` // older ones were left out: see [MaxResultChars]
	Notices
}

// List returns what topic_list answers for a status.
func List(topics []Info, status string) *ListResult {
	selected := Select(topics, status)
	r := &ListResult{Topics: selected, Total: len(selected)}
	var size budget
	for n, t := range selected {
		if !size.fits(t.Name, t.closeReason(), string(t.Metadata)) {
			r.Topics, r.HasMore = selected[:n], true
			break
		}
	}
	return r
}

func (r *ListResult) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "topics: %d\n", r.Total)
	for _, t := range r.Topics {
		fmt.Fprintf(&b, "- %s topic_id=%s %s, made %s, questions: %s\n", t.Name, t.TopicID, t.Status, t.CreatedAt, t.Counts)
		if t.ClosedAt != nil {
			fmt.Fprintf(&b, "  closed %s", t.ClosedAt)
			if reason := t.closeReason(); reason != "" {
				fmt.Fprintf(&b, ": %s", reason)
			}
			b.WriteByte('\n')
		}
		if t.Metadata != nil {
			fmt.Fprintf(&b, "  metadata %s\n", t.Metadata)
		}
	}
	if r.HasMore {
		fmt.Fprintf(&b, "%d older ones are not shown; topic_resolve finds a topic by its name.\n", r.Total-len(r.Topics))
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
	if warnings, ok := e.Details["warnings"].([]Warning); ok {
		text += warningsText(warnings)
	}
	content["error"] = reported
	return text, payload(content)
}
