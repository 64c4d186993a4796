package cli

import (
	"context"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

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
		reason := recover()
		if reason == nil {
			return
		}
		e := code.New(code.Internal, "internal error: %v", reason).
			WithHint("please report this with what the same command prints with --verbose")
		if err = e; call.Verbose {
			e.With("stack", string(debug.Stack())).WithHint("please report this with the lines above")
		}
	}()
	if before := call.Program.Before; before != nil {
		before(ctx, call)
	}
	return call.Cmd.Run(ctx, call)
}

// An Invocation is one call of a command: its flags and arguments, and where its
// result goes.
//
// The methods that ask for a flag or an argument panic when the command does not
// declare it.
type Invocation struct {
	Env     *Env
	Program *Program
	Cmd     *Command
	Out     *Output
	JSON    bool   // the result is to be JSON; the same as Out.JSON()
	Verbose bool   // --verbose
	Agent   string // --agent; Given("agent") reports whether it was given
	Kept    any    // what the program keeps for the rest of the command

	flags    *Flags
	operands map[string][]string
}

// Given reports whether the flag was on the command line, with whatever value.
func (c *Invocation) Given(flag string) bool { return len(c.flags.lookup(flag).texts) > 0 }

// Declares reports whether the command has the flag.
func (c *Invocation) Declares(flag string) bool { return c.flags != nil && c.flags.find(flag) != nil }

// String returns the value of a flag declared with Flags.String or Flags.Choice.
func (c *Invocation) String(flag string) string { return c.flags.lookup(flag).String() }

// Strings returns the values of a flag declared with Flags.StringList, in order.
func (c *Invocation) Strings(flag string) []string { return c.flags.lookup(flag).texts }

// Bool returns whether a switch is on.
func (c *Invocation) Bool(flag string) bool { return c.Given(flag) }

// Has reports whether the command declares the flag and it was given.
func (c *Invocation) Has(flag string) bool { return c.Declares(flag) && c.Given(flag) }

// Int64 returns the value of a flag declared with Flags.Int64.
func (c *Invocation) Int64(flag string) int64 { return valueOf(c.flags.lookup(flag), parseNumber) }

// Duration returns the value of a flag declared with Flags.Duration or Flags.LongDuration.
func (c *Invocation) Duration(flag string) time.Duration {
	return valueOf(c.flags.lookup(flag), parseLong)
}

// Arg returns a positional argument, "" when an optional one was not given.
func (c *Invocation) Arg(name string) string {
	if given := c.Rest(name); len(given) > 0 {
		return given[0]
	}
	return ""
}

// HasArg reports whether a positional argument was given.
func (c *Invocation) HasArg(name string) bool { return len(c.Rest(name)) > 0 }

// Rest returns all arguments of a positional declared with Arg.Rest, in order.
func (c *Invocation) Rest(name string) []string {
	given, declared := c.operands[name]
	if !declared {
		panic("cli: argument " + name + " is not declared")
	}
	return given
}

// Usagef returns a usage error whose hint names the command's help. A better hint
// can replace it: see WithHint.
func (c *Invocation) Usagef(format string, args ...any) *code.Error {
	return usagef(format, args...).WithHint("%s", c.Program.seeHelp(c.Cmd))
}

// MostInput bounds what is read of a text. It is much larger than texts may be, so that
// nearly every error can name the size of the text.
const MostInput = 16 << 20

// ReadInput reads a text of at most MostInput bytes, and one more byte of a longer one.
func ReadInput(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, MostInput+1)) }

// Text returns the words of the argument, or with the flag --stdin what standard input
// contains without its last line end. It is a usage error to give both or neither. If
// standard input cannot be read the error has the code unreadable, and for a text of more
// than [MostInput] bytes the code tooLarge.
func (c *Invocation) Text(arg string, unreadable, tooLarge code.Code) (string, error) {
	words := c.Rest(arg)
	declared := c.Cmd.Args[slices.IndexFunc(c.Cmd.Args, func(a Arg) bool { return a.Name == arg })]
	switch {
	case len(words) > 0 && c.Bool("stdin"):
		return "", c.Usagef("the text comes from arguments or from --stdin, not from both")
	case len(words) > 0:
		return strings.Join(words, " "), nil
	case !c.Bool("stdin"):
		return "", c.Usagef("missing argument %s", declared.Display()).With("argument", arg).
			WithHint("give the text as arguments, or with --stdin")
	}
	text, err := ReadInput(c.Env.Stdin)
	if err != nil {
		return "", code.New(unreadable, "standard input could not be read: %v", err).Because(err)
	}
	if len(text) > MostInput {
		return "", code.New(tooLarge, "the text has more than %d MiB", MostInput>>20).With("supplied", len(text)).
			WithHint("%s is %s", declared.Display(), declared.Usage)
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}
