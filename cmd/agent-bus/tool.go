package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// A tool is one row of the table in tools.go.
type tool struct {
	name        string
	title       string
	description string
	params      []param
	reads       bool // changes nothing, so that clients need not ask their user
	idempotent  bool // doing it twice is the same as once
	ends        bool // ends something for everybody, which cannot be undone
	anytime     bool // need not wait for the client's earlier calls
	large       bool // results can be larger than clients show unless asked to
	run         func(context.Context, *call) (tools.Result, error)
}

// A call is one use of a tool.
type call struct {
	*server
	session *session
	request *mcp.CallToolRequest
	args    tools.Args
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
			Title: t.title, ReadOnlyHint: t.reads, IdempotentHint: t.idempotent || t.reads, DestructiveHint: &t.ends, OpenWorldHint: &no,
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
	if t.anytime {
		s.order.leave(number)
	} else if err := s.order.enter(ctx, number); err != nil {
		return nil, err
	}
	unknown := args.Unknown(t.argumentNames())
	result, err := t.run(ctx, &call{
		server: s, session: s.sessions.of(request.Session), request: request, args: args, startsWaiting: func() { s.order.leave(number) },
	})
	if err != nil {
		return nil, withUnknown(err, unknown)
	}
	result.Warn(unknown...)
	return result, nil
}

func (t *tool) argumentNames() []string {
	names := []string{} // a tool without arguments knows none
	for _, p := range t.params {
		names = append(names, p.name)
	}
	return names
}

// withUnknown tells with a refused argument which ones were ignored: most often
// the missing one was misspelled.
func withUnknown(err error, unknown []tools.Warning) error {
	var e *code.Error
	if len(unknown) == 0 || !errors.As(err, &e) || e.Code != topic.InvalidArgument {
		return err
	}
	refusal := *e
	refusal.Details = nil
	for key, value := range e.Details {
		refusal.With(key, value)
	}
	return refusal.With("warnings", unknown)
}

// toolResult is the result as the protocol carries it: in two forms, because clients
// show their model only one of them, and not all the same one.
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

func textContent(text string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: text}} }
