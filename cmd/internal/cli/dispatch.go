package cli

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// Main runs the command that env.Args name and returns the exit status. It prints
// help, versions and errors itself; everything else is done by the command's Run.
func (p *Program) Main(ctx context.Context, env *Env) int {
	wants := scan(env.Args)
	out := newOutput(env, p.wantsJSON(env, wants))
	err := p.dispatch(ctx, env, out, wants)
	return p.finish(env, out, wants.verbose, err)
}

// globalFlags are the flags that matter even where the rest of the line is wrong.
type globalFlags struct {
	json, text, help, verbose bool
}

func scan(args []string) globalFlags {
	var w globalFlags
	for _, arg := range args {
		switch {
		case arg == "--":
			return w
		case arg == "--json":
			w.json = true
		case arg == "--text":
			w.text = true
		case arg == "--help":
			w.help = true
		case arg == "--verbose":
			w.verbose = true
		case isShort(arg) && strings.Trim(arg[1:], "hv") == "":
			w.help = w.help || strings.Contains(arg, "h")
			w.verbose = w.verbose || strings.Contains(arg, "v")
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
	case slices.Contains(beforeTerminator(found.before), "--version"):
		return p.printVersion(out)
	case found.command != nil:
		return p.run(ctx, env, out, found.command, found.args)
	case found.stray:
		return p.unknownCommand(found.unknown)
	case found.group != "":
		return p.unfinished(found.group)
	case p.Bare != "":
		return p.run(ctx, env, out, p.Command(p.Bare), found.args)
	}
	return p.run(ctx, env, out, p.nothing(), found.args)
}

// beforeTerminator returns the arguments that can be flags.
func beforeTerminator(args []string) []string {
	if end := slices.Index(args, "--"); end >= 0 {
		return args[:end]
	}
	return args
}

// nothing is the command of a line that names none.
func (p *Program) nothing() *Command {
	return &Command{
		Flags: func(f *Flags) { f.Bool("version", "print the version and do nothing") },
		Run:   func(_ context.Context, c *Invocation) error { return c.Out.Print(p.generalHelp(c.Out)) },
	}
}

func (p *Program) run(ctx context.Context, env *Env, out *Output, c *Command, args []string) error {
	call, err := p.parse(c, args)
	if err != nil {
		return err
	}
	if call.Bool("json") && call.Bool("text") {
		return call.Usagef("--json and --text exclude each other")
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
