package console

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/second"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/cmd/internal/viewstore"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// Run shows the console until the user ends it. It needs a terminal.
func Run(ctx context.Context, c *cli.Invocation) error {
	if !c.Env.StdinTTY || !c.Env.StdoutTTY || c.Env.Lookup("TERM") == "dumb" {
		return c.Usagef("the console needs a terminal that can move its cursor").WithHint("look with tt list --all, or tt events --follow")
	}
	me, err := person(c)
	if err != nil {
		return err
	}
	view, err := viewstore.Open(c, fsroom.Options{LeaveModes: true, Behind: func(error) bool { return true }})
	if err != nil {
		return err
	}
	eyes := look.New(view.Store, view.Clock, identity.System(), me)
	set := changes.SettingOf(c.Env.Lookup, c.Env.Home)
	eyes.Record(changes.Recorder(set))
	eyes.Verdicts = func(ctx context.Context, r *member.Room, st *turn.State) []ledger.LastVerdict {
		return changes.LastVerdicts(ctx, r, st, set)
	}
	opened, err := givenRoom(c, view)
	if err != nil {
		return err
	}
	program, err := second.Find(c.Env, second.TT)
	if err != nil {
		program = second.TT
	}
	m := &model{
		pause: time.Sleep,
		Pen:   draw.Pen{Colour: c.Env.Lookup("NO_COLOR") == "", ASCII: c.Bool("ascii")},
		me:    me, home: c.Env.Home, readOnly: c.Bool("read-only"), zone: time.Local, eyes: eyes, run: runTT(c.Program, program),
		notice: otherVersion(c, program), now: time.Now(), drafts: make(map[string]string),
	}
	if view.IsShared() {
		m.follow, m.ask = view.Follow, eyes.Near
	}
	return m.show(ctx, eyes, opened)
}

// person returns the id of the person at the terminal. A shell inside a harness has the
// variables of the harness, which say nothing about who reads the screen.
func person(c *cli.Invocation) (string, error) {
	if c.Given("agent") {
		return c.Agent, identity.ValidateAgentID(c.Agent)
	}
	env := identity.SystemEnv()
	env.Lookup = func(name string) string {
		if name == "USER" || name == "LOGNAME" {
			return c.Env.Lookup(name)
		}
		return ""
	}
	self, err := identity.Resolve(env, identity.System(), "")
	return self.ID, err
}

// givenRoom returns the name of the room of the command line, "" if none was given.
func givenRoom(c *cli.Invocation, view *viewstore.View) (string, error) {
	if path, err := session.Path(c, "path"); path == "" && !c.Given("room") || err != nil {
		return "", err
	}
	r, _, err := (&member.Client{Store: view.Store, Table: identity.System(), Clock: view.Clock}).Open(view.Workspace(c))
	if err != nil {
		return "", err
	}
	return r.FS.Name(), nil
}

// otherVersion returns a command that says if tt is of another version.
func otherVersion(c *cli.Invocation, program string) tea.Cmd {
	return func() tea.Msg {
		if second.Caller() != "" {
			return noticeMsg(second.Skew(c.Program, second.Console))
		}
		var tt struct{ Version string }
		res, own := runTT(c.Program, program)(command{argv: []string{"version", "--json"}}), c.Program.BuildVersion()
		switch {
		case res.err != nil:
			return noticeMsg("tt was not found, so nothing can be changed from here: " + res.refusal())
		case json.Unmarshal(res.stdout, &tt) == nil && tt.Version != own:
			return noticeMsg(second.Console + " is " + own + ", but tt is " + tt.Version)
		}
		return nil
	}
}

// show runs the program on the terminal. A signal ends it as a key does, and is then the
// exit status.
func (m *model) show(ctx context.Context, eyes *look.Looker, opened string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.looks.due = true
	m.update(m.lookAgain()())
	if r := m.find(opened); r != nil {
		m.pending = m.openRoom(r)
	}
	shown := &program{model: m, screen: &screen{to: os.Stdout, input: os.Stdin}}
	m.w, m.h = size()
	m.settle()
	p := tea.NewProgram(shown, tea.WithContext(ctx), tea.WithoutRenderer(), tea.WithFPS(1), tea.WithoutSignalHandler(),
		tea.WithWindowSize(m.w, m.h))
	shown.screen.show(m.frame())
	defer onResize(func() { w, h := size(); p.Send(tea.WindowSizeMsg{Width: w, Height: h}) })()
	if watcher, err := eyes.NewWatcher(); err == nil {
		m.watch = watcher.Open
		go func() {
			p.Send(guarded(func() tea.Msg {
				watcher.Run(ctx, func() { p.Send(changedMsg{}) })
				return nil
			})())
		}()
		watcher.Open(opened)
	}
	if m.follow != nil {
		go m.follow(ctx, func(err error) {
			at := time.Now()
			p.Send(then(func() { m.engineReached(at, err) }))
		})
	}
	caught := onSignal(p, shown.screen)
	_, err := p.Run()
	shown.screen.leave()
	select {
	case s := <-caught:
		return cli.Exit(128 + int(s.(syscall.Signal)))
	default:
	}
	if shown.failed != "" {
		fmt.Fprintln(os.Stderr, shown.failed)
		return code.New(code.Internal, "the console failed").WithHint("please report this with the lines above")
	}
	return err
}

// size returns the columns and lines of the terminal.
func size() (w, h int) {
	w, h, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// onSignal makes a signal end the program. If it does not end at once, because the
// terminal is gone or takes no more output, the process does. The two sleeps are deadlines:
// a program that ends takes this goroutine with it.
func onSignal(p *tea.Program, s *screen) <-chan os.Signal {
	const grace = 80 * time.Millisecond
	signals, caught := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, endings...)
	go func() {
		ending := <-signals
		caught <- ending
		p.Quit()
		time.Sleep(grace)
		go s.leave()
		time.Sleep(grace / 4)
		s.cooked() // also if leave waits for the terminal
		os.Exit(128 + int(ending.(syscall.Signal)))
	}()
	return caught
}
