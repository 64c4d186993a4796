package topic

import (
	"encoding/json"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// The values of topic_create's mode, and of topic_list's status.
const (
	ModeReuse = "reuse"
	ModeNew   = "new"

	ListOpen   = "open"
	ListClosed = "closed"
	ListAll    = "all"
)

// A CreateRequest asks for a topic.
type CreateRequest struct {
	Name     string          // "": one made from the topic's id
	Metadata json.RawMessage // compact JSON object; nil: none
	Mode     string          // ModeReuse or ModeNew
}

// ParseCreate reads the arguments of topic_create.
func ParseCreate(a Args, l Limits) (r CreateRequest, err error) {
	if r.Name, err = a.topicName(); err != nil {
		return r, err
	}
	if err = oneLine("name", r.Name, MaxTopicNameChars); err != nil {
		return r, err
	}
	if r.Metadata, err = a.Object("metadata"); err != nil {
		return r, err
	}
	if len(r.Metadata) > l.MetadataBytes {
		return r, Invalid("metadata", "has %d bytes, which exceeds the maximum of %d", len(r.Metadata), l.MetadataBytes)
	}
	r.Mode, err = a.Choice("mode", ModeReuse, ModeNew)
	return r, err
}

// topicName returns the name of a topic without surrounding white space, "" if
// none or an empty one is given. One of white space only is refused.
func (a Args) topicName() (string, error) {
	name, _, err := a.Text("name")
	if err == nil && name != "" && isBlank(name) {
		err = Invalid("name", "must not be blank")
	}
	return strings.TrimSpace(name), err
}

// ParseList reads the status that topic_list selects.
func ParseList(a Args) (string, error) { return a.Choice("status", ListOpen, ListClosed, ListAll) }

// A ResolveRequest selects a topic by name.
type ResolveRequest struct {
	Name        string
	AllowClosed bool
}

// ParseResolve reads the arguments of topic_resolve.
func ParseResolve(a Args) (r ResolveRequest, err error) {
	if r.Name, err = a.Required("name"); err != nil {
		return r, err
	}
	r.Name = strings.TrimSpace(r.Name)
	r.AllowClosed, err = a.Boolean("allow_closed")
	return r, err
}

// A JoinRequest names an agent and a topic, the latter by exactly one of id and name.
type JoinRequest struct {
	AgentName     string // validated and trimmed
	TopicID, Name string
	AllowClosed   bool // for a selection by name
}

// ParseJoin reads the arguments of topic_join. An empty selector counts as not
// given. Where agent_name is not given it is what defaultName returns, and required
// if that is "".
func ParseJoin(a Args, defaultName func() string) (r JoinRequest, err error) {
	name, given, err := a.Text("agent_name")
	if err != nil {
		return r, err
	}
	if !given {
		if name = defaultName(); name == "" {
			return r, Invalid("agent_name", "is required: no harness session was recognised that could name the agent")
		}
	}
	if r.AgentName, err = ValidateAgentName(name); err != nil {
		return r, err
	}
	if r.TopicID, _, err = a.Text("topic_id"); err != nil {
		return r, err
	}
	if r.Name, err = a.topicName(); err != nil {
		return r, err
	}
	if (r.TopicID == "") == (r.Name == "") {
		return r, code.New(InvalidArgument, "exactly one of topic_id and name must be given").With(DetailArgument, "topic_id")
	}
	r.AllowClosed, err = a.Boolean("allow_closed")
	return r, err
}

// ParseTopicID reads the topic_id that every call on a topic has. It comes
// before the rest of the arguments so that a session that has not joined is told
// so first.
func ParseTopicID(a Args) (string, error) { return a.Required("topic_id") }

// ParseQuestionID reads the question_id of ask_poll, ask_cancel and
// question_mark_answered.
func ParseQuestionID(a Args) (string, error) { return a.Required("question_id") }

// ParseReason reads the optional reason of topic_close and ask_cancel; an empty
// one is none.
func ParseReason(a Args, l Limits) (string, error) {
	reason, _, err := a.Text("reason")
	if err != nil {
		return "", err
	}
	return reason, atMost("reason", reason, l.ReasonChars)
}

// An AskRequest is a question.
type AskRequest struct {
	Question    string
	To          string // an agent, [ToHuman], or "" for anybody
	WaitSeconds int    // as asked for: see WaitSeconds
}

// ParseAsk reads the arguments of ask beside topic_id.
func ParseAsk(a Args, l Limits) (r AskRequest, err error) {
	if r.Question, err = a.Required("question"); err != nil {
		return r, err
	}
	if err = atMost("question", r.Question, l.QuestionChars); err != nil {
		return r, err
	}
	if r.To, err = a.recipient(); err != nil {
		return r, err
	}
	r.WaitSeconds, err = a.Integer("wait_seconds", DefaultWaitSeconds, 0)
	return r, err
}

// recipient returns whom a question is for, "" if that is not given.
func (a Args) recipient() (string, error) {
	to, given, err := a.Text("to")
	if err != nil || !given || to == "" {
		return "", err
	}
	return validateName("to", to)
}

// A PollRequest asks how a question stands.
type PollRequest struct {
	QuestionID  string
	WaitSeconds int // as asked for: see WaitSeconds
	MinAnswers  int // how many answers to wait for
	Skip        int // how many of the oldest answers to leave out
}

// ParsePoll reads the arguments of ask_poll beside topic_id.
func ParsePoll(a Args) (r PollRequest, err error) {
	if r.QuestionID, err = ParseQuestionID(a); err != nil {
		return r, err
	}
	if r.WaitSeconds, err = a.Integer("wait_seconds", 0, 0); err != nil {
		return r, err
	}
	if r.MinAnswers, err = a.Integer("min_answers", 1, 1); err != nil {
		return r, err
	}
	r.Skip, err = a.Integer("skip", 0, 0)
	return r, err
}

// A PendingRequest asks for questions to answer, or for one's own.
type PendingRequest struct {
	Limit       int
	Mine        bool // the caller's own questions that are pending
	WaitSeconds int  // as asked for: see WaitSeconds; 0 with Mine
}

// ParsePending reads the arguments of pending_list beside topic_id.
func ParsePending(a Args) (r PendingRequest, err error) {
	if r.Limit, err = a.Integer("limit", DefaultListLimit, 1); err != nil {
		return r, err
	}
	if r.WaitSeconds, err = a.Integer("wait_seconds", DefaultWaitSeconds, 0); err != nil {
		return r, err
	}
	if r.Mine, err = a.Boolean("mine"); r.Mine {
		r.WaitSeconds = 0
	}
	return r, err
}

// WaitSeconds is how long a call really waits that asked for so many seconds.
func WaitSeconds(asked int) int { return min(asked, MaxWaitSeconds) }
