package cli

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Text collects a result as people read it. Strings, errors and whatever else has
// text are passed through [Line] on the way in, so a command cannot forget it;
// only the format, [Styled] values and [Text.Block] are exempt.
type Text struct {
	Style           // colours, or none
	Now   time.Time // the moment relative times count from
	Width int       // columns to lay out for

	b strings.Builder
}

func newText(env *Env) *Text {
	return &Text{Style: styleFor(env), Now: env.now(), Width: env.columns()}
}

// String returns what was written so far.
func (t *Text) String() string { return t.b.String() }

// Line writes one line, formatted like fmt.Sprintf with every argument made fit
// for it.
func (t *Text) Line(format string, args ...any) {
	for i := range args {
		args[i] = safe(args[i])
	}
	fmt.Fprintf(&t.b, format+"\n", args...)
}

// Blank writes an empty line.
func (t *Text) Blank() { t.b.WriteByte('\n') }

// Block writes text of several lines, each behind indent, through [Block].
func (t *Text) Block(indent, body string) {
	for line := range strings.SplitSeq(strings.TrimRight(Block(body), "\n"), "\n") {
		t.b.WriteString(strings.TrimRight(indent+line, " \t"))
		t.b.WriteByte('\n')
	}
}

// Wrapped writes paragraphs wrapped to the width, each line behind indent.
func (t *Text) Wrapped(indent, body string) {
	t.b.WriteString(wrapParagraphs(Block(body), indent, t.Width))
}

// Ago returns how far when is from now, as [Relative] does.
func (t *Text) Ago(when time.Time) string { return Relative(when, t.Now) }

// Table writes the rows of table with aligned columns.
func (t *Text) Table(table *Table) { table.write(&t.b) }

// asCell is safe for a value that stands alone.
func asCell(v any) Styled {
	if styled, ok := v.(Styled); ok {
		return styled
	}
	return Styled(fmt.Sprint(safe(v)))
}

// safe returns v fit for a line: unchanged where it has no text of its own.
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
