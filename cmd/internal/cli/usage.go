package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

func usagef(format string, args ...any) *code.Error {
	return code.New(code.Usage, format, args...)
}

// seeHelp returns the hint for a usage error without a better one.
func (p *Program) seeHelp(c *Command) string {
	if c == nil || c.Name == "" {
		return fmt.Sprintf("see %q", p.Name+" help")
	}
	return fmt.Sprintf("see %q", p.Name+" "+c.Name+" --help")
}

// didYouMean sets the hint to the nearest words, or to the help if there are none.
func (p *Program) didYouMean(err *code.Error, c *Command, nearest ...string) *code.Error {
	if len(nearest) == 0 {
		return err.WithHint("%s", p.seeHelp(c))
	}
	quoted := make([]string, len(nearest))
	for i, word := range nearest {
		quoted[i] = strconv.Quote(word)
	}
	return err.With("suggestion", nearest[0]).WithHint("did you mean %s? %s", orList(quoted), p.seeHelp(c))
}

func (p *Program) unknownFlag(c *Command, flags *Flags, typed string) *code.Error {
	typed, _, _ = strings.Cut(typed, "=")
	err := usagef("unknown flag %s", bare(typed)).With("flag", shorten(typed))
	all := flags.visible()
	for _, other := range p.All() {
		if c != nil && c.Name == "" { // which command it is for is not known
			all = append(all, p.FlagsOf(other)...)
		}
	}
	names := make([]string, 0, len(all))
	for _, flag := range all {
		names = append(names, flag.Name)
	}
	nearest := Nearest(strings.TrimLeft(typed, "-"), names)
	for i := range nearest {
		nearest[i] = "--" + nearest[i]
	}
	if len(nearest) == 0 && c != nil && len(c.Args) > 0 && c.Args[len(c.Args)-1].Rest { // the last is a text of several words
		return err.WithHint("if it is text, put -- before it; %s", p.seeHelp(c))
	}
	return p.didYouMean(err, c, nearest...)
}

// needsValue returns the error for a flag that stands last, or before next.
func (p *Program) needsValue(flag *Flag, next string) *code.Error {
	err := usagef("--%s needs a value", flag.Name).With("flag", "--"+flag.Name)
	if next != "" && next != "--" {
		return err.WithHint("if %s is the value, write --%s=%s", quote(next), flag.Name, shorten(next))
	}
	return err.WithHint("write --%s %s", flag.Name, flag.Placeholder)
}

func (p *Program) badValue(c *Command, flag *Flag, value string, why error) *code.Error {
	err := usagef("bad value for --%s: %s %s", flag.Name, quote(value), why).With("flag", "--"+flag.Name).With("value", shorten(value))
	return p.didYouMean(err, c, Nearest(value, flag.Choices)...)
}

// longestQuote is the greatest part of an argument that an error repeats, in bytes.
const longestQuote = 80

// shorten cuts s to longestQuote bytes.
func shorten(s string) string {
	if len(s) <= longestQuote {
		return s
	}
	return strings.ToValidUTF8(s[:longestQuote], "") + "…"
}

// bare is quote, without the quotation marks if s is one plain word.
func bare(s string) string {
	if quoted := quote(s); quoted[1:len(quoted)-1] != s || strings.ContainsAny(s, " \t'") {
		return quoted
	}
	return s
}

// quote returns an argument in quotation marks, with everything escaped that a terminal
// would act on.
func quote(s string) string { return strconv.Quote(shorten(s)) }

// longestSuggestible bounds the work for arguments that are not misspelled words.
const longestSuggestible = 40

// mostSuggestions is the greatest number of words in a hint.
const mostSuggestions = 3

// Nearest returns the candidates that a misspelled word may stand for, at most
// mostSuggestions. The first is the one that differs by the fewest typing mistakes,
// if these are at most a third of its length. The candidates that begin with the
// word follow.
func Nearest(word string, candidates []string) []string {
	if word == "" || len(word) > longestSuggestible {
		return nil
	}
	word = strings.ToLower(word)
	var found []string
	best, least := "", 0
	for _, candidate := range candidates {
		if len(word) > 1 && strings.HasPrefix(candidate, word) && !slices.Contains(found, candidate) {
			found = append(found, candidate)
		}
		cost := code.Mistakes(word, candidate)
		if cost <= max(1, min(len(word), len(candidate))/3) && (best == "" || cost < least) {
			best, least = candidate, cost
		}
	}
	if best != "" {
		found = append([]string{best}, slices.DeleteFunc(found, func(s string) bool { return s == best })...)
	}
	return found[:min(len(found), mostSuggestions)]
}
