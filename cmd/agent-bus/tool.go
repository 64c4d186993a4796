package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// A tool is one row of the table in tools.go.
type tool struct {
	name   string
	title  string
	about  string
	params []param
	reads  bool // changes nothing, so that clients need not ask their user
	again  bool // doing it twice is the same as once
	run    func(context.Context, *call) (topic.Result, error)
}

// A call is one use of a tool.
type call struct {
	*server
	session *session
	request *mcp.CallToolRequest
	args    topic.Args
}

// add makes the tool one of the server's.
func (s *server) add(t *tool) {
	no := false
	s.mcp.AddTool(&mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: object(t.params...),
		Annotations: &mcp.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.reads, IdempotentHint: t.again || t.reads, DestructiveHint: &no, OpenWorldHint: &no,
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
	return toolResult(result, err)
}

func (s *server) call(ctx context.Context, t *tool, request *mcp.CallToolRequest) (topic.Result, error) {
	args, err := topic.ParseArgs(request.Params.Arguments)
	if err != nil {
		return nil, err
	}
	strangers := args.Unknown(t.argumentNames())
	result, err := t.run(ctx, &call{server: s, session: s.sessions.of(request.Session), request: request, args: args})
	if err != nil {
		return nil, withStrangers(err, strangers)
	}
	result.Warn(strangers...)
	return result, nil
}

func (t *tool) argumentNames() []string {
	names := []string{} // a tool without arguments knows none
	for _, p := range t.params {
		names = append(names, p.name)
	}
	return names
}

// withStrangers tells with a refused argument which ones were ignored: most
// often the missing one was misspelled.
func withStrangers(err error, strangers []topic.Warning) error {
	var e *code.Error
	if len(strangers) == 0 || !errors.As(err, &e) || e.Code != topic.InvalidArgument {
		return err
	}
	told := *e
	told.Details = nil
	for key, value := range e.Details {
		told.With(key, value)
	}
	if told.Hint == "" {
		told.Hint = strangers[0].Message
	}
	return told.With("warnings", strangers)
}

// toolResult is the result as the protocol carries it: in two forms, because clients
// show their model only one of them, and not all the same one.
func toolResult(result topic.Result, err error) (*mcp.CallToolResult, error) {
	if err != nil {
		text, structured := topic.ErrorResult(busError(err))
		return &mcp.CallToolResult{IsError: true, Content: textContent(text), StructuredContent: structured}, nil
	}
	structured, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: textContent(result.Text()), StructuredContent: json.RawMessage(structured)}, nil
}

func textContent(text string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: text}} }
