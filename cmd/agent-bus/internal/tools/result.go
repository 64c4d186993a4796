package tools

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// A Result is what a tool answers. Its JSON and its text say the same, because some
// clients show their model only the one and some only the other. [TextOf] returns
// the whole text.
type Result interface {
	Text() string // without the notices
	Warn(...Warning)
	notices() *Notices
}

// Notices are the part that all results have.
type Notices struct {
	// TopicStatus is given if the topic is closed, and in every PendingResult.
	TopicStatus string    `json:"topic_status,omitempty"`
	Warnings    []Warning `json:"warnings,omitempty"`
}

// Warn adds warnings.
func (n *Notices) Warn(w ...Warning) { n.Warnings = append(n.Warnings, w...) }

func (n *Notices) notices() *Notices { return n }

// noticesOf returns the notices of a result about a topic.
func noticesOf(s *topic.State) Notices {
	if s.Status == topic.Closed {
		return Notices{TopicStatus: topic.Closed}
	}
	return Notices{}
}

// TextOf returns the result as text.
func TextOf(r Result) string {
	n := r.notices()
	more := ""
	if n.TopicStatus == topic.Closed {
		more = "\nThe topic is closed: it takes no new questions; pending ones can still be answered."
	}
	more += warningsText(n.Warnings)
	if more == "" {
		return r.Text()
	}
	return strings.TrimRight(r.Text(), "\n") + more
}

// MaxResultChars is about how many characters of a result clients show their model.
// A list in a result ends before it would exceed that, but has at least one element.
const MaxResultChars = 80_000

// A budget counts the characters of a result.
type budget struct{ used int }

// fits reports whether another element with these texts fits into the result, and
// counts it if it does.
func (b *budget) fits(texts ...string) bool {
	const overhead = 250 // times, ids and names of members
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

// NewTopicResult returns the result of topic_create and topic_resolve.
func NewTopicResult(s *topic.State) *TopicResult {
	return &TopicResult{TopicID: s.TopicID, Name: s.Name, Status: s.Status}
}

func (r *TopicResult) Text() string {
	return fmt.Sprintf("topic %s, topic_id=%s, is %s", r.Name, r.TopicID, r.Status)
}

// A Present is an agent that has joined a topic.
type Present struct {
	AgentName  string     `json:"agent_name"` // "" if it is not known
	Connected  bool       `json:"connected"`  // it has joined, and its session lives
	LastSeenAt event.Time `json:"last_seen_at"`
}

// A JoinResult answers topic_join.
type JoinResult struct {
	TopicResult
	AgentName string `json:"agent_name"`
	DataDir   string `json:"data_dir"`         // agents meet if theirs is the same
	Engine    string `json:"engine,omitempty"` // or this, on whatever hosts they are
	*Presence        // nil if it was not asked for
}

// Presence is the other agents that are connected to a topic.
type Presence struct {
	Agents []Present `json:"agents"` // the last seen first, at most maxAgents
	Total  int       `json:"agents_total"`
}

// maxAgents bounds the agents in a result.
const maxAgents = 50

// NewPresence returns what a result says of the agents.
func NewPresence(others []Present) *Presence {
	return &Presence{others[:min(len(others), maxAgents)], len(others)}
}

// NewJoinResult returns the result of topic_join.
func NewJoinResult(s *topic.State, agent, dataDir string) *JoinResult {
	return &JoinResult{TopicResult: *NewTopicResult(s), AgentName: agent, DataDir: dataDir}
}

// EngineLine returns the line of a text that names the engine, "" if there is none.
func EngineLine(url string) string {
	if url == "" {
		return ""
	}
	return "\nengine: " + url
}

func (r *JoinResult) Text() string {
	text := fmt.Sprintf("you are %s on topic %s, topic_id=%s, which is %s\ndata_dir: %s", r.AgentName, r.Name, r.TopicID,
		r.Status, r.DataDir) + EngineLine(r.Engine)
	if r.Presence != nil {
		text += r.Presence.text()
	}
	return text
}

func (p *Presence) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nother agents connected: %d", p.Total)
	for _, a := range p.Agents {
		fmt.Fprintf(&b, "\n- %s, last seen %s", cmp.Or(a.AgentName, "without a name"), a.LastSeenAt)
	}
	if more := p.Total - len(p.Agents); more > 0 {
		fmt.Fprintf(&b, "\n%d more are not shown.", more)
	}
	return b.String()
}

// A CloseResult answers topic_close.
type CloseResult struct {
	TopicID     string      `json:"topic_id"`
	Status      string      `json:"status"`
	ClosedAt    *event.Time `json:"closed_at"`
	CloseReason *string     `json:"close_reason"` // null without one
	Notices
}

// NewCloseResult returns the result of topic_close for a topic that is closed now.
func NewCloseResult(s *topic.State) *CloseResult {
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
	Topics  []topic.Info `json:"topics"` // newest first
	Total   int          `json:"total"`
	HasMore bool         `json:"has_more,omitempty"` // older topics were left out: see [MaxResultChars]
	Notices
}

// NewListResult returns the result of topic_list for a status.
func NewListResult(topics []*topic.State, status string) *ListResult {
	selected := topic.Select(topics, status)
	r := &ListResult{Topics: []topic.Info{}, Total: len(selected)}
	var size budget
	for _, s := range selected {
		if r.HasMore = !size.fits(s.Name, s.CloseReason, string(s.Metadata)); r.HasMore {
			break
		}
		r.Topics = append(r.Topics, s.Info())
	}
	return r
}

func (r *ListResult) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "topics: %d\n", r.Total)
	for _, t := range r.Topics {
		fmt.Fprintf(&b, "- %s topic_id=%s %s, made %s, %s: %s\n", t.Name, t.TopicID, t.Status, t.CreatedAt,
			code.Count(t.Counts.Total, "question"), t.Counts)
		if t.ClosedAt != nil {
			fmt.Fprintf(&b, "  closed %s", t.ClosedAt)
			if t.CloseReason != nil {
				fmt.Fprintf(&b, ": %s", *t.CloseReason)
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

// RenderAnswers writes answers as Markdown: first a list of them, then each answer
// under a heading with its author and its id.
func RenderAnswers(answers []topic.Answer) string {
	var b strings.Builder
	for _, a := range answers {
		if a.AnswerID != "" {
			fmt.Fprintf(&b, "- answer %s by %s at %s\n", a.AnswerID, a.AnsweredBy, a.AnsweredAt)
		}
	}
	for _, a := range answers {
		fmt.Fprintf(&b, "\n### %s (answer %s)\n\n%s\n", a.AnsweredBy, cmp.Or(a.AnswerID, "lost"), Enclosed(a.Payload.Markdown))
		if len(a.Payload.Pointers) > 0 {
			b.WriteString("\nWhere to look:\n")
			for _, p := range a.Payload.Pointers {
				fmt.Fprintf(&b, "- %s\n", OneLine(p))
			}
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// framing matches the beginning of a line that would read as one of this package's, or of
// an export.
var framing = regexp.MustCompile(`(?m)^ {0,3}(#{2,3} .*(answers|\(.*\))[ \t\r]*$|FOLLOW_UP_REQUIRED|NO_FOLLOWUP_NEEDED|question_id=)`)

// Enclosed returns Markdown after which more Markdown can stand: without white space
// at its end, with a code block closed that it leaves open, and with a backslash before what
// would pass for the frame around it.
func Enclosed(markdown string) string {
	body := framing.ReplaceAllString(strings.TrimRight(markdown, " \t\r\n"), `\$0`)
	if open := openFence(body); open != "" {
		body += "\n" + open
	}
	return body
}

// openFence returns the line that closes the code block which the Markdown leaves
// open, "" if it leaves none open.
func openFence(markdown string) string {
	open := ""
	for line := range strings.SplitSeq(markdown, "\n") {
		marks := fence.FindStringSubmatch(line)
		switch {
		case marks == nil:
		case open == "":
			if marks[1][0] != '`' || !strings.Contains(marks[2], "`") {
				open = marks[1]
			}
		case marks[1][0] == open[0] && len(marks[1]) >= len(open) && isBlank(marks[2]):
			open = ""
		}
	}
	return open
}

// fence matches a line that may begin or end a code block: the marks, and the rest.
var fence = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})(.*)$")

// FollowUp returns the request to follow up that an asker gets with the answers. On a
// closed topic it does not ask for a call, which would be refused. Without a follow-up to
// choose it is "".
func FollowUp(topicID string, closed bool, answers []topic.Answer) string {
	followups := Followups(answers)
	if len(followups) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("---\n")
	if closed {
		b.WriteString("The topic is closed: ask what is left open on another topic.\n\n")
	} else {
		fmt.Fprintf(&b, "FOLLOW_UP_REQUIRED\nChoose ONE follow-up question and call:\nask(topic_id=%q, question=\"<your question>\")\n\n", topicID)
	}
	b.WriteString("Suggested follow-ups:\n")
	for i, f := range followups {
		fmt.Fprintf(&b, "%d) %s\n", i+1, topic.ClipTo(f, shownChars))
	}
	b.WriteString("\nIf you fully understand, reply with:\nNO_FOLLOWUP_NEEDED\nand provide a 3-5 bullet summary of what you learned.\n")
	return b.String()
}

// shownChars is how many characters of a follow-up are shown. The answer has all.
const shownChars = 1000

// Followups returns the first [topic.MaxFollowups] different follow-ups of the
// answers, in the order in which they were given, each on one line. It leaves out
// blank ones.
func Followups(answers []topic.Answer) []string {
	var merged []string
	for _, a := range answers {
		for _, f := range a.Payload.Followups {
			line := OneLine(f)
			if line != "" && !slices.Contains(merged, line) && len(merged) < topic.MaxFollowups {
				merged = append(merged, line)
			}
		}
	}
	return merged
}

// OneLine returns the text with each run of white space replaced by a space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
