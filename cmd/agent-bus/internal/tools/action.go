package tools

import (
	"fmt"
)

// A NextAction is the call that the agent should make next.
type NextAction struct {
	Tool string   `json:"tool"`
	Args CallArgs `json:"args"`
}

// CallArgs are the arguments of a [NextAction], without those that are zero.
type CallArgs struct {
	TopicID     string `json:"topic_id"`
	QuestionID  string `json:"question_id,omitempty"`
	Skip        int    `json:"skip,omitempty"`
	Limit       int    `json:"limit,omitempty"`
	WaitSeconds int    `json:"wait_seconds,omitempty"`
}

// A ClientPlan says how often to make the call.
type ClientPlan struct {
	MaxAttempts int `json:"max_attempts"`
}

func pollAction(topicID, questionID string) NextAction {
	return NextAction{Tool: "ask_poll", Args: CallArgs{TopicID: topicID, QuestionID: questionID, WaitSeconds: MaxWaitSeconds}}
}

func pendingAction(topicID string) NextAction {
	return NextAction{Tool: "pending_list", Args: CallArgs{TopicID: topicID, Limit: DefaultListLimit, WaitSeconds: DefaultWaitSeconds}}
}

// Call writes the action as a call: ask_poll(topic_id="…", question_id="…").
func (a NextAction) Call() string {
	text := fmt.Sprintf("%s(topic_id=%q", a.Tool, a.Args.TopicID)
	if a.Args.QuestionID != "" {
		text += fmt.Sprintf(", question_id=%q", a.Args.QuestionID)
	}
	for _, arg := range []struct {
		name  string
		value int
	}{{"skip", a.Args.Skip}, {"limit", a.Args.Limit}, {"wait_seconds", a.Args.WaitSeconds}} {
		if arg.value != 0 {
			text += fmt.Sprintf(", %s=%d", arg.name, arg.value)
		}
	}
	return text + ")"
}
