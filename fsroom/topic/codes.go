package topic

import (
	"errors"
	"fmt"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// The codes of the agent bus.
const (
	TopicNotFound            code.Code = "TOPIC_NOT_FOUND"
	TopicClosed              code.Code = "TOPIC_CLOSED"
	TopicFull                code.Code = "TOPIC_FULL" // as many pending questions as the limit allows
	TopicMismatch            code.Code = "TOPIC_MISMATCH"
	QuestionNotFound         code.Code = "QUESTION_NOT_FOUND"
	InvalidArgument          code.Code = "INVALID_ARGUMENT"
	AgentNotJoined           code.Code = "AGENT_NOT_JOINED"
	ForbiddenSelfAnswer      code.Code = "FORBIDDEN_SELF_ANSWER"
	ForbiddenAlreadyAnswered code.Code = "FORBIDDEN_ALREADY_ANSWERED"
	ForbiddenNotAsker        code.Code = "FORBIDDEN_NOT_ASKER"
	Busy                     code.Code = "DB_BUSY"
	SchemaMismatch           code.Code = "DB_SCHEMA_MISMATCH"
)

// The details that carry the offending ids, as lists of strings.
const (
	DetailForbidden = "forbidden_question_ids"
	DetailAnswered  = "already_answered_question_ids"
	DetailOpen      = "open_question_ids"
	DetailArgument  = "argument" // of INVALID_ARGUMENT: the argument's name
)

// Invalid is the refusal of one argument. The message is the argument's name
// and then what is wrong with it: "wait_seconds must be an integer".
func Invalid(argument, format string, args ...any) *code.Error {
	return code.New(InvalidArgument, "%s %s", argument, fmt.Sprintf(format, args...)).With(DetailArgument, argument)
}

// NotFound says that there is no topic with the id or the name.
func NotFound(selector, value string) *code.Error {
	return code.New(TopicNotFound, "no topic has the %s %q", selector, clip(value)).
		WithHint("list the topics with topic_list, or make one with topic_create")
}

// NotJoined says that the session has no agent_name on the topic.
func NotJoined(topicID string) *code.Error {
	return code.New(AgentNotJoined, "this session has not joined topic %q", clip(topicID)).
		WithHint("call topic_join with your agent_name first; a restarted server has to be joined again")
}

// Mismatch says that the question exists, on another topic.
func Mismatch(questionID, topicID string) *code.Error {
	return code.New(TopicMismatch, "question %s is not on topic %s", clip(questionID), clip(topicID)).
		WithHint("use the topic_id with which the question was asked")
}

func questionNotFound(id string) *code.Error {
	return code.New(QuestionNotFound, "topic has no question %q", clip(id))
}

// Translate gives any error the form in which the bus reports it. The codes of
// storage become those of the bus: a lock that was not had in time is DB_BUSY,
// another format DB_SCHEMA_MISMATCH, and the others are written in capitals.
// The message, the hint and the details stay. Nil stays nil.
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
	case code.RoomNotFound:
		e.Code = TopicNotFound
	default:
		e.Code = code.Code(strings.ToUpper(string(e.Code)))
	}
	return &e
}

// clip shortens what an agent sent for use in a message.
func clip(s string) string { return clipTo(s, 60) }

// clipTo shortens a text to so many characters.
func clipTo(s string, longest int) string {
	n := 0
	for i := range s {
		if n++; n > longest {
			return s[:i] + "…"
		}
	}
	return s
}
