package cli

import (
	"fmt"
	"reflect"
	"strings"
	"time"
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
