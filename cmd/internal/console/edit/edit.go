// Package edit is a small text editor for the fields of dialogs. It knows keys and
// columns, and no terminal.
package edit

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// A Text is a text and a cursor in it. The zero Text is empty.
type Text struct {
	parts []string // what the user sees as characters; "\n" ends a line
	at    int      // the cursor is before this part
}

// New returns a text with the cursor behind it.
func New(text string) *Text {
	t := new(Text)
	t.Insert(text)
	return t
}

// Value returns the text.
func (t *Text) Value() string { return strings.Join(t.parts, "") }

// Insert puts text before the cursor. Characters that do not print as themselves are
// left out; a tab becomes blanks.
func (t *Text) Insert(text string) {
	t.replace(t.at, t.at, printable(text))
}

// replace puts text in the place of some parts, and the cursor behind it.
func (t *Text) replace(from, to int, text string) {
	before, after := strings.Join(t.parts[:from], "")+text, strings.Join(t.parts[to:], "")
	// Characters may combine over the seam.
	t.parts = split(before + after)
	t.at = min(len(split(before)), len(t.parts))
}

func printable(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(text)
	return strings.Map(func(r rune) rune {
		if s := string(r); r != '\n' && cli.Line(s) != s {
			return -1
		}
		return r
	}, text)
}

func split(text string) (parts []string) {
	for text != "" {
		part, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		if part == "" {
			part = text[:1]
		}
		parts = append(parts, part)
		text = text[len(part):]
	}
	return parts
}

// Key carries out a key, by the name that Bubble Tea gives it, in a field of w columns.
// It returns false for a key that means nothing here.
func (t *Text) Key(name string, w int) bool {
	switch name {
	case "left", "ctrl+b":
		t.at = max(0, t.at-1)
	case "right", "ctrl+f":
		t.at = min(len(t.parts), t.at+1)
	case "up", "ctrl+p":
		t.move(-1, w)
	case "down", "ctrl+n":
		t.move(1, w)
	case "home", "ctrl+a":
		t.at = t.lineStart()
	case "end":
		t.at = t.lineEnd()
	case "ctrl+left", "alt+left", "alt+b":
		t.at = t.wordStart()
	case "ctrl+right", "alt+right", "alt+f":
		t.at = t.wordEnd()
	case "backspace", "ctrl+h":
		t.replace(max(0, t.at-1), t.at, "")
	case "delete", "ctrl+d":
		t.replace(t.at, min(len(t.parts), t.at+1), "")
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		t.replace(t.wordStart(), t.at, "")
	case "ctrl+u":
		t.replace(t.lineStart(), t.at, "")
	case "ctrl+k":
		t.replace(t.at, t.lineEnd(), "")
	case "alt+enter", "shift+enter", "ctrl+j":
		t.Insert("\n")
	default:
		return false
	}
	return true
}

// past returns the index behind or, going back, of the last of the parts from i on that the
// function is true of, i if there is none.
func (t *Text) past(i, by int, is func(part string) bool) int {
	for {
		next := i
		if by < 0 {
			next--
		}
		if next < 0 || next >= len(t.parts) || !is(t.parts[next]) {
			return i
		}
		i += by
	}
}

func blank(part string) bool  { return strings.TrimSpace(part) == "" }
func word(part string) bool   { return !blank(part) }
func inLine(part string) bool { return part != "\n" }

func (t *Text) lineStart() int { return t.past(t.at, -1, inLine) }
func (t *Text) lineEnd() int   { return t.past(t.at, 1, inLine) }
func (t *Text) wordStart() int { return t.past(t.past(t.at, -1, blank), -1, word) }
func (t *Text) wordEnd() int   { return t.past(t.past(t.at, 1, blank), 1, word) }

// A row is the parts from start to end, without the line end behind them.
type row struct{ start, end int }

// rows wraps the text to w columns, between words where there are blanks. One column is
// left for the cursor.
func (t *Text) rows(w int) []row {
	var rows []row
	start, width, word := 0, 0, 0 // word: the first part behind the last blank of the row
	for i, part := range t.parts {
		if part == "\n" {
			rows = append(rows, row{start, i})
			start, width, word = i+1, 0, i+1
			continue
		}
		n := ansi.StringWidth(part)
		if width+n >= w && i > start {
			if word <= start {
				word = i
			}
			rows = append(rows, row{start, word})
			start = word
			width = columns(t.parts[start:i])
		}
		width += n
		if blank(part) {
			word = i + 1
		}
	}
	return append(rows, row{start, len(t.parts)})
}

// place returns the row of the cursor and its column.
func (t *Text) place(rows []row) (y, x int) {
	for i, r := range rows {
		if r.start <= t.at {
			y = i
		}
	}
	return y, columns(t.parts[rows[y].start:t.at])
}

func columns(parts []string) (w int) {
	for _, p := range parts {
		w += ansi.StringWidth(p)
	}
	return w
}

// move moves the cursor by rows.
func (t *Text) move(by, w int) {
	rows := t.rows(w)
	y, x := t.place(rows)
	if y += by; y < 0 || y >= len(rows) {
		return
	}
	t.at = rows[y].start
	for t.at < rows[y].end && columns(t.parts[rows[y].start:t.at]) < x {
		t.at++
	}
}

// View returns at most h lines of at most w columns around the cursor, and the place of
// the cursor in them.
func (t *Text) View(w, h int) (lines []string, x, y int) {
	rows := t.rows(w)
	y, x = t.place(rows)
	first := max(0, min(y-h+1, len(rows)-h))
	for _, r := range rows[first:min(len(rows), first+h)] {
		lines = append(lines, strings.Join(t.parts[r.start:r.end], ""))
	}
	return lines, min(x, w-1), y - first
}
