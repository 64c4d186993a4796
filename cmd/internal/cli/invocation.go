package cli

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
)

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
