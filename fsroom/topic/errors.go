package topic

import (
	"fmt"

	"github.com/talking-stick/tt/fsroom/code"
)

// The codes of the rules' refusals.
const (
	TopicNotFound            code.Code = "TOPIC_NOT_FOUND"
	TopicClosed              code.Code = "TOPIC_CLOSED"
	TopicFull                code.Code = "TOPIC_FULL" // no room for another pending question
	QuestionNotFound         code.Code = "QUESTION_NOT_FOUND"
	InvalidArgument          code.Code = "INVALID_ARGUMENT"
	ForbiddenSelfAnswer      code.Code = "FORBIDDEN_SELF_ANSWER"
	ForbiddenAlreadyAnswered code.Code = "FORBIDDEN_ALREADY_ANSWERED"
	ForbiddenNotAsker        code.Code = "FORBIDDEN_NOT_ASKER"
)

// The details of refusals.
const (
	DetailForbidden = "forbidden_question_ids"        // a list of strings, as the next two
	DetailAnswered  = "already_answered_question_ids" //
	DetailOpen      = "open_question_ids"
	DetailArgument  = "argument" // of InvalidArgument: the argument's name
)

// Invalid returns the refusal of one argument. The message is the argument's
// name and what is wrong with it: "wait_seconds must be an integer".
func Invalid(argument, format string, args ...any) *code.Error {
	return code.New(InvalidArgument, "%s %s", argument, fmt.Sprintf(format, args...)).With(DetailArgument, argument)
}

// NotFound returns the refusal that no topic has the value as its selector,
// which is "topic_id" or "name".
func NotFound(selector, value string) *code.Error {
	return code.New(TopicNotFound, "no topic has the %s %q", selector, Clip(value))
}

// Clip shortens a text from outside for use in a message.
func Clip(s string) string { return ClipTo(s, 60) }

// ClipTo shortens a text to so many characters.
func ClipTo(s string, longest int) string {
	n := 0
	for i := range s {
		if n++; n > longest {
			return s[:i] + "…"
		}
	}
	return s
}
