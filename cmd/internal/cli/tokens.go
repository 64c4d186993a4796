package cli

import (
	"iter"
	"strings"
)

// A Token is one argument of a command line.
type Token struct {
	Kind  TokenKind
	Index int    // its place among the arguments
	Flag  string // of a flag: its name, or its letters; its letter if that takes a value
	Glued bool   // of a flag: whether a value follows in the same argument, behind "="
	Value string // of a flag with Glued: that value
}

// A TokenKind says what an argument is.
type TokenKind int

// The kinds of tokens.
const (
	Operand    TokenKind = iota // neither a flag nor the value of one
	LongFlag                    // "--name", "--name=value", and "-n", "-nvalue", "-n=value" of a flag that takes a value
	ShortFlags                  // "-v", "-hv"
	FlagValue                   // the argument behind a flag that takes a value
	Terminator                  // "--", behind which all arguments are operands
)

// Tokens yields the tokens of args. takesValue reports whether the flag with this name
// or letter takes a value; it is asked when the flag is reached.
func Tokens(args []string, takesValue func(name string) bool) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		ended, wantsValue := false, false
		for i, arg := range args {
			t := Token{Index: i}
			switch {
			case wantsValue:
				t.Kind, wantsValue = FlagValue, false
			case ended, !strings.HasPrefix(arg, "-"), arg == "-", isText(arg):
			case arg == "--":
				t.Kind, ended = Terminator, true
			case arg[1] == '-':
				t.Kind = LongFlag
				t.Flag, t.Value, t.Glued = strings.Cut(arg[2:], "=")
				wantsValue = !t.Glued && takesValue(t.Flag)
			case takesValue(arg[1:2]):
				t.Kind, t.Flag, t.Glued = LongFlag, arg[1:2], len(arg) > len("-n")
				t.Value = strings.TrimPrefix(arg[2:], "=")
				wantsValue = !t.Glued
			default:
				t.Kind = ShortFlags
				t.Flag, t.Value, t.Glued = strings.Cut(arg[1:], "=")
			}
			if !yield(t) {
				return
			}
		}
	}
}

// isText reports whether arg begins with a hyphen and is text all the same, such as
// an item of a list: no flag has blanks in its name.
func isText(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return strings.HasPrefix(arg, "-") && strings.ContainsAny(name, " \t\r\n")
}

// looksLikeFlag reports whether arg is more likely a flag than the value of the
// flag before it. Numbers and text do not: a flag starts with a letter and has no
// blanks.
func looksLikeFlag(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	letters := strings.TrimPrefix(strings.TrimPrefix(name, "-"), "-")
	return arg == "--" || len(letters) < len(name) && letters != "" && isLetter(letters[0]) && !strings.ContainsAny(name, " \t\r\n")
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
