package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// A tool is one row of [toolTable].
type tool struct {
	name        string
	title       string
	description string
	joined      bool // only for sessions that have joined the topic
	readOnly    bool // changes nothing, so that clients need not ask their user
	idempotent  bool // calling it twice is the same as once
	destructive bool // ends something for everybody, which cannot be undone
	unordered   bool // need not wait for the client's earlier calls
	large       bool // results can be larger than clients show by default
	arguments   func() tools.Arguments
	schema      *jsonschema.Schema
	run         func(context.Context, *call, tools.Arguments) (tools.Result, error)
}

// taking returns the tool with what runs it, whose arguments are of the type A.
func taking[A any, P interface {
	*A
	tools.Arguments
}](t tool, run func(context.Context, *call, P) (tools.Result, error)) *tool {
	t.arguments = func() tools.Arguments { return P(new(A)) }
	t.run = func(ctx context.Context, c *call, a tools.Arguments) (tools.Result, error) { return run(ctx, c, a.(P)) }
	return &t
}

// A call is one use of a tool.
type call struct {
	*server
	request *mcp.CallToolRequest
	topicID string           // of a tool that is about one topic
	topic   *questions.Topic // likewise
	member  *membership      // of the session in that topic, nil if it has not joined
	agent   string           // its name there, "" without one
}

// add makes the tool one of the server's.
func (s *server) add(t *tool) {
	no := false
	var meta mcp.Meta
	if t.large {
		meta = mcp.Meta{"anthropic/maxResultSizeChars": 500_000}
	}
	t.schema = tools.Schema(t.arguments(), s.limits)
	s.mcp.AddTool(&mcp.Tool{
		Meta: meta, Name: t.name, Title: t.title, Description: t.description, InputSchema: t.schema,
		Annotations: &mcp.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.readOnly, IdempotentHint: t.idempotent || t.readOnly, DestructiveHint: &t.destructive,
			OpenWorldHint: &no,
		},
	}, func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := s.call(ctx, t, request)
		if err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
			return nil, err // nobody reads it: the client has cancelled the call, or is gone
		}
		return toolResult(result, s.busError(err))
	})
}

func (s *server) call(ctx context.Context, t *tool, request *mcp.CallToolRequest) (tools.Result, error) {
	defer s.order.leave(request.Extra)
	if t.unordered {
		s.order.leave(request.Extra)
	} else if err := s.order.enter(ctx, request.Extra); err != nil {
		return nil, err
	}
	c := &call{server: s, request: request}
	a := t.arguments()
	unknown, wrong := tools.Read(request.Params.Arguments, t.schema, a)
	result, err := t.start(ctx, c, a, wrong)
	if err != nil {
		return nil, withUnknown(err, unknown)
	}
	return warned(result, unknown...), nil
}

// start finds out the topic and the agent if the tool needs them, and runs the tool. wrong is the
// error of the arguments, which are known up to the first wrong one.
func (t *tool) start(ctx context.Context, c *call, a tools.Arguments, wrong error) (result tools.Result, err error) {
	on, onTopic := a.(interface{ Topic() string })
	if onTopic && on.Topic() != "" {
		c.topicID = on.Topic()
		if c.member = c.session.membership(c.topicID); c.member == nil && t.joined {
			return nil, tools.NotJoined(c.topicID)
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	warnings, err := a.Check(c.limits)
	if err == nil && onTopic {
		c.topic, err = c.Topic(c.topicID)
	}
	if err != nil {
		return nil, err
	}
	if c.member != nil {
		c.agent = c.member.agent
		questions.Seen(c.topic, c.agent)
	}
	if result, err = t.run(ctx, c, a); err != nil {
		return nil, err
	}
	return warned(result, warnings...), nil
}

// withUnknown adds the unknown arguments to the refusal of an argument: often a
// missing argument was misspelled.
func withUnknown(err error, unknown []tools.Warning) error {
	var e *code.Error
	if len(unknown) == 0 || !errors.As(err, &e) || e.Code != topic.InvalidArgument {
		return err
	}
	refusal := *e
	refusal.Details = maps.Clone(e.Details)
	return refusal.With("warnings", unknown)
}

// toolResult returns the result or the error as the protocol carries it: as text and
// as JSON, because some clients show their model only the one and some the other.
func toolResult(result tools.Result, err error) (*mcp.CallToolResult, error) {
	if err != nil {
		text, structured := tools.ErrorResult(err)
		return &mcp.CallToolResult{IsError: true, Content: textContent(text), StructuredContent: structured}, nil
	}
	structured, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: textContent(tools.TextOf(result)), StructuredContent: json.RawMessage(structured)}, nil
}

// warned returns the result with the warnings.
func warned(r tools.Result, warnings ...tools.Warning) tools.Result {
	r.Warn(warnings...)
	return r
}

// textContent makes text of others visible: nothing in it moves a cursor or reorders text.
func textContent(text string) []mcp.Content {
	return []mcp.Content{&mcp.TextContent{Text: cli.Block(text)}}
}

// toolTable returns the twelve tools of the specification.
func toolTable() []*tool {
	return []*tool{
		taking(tool{
			name: "ping", title: "Ping", readOnly: true, unordered: true,
			description: "Check that the server is there, and in which data directory it keeps topics. Touches no file.",
		}, ping),
		taking(tool{
			name: "topic_create", title: "Create a topic",
			description: "Find the open topic with a name, or make one. Agents that are to talk use the same name.",
		}, topicCreate),
		taking(tool{
			name: "topic_list", title: "List topics", readOnly: true,
			description: "List topics with the number of their questions, the newest first.",
		}, topicList),
		taking(tool{
			name: "topic_resolve", title: "Find a topic by name", readOnly: true,
			description: "Find the newest open topic with exactly this name.",
		}, topicResolve),
		taking(tool{
			name: "topic_close", title: "Close a topic", idempotent: true, destructive: true,
			description: "Close a topic for new questions, for everybody and for good. Any agent can. Questions already asked can still be answered.",
		}, topicClose),
		taking(tool{
			name: "topic_join", title: "Join a topic", idempotent: true,
			description: "Join a topic under a name, for this session. Needed once before ask, pending_list, answer, ask_cancel and question_mark_answered.",
		}, topicJoin),
		taking(tool{
			name: "ask", title: "Ask a question", large: true, joined: true,
			description: "Ask the other agents on a topic, and wait for the first answer. More answers may come; ask_poll returns all. The question stays open until you mark it answered or cancel it.",
		}, ask),
		taking(tool{
			name: "ask_poll", title: "Look for answers", readOnly: true, large: true,
			description: "Look how a question stands, and read all its answers. With wait_seconds, wait first until it has min_answers answers.",
		}, askPoll),
		taking(tool{
			name: "ask_cancel", title: "Cancel a question", idempotent: true, joined: true,
			description: "Withdraw a question of your own: nobody is offered it any more.",
		}, askCancel),
		taking(tool{
			name: "question_mark_answered", title: "Mark a question answered", idempotent: true, joined: true,
			description: "Close a question of your own that has been answered well enough: nobody is offered it any more.",
		}, questionMarkAnswered),
		taking(tool{
			name: "pending_list", title: "List questions to answer", readOnly: true, large: true, joined: true,
			description: "List the questions of others that you can answer and have not, the oldest first. Waits until there is one. With mine, list your own open questions instead, without waiting.",
		}, pendingList),
		taking(tool{
			name: "answer", title: "Answer questions", joined: true,
			description: "Answer one or more questions, each once. All are stored or, if one is refused, none.",
		}, answer),
	}
}
