package ttcmd

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
)

// viaStdout is the way of a program that reads lines and wakes the agent itself.
const viaStdout = "stdout"

// listenWays are the values of --via, the default first.
var listenWays = []string{"", viaStdout, hearing.ByExec, hearing.ByQueue, hearing.ByOpenCode}

var listenCommand = &cli.Command{
	Name:   "listen",
	Traits: cli.Traits{NoSubject: true},
	Flags: func(f *cli.Flags) {
		f.Hidden(func(f *cli.Flags) { // for hooks and plugins
			f.Choice("via", "KIND", listenWays, "how the agent is woken: by lines (stdout, opencode) or codex queue")
		})
		f.Word("exec", "CMD", "run a command of the shell each time")
		f.String("program", "PATH", "the codex to call instead of that of the session, or the one on the PATH")
		f.Bool("off", "wake for turns alone from now on, and end")
	},
	Streams: true,
	Run:     runListen,
}

func runListen(ctx context.Context, c *cli.Invocation) error {
	if err := hearing.CheckBudget(); err != nil {
		return err
	}
	client, err := newClient(c)
	if err != nil {
		return err
	}
	a := &listen.Agent{Client: client.Offline(), Dir: c.Env.Dir} // which is kept up to date meanwhile
	if c.Bool("off") {
		if c.Given("via") || c.Given("exec") {
			return c.Usagef("--off starts nothing, so it goes with neither --via nor --exec")
		}
		if err := a.TurnOff(ctx, true); err != nil {
			return err
		}
		return c.Out.Result(map[string]any{"agent_id": client.Self.ID, "off": true}, func(t *cli.Text) {
			t.Line("Only turns wake %s now. For messages too: tt listen", client.Self.ID)
		})
	}
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	transport, err := listenTransport(c, client)
	if err != nil {
		return err
	}
	c.Out.Until(ctx)
	if err := a.TurnOff(ctx, false); err != nil {
		return err
	}
	if transport.Reads {
		var stopReader func()
		ctx, stopReader = untilReaderGone(ctx, c.Env.Stdout)
		defer stopReader()
	}
	err = a.Run(ctx, transport.Transport)
	switch {
	case ctx.Err() != nil, cli.ReaderGone(err):
		return nil
	case errors.Is(err, listen.ErrDeaf):
		return code.New(code.UnknownTarget, "%s cannot be woken: %v", client.Self.ID, err).
			WithHint("what there is for it is shown at its next prompt; tt why says how each agent can be reached").Because(err)
	}
	return err
}

// A listenWay is a transport of the command line.
type listenWay struct {
	listen.Transport
	Reads bool // a program reads what it prints, and its end ends the listener
}

func listenTransport(c *cli.Invocation, client *member.Client) (listenWay, error) {
	via := c.String("via")
	switch {
	case c.Given("exec"):
		if via != "" && via != hearing.ByExec {
			return listenWay{}, c.Usagef("--exec is a way of its own and does not go with --via %s", via)
		}
		return listenWay{Transport: listen.Command(c.String("exec"))}, nil
	case via == hearing.ByExec:
		return listenWay{}, c.Usagef("--via exec needs the command: --exec CMD")
	case via == hearing.ByQueue:
		t, err := codexTransport(c, client)
		return listenWay{Transport: t}, err
	}
	t := listen.Transport{How: hearing.ByExec, Deliver: func(_ context.Context, w listen.Wake) error {
		asText := func(t *cli.Text) { t.Line("%s", w.Text) }
		if via == viaStdout || via == hearing.ByOpenCode {
			asText = nil
		}
		if err := c.Out.WriteLine(&w, asText); err != nil {
			return errors.Join(listen.ErrDeaf, err)
		}
		return nil
	}}
	own := harness.Find(client.Self.Harness)
	if via == hearing.ByOpenCode || via == viaStdout && own != nil && own.Hooks.Shape == harness.Plugin {
		t.How = hearing.ByOpenCode
	}
	return listenWay{t, true}, nil
}

// codexTransport wakes the thread of Codex that the caller runs in.
func codexTransport(c *cli.Invocation, client *member.Client) (t listen.Transport, err error) {
	h := harness.Queued()
	thread := c.Env.Lookup(h.SessionVars[0])
	if thread == "" {
		thread = client.Hearing().Listener().Session
	}
	if thread == "" {
		return t, c.Usagef("no thread of Codex is known: run this inside Codex, or set %s", h.SessionVars[0])
	}
	program := cmp.Or(c.String("program"), identity.ProgramOf(client.Table, h))
	if program == "" {
		program, err = exec.LookPath(h.Program)
	}
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return t, code.New(code.UnknownTarget, "%s is not on the PATH", h.Program).Because(err)
	}
	home := c.Env.Lookup(h.ConfigDir.Var)
	if home == "" {
		home = filepath.Join(c.Env.Home, h.ConfigDir.Base)
	}
	return listen.Queue(program, filepath.Join(home, h.Hooks.Locks), thread), nil
}
