// Package tools is the surface of the agent bus's tools: what an agent sends and
// what it gets back, but not what the tools do.
//
//	Arguments, Read        the arguments of a call, read and checked      arguments.go, read.go
//	NewXResult             results, as JSON and as text                   result.go, result_question.go
//	ErrorResult(err)       errors in the same two forms                   errors.go
//	SettingsFrom(lookup)   the limits that environment variables set      errors.go
//
// Results are views of the topic's state after the change, so that a result never
// says anything that was not stored.
package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
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

// Arguments are those of a call. Their tags are the input schema, see [Schema]: json has the
// name, which is required unless it is omitempty, jsonschema the description, default the JSON
// of the default, and choices the only values.
type Arguments interface {
	// Check refuses what is wrong beyond the schema, and brings the rest into its normal form.
	Check(topic.Limits) ([]Warning, error)
}

// None are the arguments of a tool that has none.
type None struct{}

// Check implements [Arguments].
func (*None) Check(topic.Limits) ([]Warning, error) { return nil, nil }

// OnTopic is the first argument of the tools that are about one topic.
type OnTopic struct {
	None
	TopicID string `json:"topic_id" jsonschema:"The topic, as topic_create or topic_join returned it."`
}

// Topic returns the topic that the arguments name.
func (a *OnTopic) Topic() string { return a.TopicID }

// Create are the arguments of topic_create.
type Create struct {
	Name     string          `json:"name,omitempty" jsonschema:"A name people would recognise, such as the project's. At most 200 characters on one line. Left out: one made from the id."`
	Metadata json.RawMessage `json:"metadata,omitempty" jsonschema:"Anything worth keeping with a new topic, nested at most 100 levels deep. Ignored when a topic is reused."`
	Mode     string          `json:"mode,omitempty" default:"\"reuse\"" choices:"reuse new" jsonschema:"reuse returns the newest open topic of that name if there is one; new always makes one."`
}

// Check implements [Arguments].
func (a *Create) Check(l topic.Limits) ([]Warning, error) {
	err := cmp.Or(trimName(&a.Name), checkLine("name", a.Name, topic.MaxTopicNameChars))
	if n := len(a.Metadata); n > l.MetadataBytes && err == nil {
		err = topic.Invalid("metadata", "has %d bytes, which exceeds the maximum of %d", n, l.MetadataBytes)
	}
	return nil, err
}

// trimName removes the white space around the name of a topic. A name of white space only is
// refused.
func trimName(name *string) error {
	if *name != "" && isBlank(*name) {
		return topic.Invalid("name", "must not be blank")
	}
	*name = strings.TrimSpace(*name)
	return nil
}

// List are the arguments of topic_list.
type List struct {
	None
	Status string `json:"status,omitempty" default:"\"open\"" choices:"open closed all" jsonschema:"Which topics."`
}

// Resolve are the arguments of topic_resolve.
type Resolve struct {
	Name        string `json:"name" jsonschema:"The topic's name."`
	AllowClosed bool   `json:"allow_closed,omitempty" default:"false" jsonschema:"Whether a closed topic will do where no open one has the name."`
}

// Check implements [Arguments].
func (a *Resolve) Check(topic.Limits) ([]Warning, error) { return nil, trimName(&a.Name) }

// Close are the arguments of topic_close.
type Close struct {
	OnTopic
	Reason string `json:"reason,omitempty" jsonschema:"Why, for the others."`
}

// Check implements [Arguments].
func (a *Close) Check(l topic.Limits) ([]Warning, error) {
	return nil, checkText("reason", a.Reason, l.ReasonChars)
}

// Join are the arguments of topic_join.
type Join struct {
	AgentName   *string `json:"agent_name,omitempty" jsonschema:"Who you are on this topic, such as red-squirrel: at most 64 characters on one line, and nobody else's. You are never offered questions asked under your own name. Left out: the id that \"tt whoami\" gives your harness session, if it is recognised."`
	TopicID     string  `json:"topic_id,omitempty" jsonschema:"The topic. Give either this or name."`
	Name        string  `json:"name,omitempty" jsonschema:"The topic's name. Give either this or topic_id."`
	AllowClosed bool    `json:"allow_closed,omitempty" default:"false" jsonschema:"Whether a closed topic will do where no open one has the name."`
	Agents      bool    `json:"agents,omitempty" default:"false" jsonschema:"Whether to say which other agents are connected, and when each was last seen. Joining again under one name is harmless."`
}

// Check implements [Arguments]. An empty selector counts as not given.
func (a *Join) Check(topic.Limits) (_ []Warning, err error) {
	if a.AgentName != nil {
		if *a.AgentName, err = ValidateAgentName(*a.AgentName); err != nil {
			return nil, err
		}
	}
	a.TopicID, err = strings.TrimSpace(a.TopicID), trimName(&a.Name)
	if (a.TopicID == "") == (a.Name == "") && err == nil {
		err = code.New(topic.InvalidArgument, "exactly one of topic_id and name must be given").With(topic.DetailArgument, "topic_id")
	}
	return nil, err
}

// Agent returns the name of the agent, which is defaultName if none is given.
func (a *Join) Agent(defaultName func() string) (string, error) {
	if a.AgentName != nil {
		return *a.AgentName, nil
	}
	name := defaultName()
	if name == "" {
		return "", topic.Invalid("agent_name", "is required: no harness session was recognised that could name the agent")
	}
	return ValidateAgentName(name)
}

// Ask are the arguments of ask.
type Ask struct {
	OnTopic
	Question    string  `json:"question" jsonschema:"The question, with all that others need to answer it. At most QUESTION_CHARS characters."`
	WaitSeconds int     `json:"wait_seconds,omitempty" default:"60" jsonschema:"How long to wait for an answer; 0 returns at once. More than MAX_WAIT is MAX_WAIT."`
	Recipient   *string `json:"to,omitempty" jsonschema:"The agent_name of the one agent whom it is offered to, or human for any person. Left out: every agent on the topic."`

	To string `json:"-"` // the recipient, "" for every agent
}

// Check implements [Arguments].
func (a *Ask) Check(l topic.Limits) (_ []Warning, err error) {
	switch err = checkNotBlank("question", a.Question, l.QuestionChars); {
	case err != nil || a.Recipient == nil:
	case isBlank(*a.Recipient):
		err = topic.Invalid("to", "must not be blank; leave it out to ask every agent")
	default:
		a.To, err = validateName("to", *a.Recipient)
	}
	return nil, cmp.Or(err, atLeast("wait_seconds", a.WaitSeconds, 0))
}

// OfQuestion are the first arguments of the tools that are about one question, and all of
// question_mark_answered.
type OfQuestion struct {
	OnTopic
	QuestionID string `json:"question_id" jsonschema:"The question, as ask returned it."`
}

// Poll are the arguments of ask_poll.
type Poll struct {
	OfQuestion
	WaitSeconds int `json:"wait_seconds,omitempty" default:"0" jsonschema:"How long to wait for answers; 0 returns at once. More than MAX_WAIT is MAX_WAIT."`
	MinAnswers  int `json:"min_answers,omitempty" default:"1" jsonschema:"How many answers end the wait."`
	Skip        int `json:"skip,omitempty" default:"0" jsonschema:"How many of the oldest answers to leave out. Use what next_action says when a result could not hold all answers."`
}

// Check implements [Arguments].
func (a *Poll) Check(topic.Limits) ([]Warning, error) {
	return nil, cmp.Or(atLeast("min_answers", a.MinAnswers, 1), atLeast("skip", a.Skip, 0), atLeast("wait_seconds", a.WaitSeconds, 0))
}

// Cancel are the arguments of ask_cancel.
type Cancel struct {
	OfQuestion
	Reason string `json:"reason,omitempty" jsonschema:"Why, for the others."`
}

// Check implements [Arguments].
func (a *Cancel) Check(l topic.Limits) ([]Warning, error) {
	return nil, checkText("reason", a.Reason, l.ReasonChars)
}

// Pending are the arguments of pending_list.
type Pending struct {
	OnTopic
	Limit       int  `json:"limit,omitempty" default:"20" jsonschema:"How many at most."`
	WaitSeconds int  `json:"wait_seconds,omitempty" default:"60" jsonschema:"How long to wait for a question; 0 returns at once. More than MAX_WAIT is MAX_WAIT."`
	Mine        bool `json:"mine,omitempty" default:"false" jsonschema:"Whether to list your own open questions instead, such as one whose ask was interrupted."`
}

// Check implements [Arguments]. Own questions are not waited for.
func (a *Pending) Check(topic.Limits) ([]Warning, error) {
	err := cmp.Or(atLeast("limit", a.Limit, 1), atLeast("wait_seconds", a.WaitSeconds, 0))
	if a.Mine {
		a.WaitSeconds = 0
	}
	return nil, err
}

// Answer are the arguments of answer.
type Answer struct {
	OnTopic
	Responses []Response `json:"responses" jsonschema:"One object for each question, at most BATCH."`
}

// A Response is an answer to one question.
type Response struct {
	QuestionID string   `json:"question_id" jsonschema:"The question, as pending_list returned it."`
	Markdown   string   `json:"answer_markdown" jsonschema:"The answer, in Markdown. At most ANSWER_CHARS characters."`
	Pointers   []string `json:"repo_pointers,omitempty" jsonschema:"Where to look, such as path/to/file.go or module:name. The first 10 are kept; at most 4096 characters each."`
	Followups  []string `json:"suggested_followups" jsonschema:"What the asker should ask next: at least one, of which the first 5 are kept; none blank, at most 8000 characters each."`
}

// Check implements [Arguments]. Whatever is wrong in one response refuses all of them, and so do
// two responses to the same question.
func (a *Answer) Check(l topic.Limits) (warnings []Warning, err error) {
	switch n := len(a.Responses); {
	case a.Responses == nil:
		return nil, topic.Invalid("responses", "is required")
	case n > l.Batch:
		return nil, topic.Invalid("responses", "has %d items, which exceeds the maximum of %d; send the rest in another call", n, l.Batch)
	}
	first := make(map[string]int, len(a.Responses)) // by question
	for i := range a.Responses {
		r, at := &a.Responses[i], fmt.Sprintf("responses[%d].", i)
		cut, err := r.Check(at, l)
		if err == nil && len(r.Followups) == 0 {
			err = topic.Invalid(at+"suggested_followups", "is required and must have at least one entry")
		}
		if j, twice := first[r.QuestionID]; twice && err == nil {
			err = topic.Invalid(at+"question_id", "is %q, as in responses[%d]: a question is answered once", topic.Clip(r.QuestionID), j)
		}
		if err != nil {
			return nil, err
		}
		first[r.QuestionID], warnings = i, append(warnings, cut...)
	}
	return warnings, nil
}

// Stored returns the responses as they are stored.
func (a *Answer) Stored() (list []topic.Response) {
	for _, r := range a.Responses {
		list = append(list, topic.Response{QuestionID: r.QuestionID, Payload: topic.Payload{Markdown: r.Markdown, Pointers: r.Pointers,
			Followups: r.Followups}})
	}
	return list
}

// Check refuses a response with a text that is blank or too long, and cuts its lists to the
// number of entries that are kept, with a warning. Errors name the arguments after at.
func (r *Response) Check(at string, l topic.Limits) (warnings []Warning, err error) {
	if err := checkNotBlank(at+"answer_markdown", r.Markdown, l.AnswerChars); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(r.Followups, isBlank); i >= 0 {
		return nil, topic.Invalid(fmt.Sprintf("%ssuggested_followups[%d]", at, i), "must not be blank")
	}
	for _, list := range []struct {
		name        string
		texts       *[]string
		kept, chars int
		warning     string
	}{
		{"repo_pointers", &r.Pointers, topic.MaxPointers, topic.MaxPointerChars, WarnPointersTruncated},
		{"suggested_followups", &r.Followups, topic.MaxFollowups, topic.MaxFollowupChars, WarnFollowupsCut},
	} {
		given := *list.texts
		*list.texts = append([]string{}, given[:min(list.kept, len(given))]...) // never nil: it is written as []
		for i, text := range *list.texts {
			if err := checkText(fmt.Sprintf("%s%s[%d]", at, list.name, i), text, list.chars); err != nil {
				return nil, err
			}
		}
		if len(given) > list.kept {
			warnings = append(warnings, Warning{
				Code:    list.warning,
				Message: fmt.Sprintf("only the first %d of %d were kept", list.kept, len(given)),
				Context: map[string]any{"question_id": r.QuestionID, "original_count": len(given), "kept_count": list.kept},
			})
		}
	}
	return warnings, nil
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

// checkLine is checkText for a text that must be printable on one line: without control
// characters, line and paragraph separators, and marks that change the direction of writing.
func checkLine(argument, text string, limit int) error {
	if err := checkText(argument, text, limit); err != nil {
		return err
	}
	for _, r := range text {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return topic.Invalid(argument, "must not contain line breaks or control characters (found %U)", r)
		}
	}
	return nil
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

func atLeast(argument string, n, least int) error {
	if n < least {
		return topic.Invalid(argument, "must be %d or more, not %d", least, n)
	}
	return nil
}
