package cli

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Text collects a result as text for people. It passes strings, errors and all other
// values with text through [Line], so that a command cannot forget it. Formats and
// [Styled] values stay as they are.
type Text struct {
	Style              // colours, if the terminal has them
	Now      time.Time // the moment from which relative times count
	Width    int       // the columns of a line
	Terminal bool      // whether it is for a terminal

	whole bool // lines are not broken
	b     strings.Builder
}

func newText(env *Env) *Text {
	styled := env.StdoutTTY && env.lookup("NO_COLOR") == "" && env.lookup("TERM") != "dumb" // see https://no-color.org
	return &Text{Style: Style{styled}, Now: env.now(), Width: env.columns(env.StdoutTTY), Terminal: env.StdoutTTY}
}

// errorText collects what is written to standard error.
func errorText(env *Env) *Text {
	return &Text{Width: env.columns(env.StderrTTY), Terminal: env.StderrTTY}
}

// String returns the text so far.
func (t *Text) String() string { return t.b.String() }

// Line writes one line, formatted like fmt.Sprintf, with every argument escaped.
func (t *Text) Line(format string, args ...any) {
	for i := range args {
		args[i] = safe(args[i])
	}
	line := fmt.Sprintf(format, args...)
	t.put(line, hanging(line, t.Width))
}

// put writes a line, on a terminal in as many as its width needs, all but the first behind hang
// columns. Elsewhere a line stays whole, for programs that read lines.
func (t *Text) put(line string, hang int) {
	lines := []string{line}
	if t.Terminal && !t.whole {
		lines = fold(line, t.Width, hang)
	}
	for _, line := range lines {
		t.b.WriteString(strings.TrimRight(line, " \t"))
		t.b.WriteByte('\n')
	}
}

// Blank writes an empty line.
func (t *Text) Blank() { t.b.WriteByte('\n') }

// Block writes text of several lines, escaped by [Block], each line after indent.
func (t *Text) Block(indent, body string) {
	for line := range strings.SplitSeq(strings.TrimRight(Block(body), "\n"), "\n") {
		t.put(indent+line, len(indent)+len(line)-len(strings.TrimLeft(line, " ")))
	}
}

// Patch writes a diff, escaped, with all that ends its lines, so that it can be applied.
func (t *Text) Patch(body string) {
	for line := range strings.Lines(body) {
		line, _ = strings.CutSuffix(line, "\n")
		text := strings.TrimRight(line, "\r")
		t.b.WriteString(show(text, "\t") + line[len(text):] + "\n")
	}
}

// Wrapped writes paragraphs wrapped to the width, each line after indent.
func (t *Text) Wrapped(indent, body string) {
	t.b.WriteString(wrapParagraphs(Block(body), indent, t.Width))
}

// Ago returns the distance of when from t.Now, as [Relative] does.
func (t *Text) Ago(when time.Time) string { return Relative(when, t.Now) }

// safe returns v escaped for a line. A value without text, such as a number, stays as
// it is.
func safe(v any) any {
	switch v := v.(type) {
	case nil, bool, int, int64, uint64, Styled:
		return v
	case string:
		return Line(v)
	case error:
		return Line(v.Error())
	case fmt.Stringer:
		return Line(v.String())
	}
	switch reflect.TypeOf(v).Kind() {
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map, reflect.Struct, reflect.Pointer:
		return Line(fmt.Sprint(v))
	}
	return v
}

// Style marks up text for a terminal, or leaves it alone. The zero Style leaves it
// alone.
type Style struct{ on bool }

// Styled is text that can be written to a terminal as it is: escaped by [Line], and
// perhaps marked up.
type Styled string

// Bold is for headings and for the most important words.
func (s Style) Bold(text string) Styled { return s.mark("1", text) }

// Dim is for the least important words.
func (s Style) Dim(text string) Styled { return s.mark("2", text) }

// Red is for problems.
func (s Style) Red(text string) Styled { return s.mark("31", text) }

// Green is for good states.
func (s Style) Green(text string) Styled { return s.mark("32", text) }

// Yellow is for states that need attention.
func (s Style) Yellow(text string) Styled { return s.mark("33", text) }

func (s Style) mark(attribute, text string) Styled {
	text = Line(text)
	if !s.on || text == "" {
		return Styled(text)
	}
	return Styled("\x1b[" + attribute + "m" + text + "\x1b[0m")
}

// plain returns the text without its markup.
func (s Styled) plain() string {
	var plain strings.Builder
	for rest := string(s); ; {
		before, after, marked := strings.Cut(rest, "\x1b[")
		plain.WriteString(before)
		if !marked {
			return plain.String()
		}
		_, rest, _ = strings.Cut(after, "m")
	}
}

// Line escapes s, which may be hostile, for a place within one line of text. Characters
// that would move the cursor, change colours, reorder or hide text become Go escapes
// (\x1b, \r, \n, \t, \u202e, \xff for a byte that is not UTF-8). All other characters
// stay as they are, so Line(Line(s)) is Line(s).
func Line(s string) string { return show(s, "") }

// Block is Line for text of several lines: newlines and tabs stay, and "\r\n"
// counts as a newline.
func Block(s string) string {
	return show(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t")
}

func show(s, allowed string) string {
	if isPlain(s) {
		return s
	}
	return escape(s, allowed, func(character string) string {
		quoted := strconv.QuoteToASCII(character)
		return quoted[1 : len(quoted)-1]
	})
}

// escape returns s with something else for each character, and each byte that is not UTF-8, that is neither visible nor
// allowed.
func escape(s, allowed string, instead func(character string) string) string {
	var b strings.Builder
	b.Grow(len(s) + 64)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		character := s[:size]
		if r == utf8.RuneError && size == 1 || !visible(r) && !strings.ContainsRune(allowed, r) {
			character = instead(character)
		}
		b.WriteString(character)
		s = s[size:]
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII, as nearly all text is.
func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// visible reports whether r prints as itself. Control and formatting characters do
// not, except the two joiners, which emoji and several scripts need. Nor do the
// variation selectors, which can carry hidden text behind any letter.
func visible(r rune) bool {
	switch {
	case r < 0x80:
		return ' ' <= r && r <= '~'
	case r == zeroWidthNonJoiner, r == zeroWidthJoiner:
		return true
	case 0xe0100 <= r && r <= 0xe01ef:
		return false
	}
	return unicode.IsGraphic(r)
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)
