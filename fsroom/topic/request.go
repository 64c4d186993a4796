package topic

import "encoding/json"

// The values of [CreateRequest.Mode].
const (
	ModeReuse = "reuse" // the newest open topic of that name, or a new one
	ModeNew   = "new"   // always a new one
)

// What [Select] selects by status.
const (
	ListOpen   = "open"
	ListClosed = "closed"
	ListAll    = "all"
)

// A CreateRequest asks for a topic.
type CreateRequest struct {
	Name     string          // "": a name is made from the topic's id
	Metadata json.RawMessage // a compact JSON object; nil: none
	Mode     string          // ModeReuse or ModeNew
}

// A ResolveRequest selects a topic by its name.
type ResolveRequest struct {
	Name        string
	AllowClosed bool // take a closed topic if no open one has the name
}

// An AskRequest is a question.
type AskRequest struct {
	Question string
	To       string // an agent, [ToHuman], or "" for anybody
	ID       string // of the same question in another room; "": it gets a new one
	Other    string // see [Question]
}

// A Response is an agent's answer to one question.
type Response struct {
	QuestionID string
	Payload    Payload
}

// A Payload is what an answer says.
type Payload struct {
	Markdown  string   `json:"answer_markdown"`
	Pointers  []string `json:"repo_pointers"`       // where to look; never nil
	Followups []string `json:"suggested_followups"` // what to ask next; never nil
}

// Limits bound what agents may send. Characters are Unicode code points.
type Limits struct {
	QuestionChars int // of a question
	AnswerChars   int // of an answer's Markdown
	Batch         int // responses in one answer
	OpenQuestions int // pending questions on one topic
	MetadataBytes int // of a topic's metadata as compact JSON
	ReasonChars   int // of a reason to close or cancel
}

// DefaultLimits returns the limits that hold unless others are set.
func DefaultLimits() Limits {
	return Limits{QuestionChars: 8000, AnswerChars: 65536, Batch: 50, OpenQuestions: 10_000, MetadataBytes: 64 << 10, ReasonChars: 1000}
}

// Limits that cannot be set.
const (
	MaxAgentNameChars = 64
	MaxTopicNameChars = 200
	MaxPointers       = 10   // pointers kept of an answer
	MaxPointerChars   = 4096 // of one pointer
	MaxFollowups      = 5    // follow-ups kept of an answer
	MaxFollowupChars  = 8000 // of one follow-up

	// MaxTextChars is the highest value for QuestionChars and AnswerChars: with
	// every character escaped, an answer of that length must still fit into one
	// line of the journal together with its pointers and follow-ups.
	MaxTextChars = 500_000
)
