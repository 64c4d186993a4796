package cli

import (
	"context"
	"runtime/debug"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// Main runs the command that env.Args name and returns the exit status. It prints
// help, versions and errors itself; the command's Run does everything else.
func (p *Program) Main(ctx context.Context, env *Env) int {
	wants := scan(env.Args)
	out := newOutput(env, p.wantsJSON(env, wants))
	err := p.dispatch(ctx, env, out, wants)
	status := p.finish(env, out, wants.verbose, err)
	if p.After != nil {
		p.After(status)
	}
	return status
}

// globalFlags are the flags that Main obeys even if the rest of the line is wrong.
type globalFlags struct {
	json, text, help, verbose bool
}

func scan(args []string) globalFlags {
	var w globalFlags
	for t := range Tokens(args, func(string) bool { return false }) {
		switch {
		case t.Kind == LongFlag && !t.Glued:
			w.json = w.json || t.Flag == "json"
			w.text = w.text || t.Flag == "text"
			w.help = w.help || t.Flag == "help"
			w.verbose = w.verbose || t.Flag == "verbose"
		case t.Kind == ShortFlags && !t.Glued && strings.Trim(t.Flag, "hv") == "":
			w.help = w.help || strings.Contains(t.Flag, "h")
			w.verbose = w.verbose || strings.Contains(t.Flag, "v")
		}
	}
	return w
}

func (p *Program) wantsJSON(env *Env, w globalFlags) bool {
	if w.json || w.text {
		return w.json
	}
	switch strings.ToLower(env.lookup("TT_HARNESS_EXPORT")) {
	case "1", "true":
		return true
	}
	return p.DefaultJSON != nil && p.DefaultJSON(env)
}

func (p *Program) dispatch(ctx context.Context, env *Env, out *Output, wants globalFlags) error {
	found := p.locate(env.Args)
	switch {
	case wants.help:
		return p.help(out, found)
	case found.version:
		return p.printVersion(out)
	case found.command != nil:
		err := p.run(ctx, env, out, found.command, found.args)
		if misread := found.command.Misread; misread != nil && code.Of(err) == code.Usage {
			misread(env, err)
			return nil
		}
		return err
	case found.stray:
		return p.unknownCommand(found.unknown)
	case found.group != "":
		return p.unfinished(found.group)
	case p.Bare != "":
		return p.run(ctx, env, out, p.Command(p.Bare), found.args)
	}
	return p.run(ctx, env, out, p.nothing(), found.args)
}

// nothing returns the command for a line without the name of a command.
func (p *Program) nothing() *Command {
	return &Command{
		Flags: func(f *Flags) { f.Bool("version", "print the version and do nothing") },
		Run:   func(_ context.Context, c *Invocation) error { return c.Out.Print(p.generalHelp(c.Out, false)) },

		Traits: Traits{Silent: true, NoSync: true},
	}
}

func (p *Program) run(ctx context.Context, env *Env, out *Output, c *Command, args []string) error {
	call, err := p.parse(c, args)
	if err != nil {
		return err
	}
	for _, pair := range append([][2]string{{"json", "text"}}, c.Exclusive...) {
		if call.Given(pair[0]) && call.Given(pair[1]) {
			return call.Usagef("--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	switch {
	case c.JSONOnly:
		out.json = true
	case c.TextFirst:
		out.json = call.Bool("json")
	}
	call.Env, call.Out, call.JSON = env, out, out.json
	call.Verbose = call.Bool("verbose")
	if p.Agents {
		call.Agent = call.String("agent")
	}
	return guarded(ctx, call)
}

// guarded runs the command and turns a panic into an error.
func guarded(ctx context.Context, call *Invocation) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = panicked(call, reason, string(debug.Stack()))
		}
	}()
	if before := call.Program.Before; before != nil {
		before(ctx, call)
	}
	return call.Cmd.Run(ctx, call)
}

func panicked(call *Invocation, reason any, stack string) *code.Error {
	err := code.New(code.Internal, "internal error: %v", reason)
	if call.Verbose {
		return err.With("stack", stack).WithHint("please report this with the lines above")
	}
	return err.WithHint("please report this with what the same command prints with --verbose")
}
