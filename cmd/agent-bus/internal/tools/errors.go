package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

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
	maps.Copy(structured, e.Details)
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

// A Warning comes with a result that is a success.
type Warning struct {
	Code    string         `json:"code"`
	Message string         `json:"message,omitempty"`
	Context map[string]any `json:"context,omitempty"`
}

// The codes of warnings.
const (
	WarnAlreadyClosed     = "ALREADY_CLOSED"
	WarnAlreadyCancelled  = "ALREADY_CANCELLED"
	WarnAlreadyAnswered   = "ALREADY_ANSWERED"
	WarnPointersTruncated = "REPO_POINTERS_TRUNCATED"
	WarnFollowupsCut      = "FOLLOWUPS_TRUNCATED"
	WarnUnknownArgument   = "UNKNOWN_ARGUMENT"
	WarnNameInUse         = "AGENT_NAME_IN_USE"
	WarnUnknownRecipient  = "UNKNOWN_RECIPIENT"
	WarnRoomEnded         = "ROOM_ENDED"
)

// warningsText writes each warning on a line, which begins with the line break.
func warningsText(warnings []Warning) string {
	var b strings.Builder
	for _, w := range warnings {
		fmt.Fprintf(&b, "\nwarning %s", w.Code)
		if w.Message != "" {
			fmt.Fprintf(&b, ": %s", w.Message)
		}
		var context []string
		for _, key := range slices.Sorted(maps.Keys(w.Context)) {
			context = append(context, fmt.Sprintf("%s=%v", key, w.Context[key]))
		}
		if context != nil {
			fmt.Fprintf(&b, " (%s)", strings.Join(context, ", "))
		}
	}
	return b.String()
}

// NameInUse returns the warning that another live session has joined the topic under
// the same name. The two sessions count as one agent.
func NameInUse(topicID, agent string) Warning {
	return Warning{
		Code: WarnNameInUse,
		Message: fmt.Sprintf("another live session is %s on this topic: neither is offered the other's questions; pick another "+
			"name unless you are the same agent", agent),
		Context: map[string]any{"topic_id": topicID, "agent_name": agent},
	}
}

// UnknownRecipient is the warning about a question for an agent that nobody has seen.
func UnknownRecipient(to string, candidates []string) Warning {
	message := to + " has not been seen here: the question waits until an agent of that name comes"
	if len(candidates) > 0 {
		message += "; there are " + strings.Join(candidates, ", ")
	}
	return Warning{Code: WarnUnknownRecipient, Message: message, Context: map[string]any{"to": to, "candidates": append([]string{}, candidates...)}}
}

// RoomEnded is the warning about a question on the topic of a room of tt that has ended.
func RoomEnded(topicID string) Warning {
	return Warning{Code: WarnRoomEnded, Message: "the room of this topic has ended: nobody is told of the question there",
		Context: map[string]any{"topic_id": topicID}}
}

// unknownArguments returns one warning for each name that is not known, in alphabetical order.
func unknownArguments(prefix string, given map[string]json.RawMessage, known []string) (warnings []Warning) {
	what := "the arguments are " + strings.Join(known, ", ")
	if len(known) == 0 {
		what = "the tool takes no arguments"
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		warnings = append(warnings, Warning{
			Code:    WarnUnknownArgument,
			Message: prefix + topic.Clip(name) + " was ignored; " + what,
			Context: map[string]any{topic.DetailArgument: prefix + topic.Clip(name)},
		})
	}
	return warnings
}

// Already returns the warning that the topic or question had ended that way before
// the call.
func Already(warning, key, id string) Warning {
	return Warning{Code: warning, Message: "nothing was changed: the first time stands", Context: map[string]any{key: id}}
}

// Settings are what the AGENT_BUS_ variables set.
type Settings struct {
	topic.Limits
	// PollInitial and PollMax are the shortest and the longest time after which a
	// waiting call looks again where changes cannot be watched.
	PollInitial, PollMax time.Duration
}

// SettingsFrom reads the environment variables. A missing or empty variable has its
// default; one that is not a number or out of range is an error that names it.
// PollInitial is never more than PollMax.
func SettingsFrom(lookup func(string) string) (Settings, error) {
	s := Settings{Limits: topic.DefaultLimits()}
	pollInitial, pollMax := 250, 1000 // milliseconds
	for _, v := range []struct {
		name   string
		lo, hi int
		value  *int
	}{
		{"AGENT_BUS_MAX_QUESTION_CHARS", 1, topic.MaxTextChars, &s.QuestionChars},
		{"AGENT_BUS_MAX_ANSWER_CHARS", 1, topic.MaxTextChars, &s.AnswerChars},
		{"AGENT_BUS_MAX_PUBLISH_BATCH", 1, 1000, &s.Batch},
		{"AGENT_BUS_MAX_OPEN_QUESTIONS", 1, 1_000_000, &s.OpenQuestions},
		{"AGENT_BUS_MAX_METADATA_BYTES", 2, 1 << 20, &s.MetadataBytes},
		{"AGENT_BUS_MAX_REASON_CHARS", 1, 10_000, &s.ReasonChars},
		{"AGENT_BUS_POLL_INITIAL_MS", 1, 60_000, &pollInitial},
		{"AGENT_BUS_POLL_MAX_MS", 1, 60_000, &pollMax},
	} {
		text := strings.TrimSpace(lookup(v.name))
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return Settings{}, code.New(topic.InvalidArgument, "%s must be a whole number, not %q", v.name, topic.Clip(text)).
				With("variable", v.name)
		}
		if n < v.lo || n > v.hi {
			return Settings{}, code.New(topic.InvalidArgument, "%s must be from %d to %d, not %d", v.name, v.lo, v.hi, n).With("variable", v.name)
		}
		*v.value = n
	}
	s.PollMax = time.Duration(pollMax) * time.Millisecond
	s.PollInitial = min(time.Duration(pollInitial)*time.Millisecond, s.PollMax)
	return s, nil
}
