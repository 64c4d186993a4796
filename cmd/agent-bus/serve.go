package main

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

var serveCommand = &cli.Command{
	Name:  "serve",
	Short: "be an MCP server on standard input and output (the default)",
	Long: "Speaks the Model Context Protocol, one JSON-RPC message per line, until its input ends or a signal comes; then the " +
		"exit status is 0. What it has to say besides goes to standard error; with --verbose that is more.",
	Run: runServe,
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
	session, err := s.connect(context.WithoutCancel(ctx), wire)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = session.Wait() // the client is gone, so nobody could be given the error
		close(ended)
	}()
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
