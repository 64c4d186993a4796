package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/stdio"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// specVersion is the version of the tools' specification, for ping.
const specVersion = "v5.0"

// instructions are sent to the agent when it connects.
const instructions = `Ask other agents on this machine, or on all that share its engine, and answer them.
1. topic_create(name) finds or makes a topic; topic_join(agent_name, name) once, under a name of your own that no other agent uses.
2. To ask: ask(topic_id, question). Without an answer in time, call what next_action says. When you are content, question_mark_answered. pending_list(topic_id, mine=true) lists your open questions.
3. To answer: pending_list(topic_id) waits for questions of others; answer(topic_id, responses) with suggested_followups. Repeat while you have time.
After a restart of this server, join again; questions and answers are kept.`

// A server serves the bus to one client, whose calls come one after the other, see [order].
type server struct {
	*bus
	mcp   *mcp.Server
	order *order

	mu          sync.Mutex             // guards memberships: the end of the session may come beside a call
	memberships map[string]*membership // by the topics that the client has joined: in memory only

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
		memberships: make(map[string]*membership), order: &order{changed: sync.NewCond(new(sync.Mutex))}}
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

// connect serves the client at the other end of the transport. When it is gone, gone is closed, and the
// topics are left that it has joined.
func (s *server) connect(ctx context.Context, t mcp.Transport) (gone <-chan struct{}, err error) {
	client, err := s.mcp.Connect(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = client.Wait() // nobody could be given the error
		close(ended)
		s.leave()
	}()
	return ended, nil
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
			if _, ok := request.(*mcp.CallToolRequest); !ok {
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("internal error: %v", reason)}
				return
			}
			result, err = toolResult(nil, code.New(code.Internal, "internal error: %v", reason).WithHint("this is a bug, and its stack is "+
				"in the server's log; find out with ask_poll or pending_list whether anything happened"))
		}()
		return next(ctx, method, request)
	}
}

// A membership is the name under which a session has joined a topic.
type membership struct {
	agent   string
	release func()   // releases the mark JoinedMark
	asked   []string // the questions that the session asked under the name
}

// hold marks the agent as one that has joined the topic, if the mark can be written.
func (m *membership) hold(r *questions.Topic) {
	if release, err := questions.Join(r, m.agent); err == nil {
		m.release()
		m.release = release
	}
}

// membership returns that of the topic, nil if the session has not joined it.
func (s *server) membership(topicID string) *membership {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memberships[topicID]
}

// join joins the topic under the name. It returns the topic, and whether another live
// session has joined it under the same name. If presence cannot be written, as on a
// read-only disk, it joins without the mark.
func (s *server) join(ctx context.Context, r *questions.Topic, agent string) (joined *topic.State, inUse bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.memberships[r.Name()]
	if old == nil {
		old = &membership{release: func() {}}
	}
	next := &membership{agent: agent, release: func() {}}
	if old.agent == agent {
		next.asked = old.asked
	}
	check := func(snap *questions.Snapshot) error {
		if joined = snap.State; !joined.Exists() {
			return topic.NotFound("topic_id", r.Name())
		}
		return joined.CheckRejoin(old.agent, agent, old.asked)
	}
	enter := func(snap *questions.Snapshot) error {
		if err := check(snap); err != nil {
			return err
		}
		if old.agent == agent {
			old.release()
		}
		if r.Shared() == nil {
			r.ForgetAgents(questions.JoinedMark)
		}
		inUse = r.Agent(agent).Held(questions.JoinedMark)
		next.hold(r)
		return nil
	}
	unlocked := func(_ context.Context, do func(*questions.Snapshot) error) error {
		snap, err := r.View()
		if err == nil {
			err = do(snap)
		}
		return err
	}
	locked := r.Locked // without the lock, two sessions that join at once would not see each other
	if r.Shared() != nil {
		locked = unlocked // other hosts are asked, which must not happen under the lock
	}
	err = locked(ctx, enter)
	if code.Of(err) == code.DataDirUnusable || code.Of(err) == code.DiskFull {
		err = unlocked(ctx, check)
	}
	if err != nil {
		return nil, false, err
	}
	old.release()
	s.memberships[r.Name()] = next
	return joined, inUse, nil
}

// leave leaves all topics.
func (s *server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.memberships {
		m.release()
	}
	clear(s.memberships)
}

var serveCommand = &cli.Command{
	Name: "serve",
	Run:  runServe,
}

// Tests allow more.
var (
	// drainTime is how long running calls may take to answer once the input has
	// ended, each after the one before. It is enough for a change to reach the disk.
	drainTime = time.Second
	// exitTime is how long the process waits at the end of the input at most, whatever
	// hangs, and signalTime after a signal.
	exitTime, signalTime = 3 * time.Second, 90 * time.Millisecond
)

func runServe(ctx context.Context, c *cli.Invocation) error {
	b, err := openBus(c.Env)
	if err != nil {
		return err
	}
	if c.Env.StdinTTY {
		c.Warn("this is an MCP server and waits for JSON-RPC on standard input; see %q", "agent-bus --help")
	}
	level := slog.LevelWarn
	if c.Verbose {
		level = slog.LevelInfo
	}
	b.Options.Warn = c.Notice
	shutdownCtx, end := context.WithCancel(ctx)
	defer end()
	s := newServer(shutdownCtx, b, cmp.Or(c.Program.Version, "dev"), c.Env.Stderr, level)
	s.defaultName = func() string { return harnessName(c.Env) }
	return s.serve(ctx, end, c.Env.Stdin, c.Env.Stdout)
}

// serve serves one client until in ends or a signal comes. It calls end once it is
// clear that the server is about to stop.
func (s *server) serve(ctx context.Context, end func(), in io.Reader, out io.Writer) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	wire := s.transport(in, out, end)
	ended, err := s.connect(context.WithoutCancel(ctx), wire)
	if err != nil {
		return err
	}
	limit := exitTime
	select {
	case <-signals:
		signal.Stop(signals) // a second signal kills the process
		wire.Stop()
		limit = signalTime
	case <-s.shutdownCtx.Done():
	case <-ended:
		return nil
	}
	select {
	case <-ended:
	case <-time.After(limit):
	}
	return nil
}
