package cli

import (
	"slices"
	"strings"
)

// mark is what no argument of a process contains. [protect] puts it into arguments that pflag
// would take for something else.
const mark = "\x00"

// protect returns args in a form in which pflag reads what they mean: a text that begins with a
// hyphen is an operand, "-test.x", which pflag passes over, is unknown, and a value behind "="
// has a mark before it.
func protect(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, value, glued := strings.Cut(arg, "=")
		switch {
		case !isFlag(arg):
			continue
		case isText(arg):
			args[i] = mark + arg
			continue
		case arg[1] != '-':
			name = strings.ReplaceAll(name, "test.", "te"+mark+"st.")
		}
		if args[i] = name; glued {
			args[i] = name + "=" + mark + value
		}
	}
	return args
}

// unmarked returns an argument as it was before [protect].
func unmarked(arg string) string { return strings.ReplaceAll(arg, mark, "") }

// isFlag reports whether pflag takes arg for flags, known or not.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

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
