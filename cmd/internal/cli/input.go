package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

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
