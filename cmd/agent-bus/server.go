package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/stdio"
	"github.com/talking-stick/tt/fsroom/code"
)

// specVersion is the version of the tools' specification, for ping.
const specVersion = "v5.0"

// instructions are sent to the agent when it connects.
const instructions = `Ask other agents on this machine, or on all that share its engine, and answer them.
1. topic_create(name) finds or makes a topic; topic_join(agent_name, name) once, under a name of your own that no other agent uses.
2. To ask: ask(topic_id, question). Without an answer in time, call what next_action says. When you are content, question_mark_answered. pending_list(topic_id, mine=true) lists your open questions.
3. To answer: pending_list(topic_id) waits for questions of others; answer(topic_id, responses) with suggested_followups. Repeat while you have time.
After a restart of this server, join again; questions and answers are kept.`

// A server serves the bus to one client.
type server struct {
	*bus
	mcp     *mcp.Server
	session *clientSession
	order   order
	// shutdownCtx ends when the server is about to stop. Waiting calls return then.
	shutdownCtx context.Context
	log         *slog.Logger
	// defaultName returns the agent_name of a session that does not give one, "" if
	// the session must give one.
	defaultName func() string
}

// newServer returns a server with the twelve tools, whose log goes to w.
func newServer(shutdownCtx context.Context, b *bus, version string, w io.Writer, level slog.Level) *server {
	s := &server{bus: b, shutdownCtx: shutdownCtx, defaultName: func() string { return "" },
		session: &clientSession{memberships: make(map[string]*membership)}}
	s.log = slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
	s.mcp = mcp.NewServer(
		&mcp.Implementation{Name: "agent-bus", Title: "Agent Bus", Version: version},
		&mcp.ServerOptions{
			Instructions: instructions,
			Logger:       s.log,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	s.mcp.AddReceivingMiddleware(s.recoverPanics)
	for _, t := range toolTable() {
		s.add(t)
	}
	return s
}

// transport returns the transport of a client that writes to in and reads from out. When in
// has ended, it calls end.
func (s *server) transport(in io.Reader, out io.Writer, end func()) *stdio.Transport {
	return &stdio.Transport{
		In: in, Out: out, Ending: end, Patience: drainTime, Arrived: s.order.arrived,
		Log: func(format string, args ...any) { s.log.Warn(fmt.Sprintf(format, args...)) },
	}
}

// connect serves the client at the other end of the transport. When it is gone, the topics are
// left that it has joined.
func (s *server) connect(ctx context.Context, t mcp.Transport) (*mcp.ServerSession, error) {
	client, err := s.mcp.Connect(ctx, t, nil)
	if err == nil {
		go func() {
			_ = client.Wait()
			s.session.leave()
		}()
	}
	return client, err
}

// recoverPanics answers a call that panics with an error. The SDK would let the panic
// end the process, and with it the other calls.
func (s *server) recoverPanics(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (result mcp.Result, err error) {
		defer func() {
			reason := recover()
			if reason == nil {
				return
			}
			s.log.Error("a call panicked", "method", method, "reason", fmt.Sprint(reason), "stack", string(debug.Stack()))
			result, err = panicked(request, reason)
		}()
		return next(ctx, method, request)
	}
}

func panicked(request mcp.Request, reason any) (mcp.Result, error) {
	if _, ok := request.(*mcp.CallToolRequest); !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("internal error: %v", reason)}
	}
	return toolResult(nil, code.New(code.Internal, "internal error: %v", reason).
		WithHint("this is a bug, and its stack is in the server's log; find out with ask_poll or pending_list whether anything happened"))
}
