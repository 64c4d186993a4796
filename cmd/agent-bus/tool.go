package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	topic   *questions.Topic // of a tool that is about one topic
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
		if c.member = c.membership(on.Topic()); c.member == nil && t.joined {
			return nil, tools.NotJoined(on.Topic())
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	warnings, err := a.Check(c.limits)
	if err == nil && onTopic {
		c.topic, err = c.Topic(on.Topic())
	}
	if err != nil {
		return nil, err
	}
	if c.member != nil {
		c.agent = c.member.agent
		c.stay()
		questions.Seen(c.topic, c.agent)
	}
	if result, err = t.run(ctx, c, a); err != nil {
		return nil, err
	}
	return warned(result, warnings...), nil
}

// stay holds the mark of a session that has joined the topic again if nobody holds it, as after a copy was put back:
// the mark that the session holds is that of a removed file then.
func (c *call) stay() {
	if c.member == nil || c.topic.Shared() != nil || !c.topic.Exists() || c.topic.Agent(c.agent).Held(questions.JoinedMark) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memberships[c.topic.Name()] == c.member {
		c.member.hold(c.topic)
	}
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

// progressEvery is how often a waiting call sends a progress notification.
const progressEvery = 2 * time.Second

// errTimeUp ends a wait: its time is up, or the server is about to stop.
var errTimeUp = errors.New("time is up")

// until waits until over reports true for the topic of the call, for the seconds asked for but at
// most [tools.MaxWaitSeconds]. It returns nil also when the time is up or the server is
// about to stop: the caller looks at the topic again. An error means that the topic
// could not be read, or that the client has cancelled the call.
func (c *call) until(ctx context.Context, asked int, over func(*topic.State) bool) error {
	seconds := min(asked, tools.MaxWaitSeconds)
	if seconds == 0 {
		return nil
	}
	c.order.leave(c.request.Extra)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	timeUp := func() { end(errTimeUp) }
	defer time.AfterFunc(time.Duration(seconds)*time.Second, timeUp).Stop()
	defer context.AfterFunc(c.shutdownCtx, timeUp)()
	defer c.reportProgress(ctx, seconds)()
	err := questions.Await(ctx, c.topic, func(s *topic.State) bool { c.stay(); return over(s) })
	if err == errTimeUp {
		return nil
	}
	return err
}

// reportProgress sends progress notifications while the call waits, if the client has
// asked for them. None is sent after the function returned has returned, so that none
// comes after the result.
func (c *call) reportProgress(ctx context.Context, total int) (stop func()) {
	token := c.request.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticks := time.NewTicker(progressEvery)
		defer ticks.Stop()
		for waited := progressEvery; ; waited += progressEvery {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			// If this cannot be sent, the result cannot either, and the SDK notices that.
			_ = c.request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: waited.Seconds(), Total: float64(total), Message: "waiting",
			})
		}
	}()
	return func() { cancel(); <-done }
}

// An order makes the tool calls of a client run one after the other in the order in
// which they arrived, because the SDK runs them all at once. A call that begins to
// wait lets later calls go on.
type order struct {
	ahead   []*place   // the calls that have neither ended nor begun to wait, oldest first
	changed *sync.Cond // ahead has changed, which its lock guards
}

// A place is that of a call in the order. It is the extra part of the call, because the SDK
// passes that on to the tool.
type place = mcp.RequestExtra

// arrived adds the call if it is one of a tool. end is called when the call is over, at the
// latest: also a call that never reached a tool leaves the order.
func (o *order) arrived(r *jsonrpc.Request) (end func()) {
	if r.Method != "tools/call" {
		return func() {}
	}
	p := &place{}
	r.Extra = p
	o.changed.L.Lock()
	defer o.changed.L.Unlock()
	o.ahead = append(o.ahead, p)
	return func() { o.leave(p) }
}

// enter waits until no earlier call is ahead, or the context ends.
func (o *order) enter(ctx context.Context, p *place) error {
	defer context.AfterFunc(ctx, func() { o.leave(nil) })() // which has no place, and wakes those that wait
	o.changed.L.Lock()
	defer o.changed.L.Unlock()
	for slices.Index(o.ahead, p) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o.changed.Wait()
	}
	return nil
}

// leave lets later calls go on. It may be called more than once.
func (o *order) leave(p *place) {
	o.changed.L.Lock()
	defer o.changed.L.Unlock()
	o.ahead = slices.DeleteFunc(o.ahead, func(other *place) bool { return other == p })
	o.changed.Broadcast()
}
