package main

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/topic"
)

// Arguments that several tools have. topicIDParam is the first argument of each tool
// that is onTopic.
var (
	topicIDParam     = param{name: "topic_id", kind: "string", required: true, description: "The topic, as topic_create or topic_join returned it."}
	questionIDParam  = param{name: "question_id", kind: "string", required: true, description: "The question, as ask returned it."}
	allowClosedParam = param{name: "allow_closed", kind: "boolean", defaultValue: false, description: "Whether a closed topic will do where no open one has the name."}
)

func waitParam(forWhat string, defaultSeconds int) param {
	return param{
		name: "wait_seconds", kind: "integer", defaultValue: defaultSeconds,
		description: fmt.Sprintf("How long to wait for %s; 0 returns at once. More than %d is %d.", forWhat, tools.MaxWaitSeconds, tools.MaxWaitSeconds),
	}
}

// toolTable returns the twelve tools of the specification. Their descriptions name
// the limits.
func toolTable(l topic.Limits) []*tool {
	table := append(topicTools(), questionTools(l)...)
	for _, t := range table {
		if t.onTopic {
			t.params = append([]param{topicIDParam}, t.params...)
		}
	}
	return table
}

func topicTools() []*tool {
	return []*tool{
		{
			name: "ping", title: "Ping", readOnly: true, unordered: true, run: ping,
			description: "Check that the server is there, and in which data directory it keeps topics. Touches no file.",
		},
		{
			name: "topic_create", title: "Create a topic", run: topicCreate,
			description: "Find the open topic with a name, or make one. Agents that are to talk use the same name.",
			params: []param{
				{name: "name", kind: "string", description: "A name people would recognise, such as the project's. At most 200 characters on one line. Left out: one made from the id."},
				{name: "metadata", kind: "object", description: "Anything worth keeping with a new topic, nested at most 100 levels deep. Ignored when a topic is reused."},
				{name: "mode", kind: "string", defaultValue: topic.ModeReuse, choices: []any{topic.ModeReuse, topic.ModeNew}, description: "reuse returns the newest open topic of that name if there is one; new always makes one."},
			},
		},
		{
			name: "topic_list", title: "List topics", readOnly: true, run: topicList,
			description: "List topics with the number of their questions, the newest first.",
			params: []param{
				{name: "status", kind: "string", defaultValue: topic.ListOpen, choices: []any{topic.ListOpen, topic.ListClosed, topic.ListAll}, description: "Which topics."},
			},
		},
		{
			name: "topic_resolve", title: "Find a topic by name", readOnly: true, run: topicResolve,
			description: "Find the newest open topic with exactly this name.",
			params: []param{
				{name: "name", kind: "string", required: true, description: "The topic's name."},
				allowClosedParam,
			},
		},
		{
			name: "topic_close", title: "Close a topic", idempotent: true, destructive: true, onTopic: true, run: topicClose,
			description: "Close a topic for new questions, for everybody and for good. Any agent can. Questions already asked can still be answered.",
			params: []param{
				{name: "reason", kind: "string", description: "Why, for the others."},
			},
		},
		{
			name: "topic_join", title: "Join a topic", idempotent: true, run: topicJoin,
			description: "Join a topic under a name, for this session. Needed once before ask, pending_list, answer, ask_cancel and question_mark_answered.",
			params: []param{
				{name: "agent_name", kind: "string", description: "Who you are on this topic, such as red-squirrel: at most 64 characters on one line, and nobody else's. You are never offered questions asked under your own name. Left out: the id that \"tt whoami\" gives your harness session, if it is recognised."},
				{name: "topic_id", kind: "string", description: "The topic. Give either this or name."},
				{name: "name", kind: "string", description: "The topic's name. Give either this or topic_id."},
				allowClosedParam,
				{name: "agents", kind: "boolean", defaultValue: false, description: "Whether to say which other agents are connected, and when each was last seen. Joining again under one name is harmless."},
			},
		},
	}
}

func questionTools(l topic.Limits) []*tool {
	return []*tool{
		{
			name: "ask", title: "Ask a question", large: true, onTopic: true, joined: true, run: ask,
			description: "Ask the other agents on a topic, and wait for the first answer. More answers may come; ask_poll returns all. The question stays open until you mark it answered or cancel it.",
			params: []param{
				{name: "question", kind: "string", required: true, description: fmt.Sprintf("The question, with all that others need to answer it. At most %d characters.", l.QuestionChars)},
				waitParam("an answer", tools.DefaultWaitSeconds),
				{name: "to", kind: "string", description: "The agent_name of the one agent whom it is offered to, or human for any person. Left out: every agent on the topic."},
			},
		},
		{
			name: "ask_poll", title: "Look for answers", readOnly: true, large: true, onTopic: true, run: askPoll,
			description: "Look how a question stands, and read all its answers. With wait_seconds, wait first until it has min_answers answers.",
			params: []param{
				questionIDParam,
				waitParam("answers", 0),
				{name: "min_answers", kind: "integer", defaultValue: 1, description: "How many answers end the wait."},
				{name: "skip", kind: "integer", defaultValue: 0, description: "How many of the oldest answers to leave out. Use what next_action says when a result could not hold all answers."},
			},
		},
		{
			name: "ask_cancel", title: "Cancel a question", idempotent: true, onTopic: true, joined: true, run: askCancel,
			description: "Withdraw a question of your own: nobody is offered it any more.",
			params: []param{
				questionIDParam,
				{name: "reason", kind: "string", description: "Why, for the others."},
			},
		},
		{
			name: "question_mark_answered", title: "Mark a question answered", idempotent: true, onTopic: true, joined: true, run: questionMarkAnswered,
			description: "Close a question of your own that has been answered well enough: nobody is offered it any more.",
			params:      []param{questionIDParam},
		},
		{
			name: "pending_list", title: "List questions to answer", readOnly: true, large: true, onTopic: true, joined: true, run: pendingList,
			description: "List the questions of others that you can answer and have not, the oldest first. Waits until there is one. With mine, list your own open questions instead, without waiting.",
			params: []param{
				{name: "limit", kind: "integer", defaultValue: tools.DefaultListLimit, description: "How many at most."},
				waitParam("a question", tools.DefaultWaitSeconds),
				{name: "mine", kind: "boolean", defaultValue: false, description: "Whether to list your own open questions instead, such as one whose ask was interrupted."},
			},
		},
		{
			name: "answer", title: "Answer questions", onTopic: true, joined: true, run: answer,
			description: "Answer one or more questions, each once. All are stored or, if one is refused, none.",
			params: []param{
				{name: "responses", kind: "array", required: true, description: fmt.Sprintf("One object for each question, at most %d.", l.Batch), items: object(responseParams(l)...)},
			},
		},
	}
}

func responseParams(l topic.Limits) []param {
	return []param{
		{name: "question_id", kind: "string", required: true, description: "The question, as pending_list returned it."},
		{name: "answer_markdown", kind: "string", required: true, description: fmt.Sprintf("The answer, in Markdown. At most %d characters.", l.AnswerChars)},
		{name: "repo_pointers", kind: "array", items: listOf("string"), description: "Where to look, such as path/to/file.go or module:name. The first 10 are kept; at most 4096 characters each."},
		{name: "suggested_followups", kind: "array", required: true, items: listOf("string"), description: "What the asker should ask next: at least one, of which the first 5 are kept; none blank, at most 8000 characters each."},
	}
}

// A param is one argument of a tool in its input schema. Calls accept more than the
// schema says: see [tools.Args].
type param struct {
	name         string
	kind         string // the one JSON type
	description  string
	required     bool
	defaultValue any                // nil for none
	choices      []any              // the only values
	items        *jsonschema.Schema // of an array
}

// object returns the schema of an object with the params, in their order. It has no
// unions and no references, because some clients reject them.
func object(params ...param) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: make(map[string]*jsonschema.Schema)}
	for _, p := range params {
		s.PropertyOrder = append(s.PropertyOrder, p.name)
		s.Properties[p.name] = &jsonschema.Schema{Type: p.kind, Description: p.description, Enum: p.choices, Items: p.items}
		if p.defaultValue != nil {
			s.Properties[p.name].Default = toJSON(p.defaultValue)
		}
		if p.required {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

func listOf(kind string) *jsonschema.Schema { return &jsonschema.Schema{Type: kind} }

// toJSON returns the JSON of a value that has one.
func toJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic("agent-bus: schema: " + err.Error())
	}
	return data
}
