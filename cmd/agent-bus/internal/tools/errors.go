package tools

import (
	"errors"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// The codes that the bus adds to those of the rules.
const (
	AgentNotJoined code.Code = "AGENT_NOT_JOINED"
	TopicMismatch  code.Code = "TOPIC_MISMATCH"
	Busy           code.Code = "DB_BUSY"
	SchemaMismatch code.Code = "DB_SCHEMA_MISMATCH"
)

// NotJoined returns the refusal that the session has no agent_name on the topic.
func NotJoined(topicID string) *code.Error {
	return code.New(AgentNotJoined, "this session has not joined topic %q", topic.Clip(topicID)).
		WithHint("call topic_join with your agent_name first; a restarted server has to be joined again")
}

// Mismatch returns the refusal that the question is on another topic.
func Mismatch(questionID, topicID string) *code.Error {
	return code.New(TopicMismatch, "question %s is not on topic %s", topic.Clip(questionID), topic.Clip(topicID)).
		WithHint("use the topic_id with which the question was asked")
}

// Translate returns an error with the code by which the bus reports it. A lock that
// could not be taken in time is DB_BUSY, another format DB_SCHEMA_MISMATCH, and the
// other codes of storage are written in capitals. The hint and the details stay. Nil
// stays nil.
func Translate(err error) *code.Error {
	if err == nil {
		return nil
	}
	var known *code.Error
	if !errors.As(err, &known) {
		return code.New("INTERNAL", "%s", err).Because(err)
	}
	e := *known
	switch e.Code {
	case code.LockTimeout:
		e.Code = Busy
		e.Message = strings.Replace(e.Message, "the room's lock", "the topic's lock", 1)
	case code.UnsupportedFormat:
		e.Code = SchemaMismatch
		if name, ok := strings.CutPrefix(e.Message, "room "); ok {
			e.Message = "topic " + name
		}
	default:
		e.Code = code.Code(strings.ToUpper(string(e.Code)))
	}
	if e.Code == topic.TopicNotFound && e.Hint == "" {
		e.Hint = "list the topics with topic_list, or make one with topic_create"
	}
	return &e
}

// ErrorResult returns an error as a tool answers it: the text, which is all that
// many clients show their model, and the structured content
// {"error":{"code","message"}, …details}.
func ErrorResult(err error) (text string, structured map[string]any) {
	e := Translate(err)
	structured = make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		structured[k] = v
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
	structured["error"] = reported
	return text, structured
}
