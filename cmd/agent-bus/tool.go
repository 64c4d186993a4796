package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// A tool is one row of the table in tools.go.
type tool struct {
	name        string
	title       string
	description string
	params      []param
	onTopic     bool // has an argument topic_id, which is required
	joined      bool // onTopic, and only for sessions that have joined the topic
	readOnly    bool // changes nothing, so that clients need not ask their user
	idempotent  bool // calling it twice is the same as once
	destructive bool // ends something for everybody, which cannot be undone
	unordered   bool // need not wait for the client's earlier calls
	large       bool // results can be larger than clients show by default
	run         func(context.Context, *call) (tools.Result, error)
}

// A call is one use of a tool.
type call struct {
	*server
	request *mcp.CallToolRequest
	args    *tools.Args
	topicID string           // of a tool that is onTopic
	topic   *questions.Topic // likewise
	member  *membership      // of the session in that topic, nil if it has not joined
	agent   string           // its name there, "" without one
	// startsWaiting lets the client's later calls go on.
	startsWaiting func()
}

// add makes the tool one of the server's.
func (s *server) add(t *tool) {
	no := false
	var meta mcp.Meta
	if t.large {
		meta = mcp.Meta{"anthropic/maxResultSizeChars": 500_000}
	}
	s.mcp.AddTool(&mcp.Tool{
		Meta: meta, Name: t.name, Title: t.title, Description: t.description, InputSchema: object(t.params...),
		Annotations: &mcp.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.readOnly, IdempotentHint: t.idempotent || t.readOnly, DestructiveHint: &t.destructive,
			OpenWorldHint: &no,
		},
	}, func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.result(ctx, t, request)
	})
}

func (s *server) result(ctx context.Context, t *tool, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	result, err := s.call(ctx, t, request)
	if err != nil && gaveUp(ctx, err) {
		return nil, err // nobody reads it
	}
	return toolResult(result, s.busError(err))
}

func (s *server) call(ctx context.Context, t *tool, request *mcp.CallToolRequest) (tools.Result, error) {
	args, err := tools.ParseArgs(request.Params.Arguments)
	if err != nil {
		return nil, err
	}
	number := numberOf(request)
	defer s.order.leave(number)
	if t.unordered {
		s.order.leave(number)
	} else if err := s.order.enter(ctx, number); err != nil {
		return nil, err
	}
	unknown := args.Unknown(t.argumentNames())
	c := &call{
		server: s, request: request, args: args, startsWaiting: func() { s.order.leave(number) },
	}
	result, err := t.start(ctx, c)
	if err != nil {
		return nil, withUnknown(err, unknown)
	}
	return warned(result, unknown...), nil
}

// start finds out the topic and the agent if the tool needs them, and runs the tool.
func (t *tool) start(ctx context.Context, c *call) (result tools.Result, err error) {
	if !t.onTopic {
		return t.run(ctx, c)
	}
	if c.topicID = c.args.Required("topic_id"); c.args.Err() != nil {
		return nil, c.args.Err()
	}
	if c.member = c.session.membership(c.topicID); c.member == nil && t.joined {
		return nil, tools.NotJoined(c.topicID)
	}
	c.topic, c.args.Otherwise = c.Topic(c.topicID) // which the tool returns, if no argument is wrong
	if c.member != nil {
		c.agent = c.member.agent
	}
	if c.member != nil && c.args.Otherwise == nil {
		questions.Seen(c.topic, c.agent)
	}
	return t.run(ctx, c)
}

func (t *tool) argumentNames() []string {
	names := []string{} // a tool without arguments knows none
	for _, p := range t.params {
		names = append(names, p.name)
	}
	return names
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
