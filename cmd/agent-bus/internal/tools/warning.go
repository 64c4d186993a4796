package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/topic"
)

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
	return Warning{Code: WarnUnknownRecipient, Message: message, Context: map[string]any{"to": to, "candidates": candidates}}
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

func truncated(warning, questionID string, had, kept int) Warning {
	return Warning{
		Code:    warning,
		Message: fmt.Sprintf("only the first %d of %d were kept", kept, had),
		Context: map[string]any{"question_id": questionID, "original_count": had, "kept_count": kept},
	}
}

// Already returns the warning that the topic or question had ended that way before
// the call.
func Already(warning, key, id string) Warning {
	return Warning{Code: warning, Message: "nothing was changed: the first time stands", Context: map[string]any{key: id}}
}
