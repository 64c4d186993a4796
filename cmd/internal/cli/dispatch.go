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
	found := p.locate(protect(env.Args))
	call, misread := p.parse(p.reader(found), found.args)
	call.Env, call.Out = env, newOutput(p.Name, env, p.wantsJSON(env, call))
	status := p.finish(call, p.dispatch(ctx, call, found, misread))
	if p.After != nil {
		p.After(status)
	}
	return status
}

// reader returns the command that reads the line.
func (p *Program) reader(found line) *Command {
	switch {
	case found.command != nil:
		return found.command
	case p.Bare != "" && found.name == "" && !found.stray:
		return p.Command(p.Bare)
	}
	return p.nothing()
}

// wantsJSON reports whether the results and errors of a call are JSON, also if its line is wrong.
func (p *Program) wantsJSON(env *Env, call *Invocation) bool {
	if call.Bool("json") || call.Bool("text") {
		return call.Bool("json")
	}
	exported := strings.ToLower(env.lookup("TT_HARNESS_EXPORT"))
	return exported == "1" || exported == "true" || p.DefaultJSON != nil && p.DefaultJSON(env)
}

// dispatch does what the line says, or returns the error with which it was read.
func (p *Program) dispatch(ctx context.Context, call *Invocation, found line, misread error) error {
	switch {
	case found.command == nil && found.stray && (call.Bool("help") || !found.version):
		return p.unknownCommand(found.unknown)
	case call.Bool("help"):
		call.Out.Reads()
		return p.printHelp(call.Out, found.name, call.Bool("json"))
	case found.version:
		call.Out.Reads()
		return p.printVersion(call.Out)
	case found.command == nil && found.name != "":
		return p.unfinished(found.name)
	}
	if misread == nil {
		misread = p.run(ctx, call)
	}
	if told := call.Cmd.Misread; told != nil && code.Of(misread) == code.Usage {
		told(call.Env, misread)
		return nil
	}
	return misread
}

// nothing returns the command for a line without the name of a command.
func (p *Program) nothing() *Command {
	return &Command{
		Reads: true,
		Flags: func(f *Flags) { f.Bool("version", "print the version and do nothing") },
		Run:   func(_ context.Context, c *Invocation) error { return p.printHelp(c.Out, "", c.Bool("json")) },

		Traits: Traits{Silent: true, NoSync: true, NoSubject: true},
	}
}

func (p *Program) run(ctx context.Context, call *Invocation) error {
	for _, pair := range append([][2]string{{"json", "text"}}, call.Cmd.Exclusive...) {
		if call.Given(pair[0]) && call.Given(pair[1]) {
			return call.Usagef("--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	switch {
	case call.Cmd.JSONOnly:
		call.Out.json = true
	case call.Cmd.TextFirst:
		call.Out.json = call.Bool("json")
	}
	call.JSON, call.Out.reads = call.Out.json, call.Cmd.Reads || call.Has("dry-run")
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
