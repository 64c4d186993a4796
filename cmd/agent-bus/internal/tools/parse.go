package tools

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// Defaults and bounds of arguments.
const (
	DefaultWaitSeconds = 60
	DefaultListLimit   = 20
	// MaxWaitSeconds is the longest that a call waits, because many clients give up
	// on a call after 60 s.
	MaxWaitSeconds = 50
)

// ParseCreate reads the arguments of topic_create.
func ParseCreate(a *Args, l topic.Limits) (topic.CreateRequest, error) {
	r := topic.CreateRequest{Name: a.topicName(), Metadata: a.Object("metadata"), Mode: a.Choice("mode", topic.ModeReuse, topic.ModeNew)}
	a.check(checkLine("name", r.Name, topic.MaxTopicNameChars))
	if n := len(r.Metadata); n > l.MetadataBytes {
		a.check(topic.Invalid("metadata", "has %d bytes, which exceeds the maximum of %d", n, l.MetadataBytes))
	}
	return r, a.Err()
}

// topicName returns the name of a topic without surrounding white space, "" if the
// name is missing or empty. A name of white space only is refused.
func (a *Args) topicName() string {
	name := a.Text("name")
	if name != "" && isBlank(name) {
		a.check(topic.Invalid("name", "must not be blank"))
	}
	return strings.TrimSpace(name)
}

// A JoinRequest names an agent, and a topic by either its id or its name.
type JoinRequest struct {
	AgentName     string // validated and trimmed
	TopicID, Name string
	AllowClosed   bool // for a selection by name
	Agents        bool // the result says who else is connected
}

// ParseJoin reads the arguments of topic_join. An empty selector counts as not
// given. If agent_name is not given, defaultName returns it; if that returns "",
// agent_name is required.
func ParseJoin(a *Args, defaultName func() string) (r JoinRequest, err error) {
	name := a.Text("agent_name")
	if !a.Given("agent_name") {
		if name = defaultName(); name == "" {
			return r, topic.Invalid("agent_name", "is required: no harness session was recognised that could name the agent")
		}
	}
	r.AgentName, err = ValidateAgentName(name)
	a.check(err)
	r.TopicID, r.Name, r.AllowClosed = strings.TrimSpace(a.Text("topic_id")), a.topicName(), a.Boolean("allow_closed")
	r.Agents = a.Boolean("agents")
	if (r.TopicID == "") == (r.Name == "") {
		a.check(code.New(topic.InvalidArgument, "exactly one of topic_id and name must be given").With(topic.DetailArgument, "topic_id"))
	}
	return r, a.Err()
}

// Reason returns the reason of a call, "" if none is given.
func (a *Args) Reason(l topic.Limits) string {
	reason := a.Text("reason")
	a.check(CheckReason(reason, l))
	return reason
}

// CheckReason refuses a reason that is too long.
func CheckReason(reason string, l topic.Limits) error {
	return checkText("reason", reason, l.ReasonChars)
}

// ParseAsk reads the arguments of ask beside topic_id: the question, and for how
// many seconds the call is to wait for an answer.
func ParseAsk(a *Args, l topic.Limits) (r topic.AskRequest, waitSeconds int, err error) {
	r = topic.AskRequest{Question: a.Required("question"), To: a.Text("to")}
	a.check(CheckAsk(&r, l))
	return r, a.Integer("wait_seconds", DefaultWaitSeconds, 0), a.Err()
}

// CheckAsk refuses a question that is blank or too long, and trims the recipient's
// name.
func CheckAsk(r *topic.AskRequest, l topic.Limits) (err error) {
	if err = checkNotBlank("question", r.Question, l.QuestionChars); err == nil && r.To != "" {
		r.To, err = validateName("to", r.To)
	}
	return err
}

// A PendingRequest asks for the questions that the caller can answer, or for its
// own.
type PendingRequest struct {
	Limit       int
	Mine        bool // the caller's own questions that are pending
	WaitSeconds int  // as the agent gave it, which may be more than MaxWaitSeconds; 0 with Mine
}

// ParsePending reads the arguments of pending_list beside topic_id.
func ParsePending(a *Args) (PendingRequest, error) {
	r := PendingRequest{Limit: a.Integer("limit", DefaultListLimit, 1),
		WaitSeconds: a.Integer("wait_seconds", DefaultWaitSeconds, 0), Mine: a.Boolean("mine")}
	if r.Mine {
		r.WaitSeconds = 0
	}
	return r, a.Err()
}

// ValidateAgentName returns the name without surrounding white space. A name has 1
// to 64 characters. Characters that break a line or change how the rest of it is
// shown are refused, because names stand in headings that other agents read.
func ValidateAgentName(name string) (string, error) { return validateName("agent_name", name) }

func validateName(argument, name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", topic.Invalid(argument, "must not be blank")
	}
	return name, checkLine(argument, name, topic.MaxAgentNameChars)
}

// checkLine is checkText for a text that must be printable on one line.
func checkLine(argument, text string, limit int) error {
	if err := checkText(argument, text, limit); err != nil {
		return err
	}
	for _, r := range text {
		if breaksLine(r) {
			return topic.Invalid(argument, "must not contain line breaks or control characters (found %U)", r)
		}
	}
	return nil
}

// breaksLine reports whether r is a control character, a line or paragraph
// separator, or a mark that changes the direction of writing.
func breaksLine(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// checkNotBlank is checkText for a text that must not be blank.
func checkNotBlank(argument, text string, limit int) error {
	if isBlank(text) {
		return topic.Invalid(argument, "must not be blank")
	}
	return checkText(argument, text, limit)
}

// checkText refuses a text that is not UTF-8 or has more than limit characters.
func checkText(argument, text string, limit int) error {
	if !utf8.ValidString(text) {
		return topic.Invalid(argument, "is not UTF-8")
	}
	if n := utf8.RuneCountInString(text); n > limit {
		return topic.Invalid(argument, "has %d characters, which exceeds the maximum of %d", n, limit)
	}
	return nil
}
