// Package draw makes lines of text for a terminal: cells of exact width, marks, bars,
// boxes. It does not know what they show.
//
// A line is a string that may have SGR sequences and no other control characters. Text
// from outside must come through [Pen.Text] or [Wrap], which make control characters
// visible before anything is measured.
package draw

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// A Style is how text looks: parameters of an SGR sequence, of the 16 colours that every
// terminal lets its user choose.
type Style string

// The styles.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Blue   Style = "34"
	Alarm  Style = "1;31"
	Title  Style = "1;36"
)

// A Pen draws for one kind of terminal.
type Pen struct {
	Colour bool // with styles
	ASCII  bool // without the characters of [Mark] that are not ASCII
}

// Text returns text from outside on one line, with control characters made visible.
func (p Pen) Text(s Style, text string) string { return p.Own(s, apart(cli.Line(text))) }

// apart returns text that does not combine with what is before it on the line: a
// combining character at its beginning gets one to stand on.
func apart(text string) string {
	const stand = "\u25cc"
	if ansi.StringWidth(" "+text) != 1+ansi.StringWidth(text) {
		return stand + text
	}
	return text
}

// Own is Text for text of this program.
func (p Pen) Own(s Style, text string) string {
	if !p.Colour || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// A Mark is a character that says something by its shape, and another one for ASCII.
type Mark [2]string

// The marks.
var (
	Held     = Mark{"●", "*"}
	Free     = Mark{"○", "o"}
	Reserved = Mark{"◐", "~"}
	Stopped  = Mark{"■", "#"}
	Gone     = Mark{"✗", "x"}
	Late     = Mark{"◷", "L"}
	Quiet    = Mark{"·", "."}
	Waits    = Mark{"○", "o"}
	Message  = Mark{"✉", "@"}
	Note     = Mark{"✎", "n"}
	Question = Mark{"?", "?"}
	Answer   = Mark{"✓", "v"}
	Hands    = Mark{"→", ">"}
	Takes    = Mark{"●", "*"}
	Takeover = Mark{"↯", "!"}
	Joins    = Mark{"+", "+"}
	Leaves   = Mark{"-", "-"}
	Urgent   = Mark{"!", "!"}
	Cursor   = Mark{"▸", ">"}
	Branch   = Mark{"└", "`"}
	Below    = Mark{"↓", "v"}
	Crumb    = Mark{"›", ">"}
	Line     = Mark{"│", "|"}
	Ellipsis = Mark{"…", "~"}
	None     = Mark{"—", "-"}
	Good     = Mark{"✓", "+"}
)

// Mark returns a mark.
func (p Pen) Mark(m Mark) string {
	if p.ASCII {
		return m[1]
	}
	return m[0]
}

// Fit cuts or fills a line to exactly w columns.
func (p Pen) Fit(line string, w int) string {
	if w <= 0 {
		return ""
	}
	n, whole := ansi.StringWidth(line), line
	// Some sequences of characters are wider together than one by one.
	for most := w; n > w && most >= 0; most-- {
		line = ansi.Truncate(whole, most, p.Mark(Ellipsis))
		n = ansi.StringWidth(line)
	}
	return line + strings.Repeat(" ", max(0, w-n))
}

// Cut cuts a line to at most w columns.
func (p Pen) Cut(line string, w int) string {
	if ansi.StringWidth(line) <= w {
		return line
	}
	return strings.TrimRight(p.Fit(line, w), " ")
}

// Width returns the columns that a line takes.
func Width(line string) int { return ansi.StringWidth(line) }

// Sides returns a line of w columns with one text at each end. The left one is cut if
// there is no room for both.
func (p Pen) Sides(left, right string, w int) string {
	room := w - Width(right)
	if room < w/3 {
		return p.Fit(left, w)
	}
	return p.Fit(left, room) + right
}

// Over returns the lines with others put over them, beginning at a row and column. The
// lines are w columns wide, those put over them all the same.
func (p Pen) Over(lines, others []string, row, column, w int) []string {
	for i, other := range others {
		if at := row + i; at >= 0 && at < len(lines) {
			right := column + Width(other)
			rest := ansi.TruncateLeft(lines[at], right, "")
			if Width(rest) > w-right { // half of a wide character was in the way
				rest = " " + ansi.TruncateLeft(lines[at], right+1, "")
			}
			lines[at] = p.Fit(ansi.Truncate(lines[at], column, ""), column) + other + p.Fit(rest, w-right)
		}
	}
	return lines
}

// Box returns lines with a frame around them, w columns wide, and a title in the frame.
func (p Pen) Box(title string, lines []string, w int) []string {
	corners, across, down := [4]string{"┌", "┐", "└", "┘"}, "─", "│"
	if p.ASCII {
		corners, across, down = [4]string{"+", "+", "+", "+"}, "-", "|"
	}
	inner := w - 2
	head := across + " " + p.Cut(title, inner-4) + " "
	box := []string{corners[0] + head + strings.Repeat(across, max(0, inner-Width(head))) + corners[1]}
	for _, line := range lines {
		box = append(box, down+" "+p.Fit(line, inner-2)+" "+down)
	}
	return append(box, corners[2]+strings.Repeat(across, inner)+corners[3])
}

// Bar returns a bar of w columns that shows how much of a time is left, and warns of its
// end by its style.
func (p Pen) Bar(left, whole time.Duration, w int) string {
	if whole <= 0 || w <= 0 {
		return strings.Repeat(" ", max(0, w))
	}
	left = max(0, min(left, whole))
	eighths := int(float64(w*8) * float64(left) / float64(whole))
	full, rest := strings.Repeat("█", eighths/8), ""
	if r := eighths % 8; r > 0 {
		rest = string([]rune(" ▏▎▍▌▋▊▉")[r])
	}
	empty := "·"
	if p.ASCII {
		full, rest, empty = strings.Repeat("=", (eighths+4)/8), "", "."
	}
	style := Green
	switch {
	case left*5 < whole:
		style = Red
	case left*2 < whole:
		style = Yellow
	}
	full += rest
	return p.Own(style, full) + p.Own(Dim, strings.Repeat(empty, max(0, w-Width(full))))
}

// Wrap returns text from outside as lines of at most w columns, with control characters
// made visible. Its line ends stay. What is wrapped keeps the indentation of its line.
func Wrap(text string, w int) (lines []string) {
	const tab = "    "
	text = strings.ReplaceAll(strings.TrimRight(cli.Block(text), "\n"), "\t", tab)
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimLeft(line, " ")
		indent := line[:min(len(line)-len(words), w/2)]
		room := max(1, w-len(indent))
		// The first one leaves what follows a hyphen too long.
		wrapped := ansi.Hardwrap(ansi.Wrap(apart(words), room, ""), room, true)
		for wrapped := range strings.SplitSeq(wrapped, "\n") {
			lines = append(lines, indent+wrapped)
		}
	}
	return lines
}

// Span returns a time in at most five columns: "42s", "5m16", "3h07", "12d".
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02d", d/time.Minute, d/time.Second%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02d", d/time.Hour, d/time.Minute%60)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// Short returns a path with the home directory as ~.
func Short(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && home != "/" && (rest == "" || strings.HasPrefix(rest, "/")) {
		return "~" + rest
	}
	return path
}

// Tail cuts text from outside to w columns by leaving out its beginning: of a path the
// last elements tell most.
func (p Pen) Tail(s Style, text string, w int) string {
	text = apart(cli.Line(text))
	if n := Width(text); n > w {
		text = ansi.Truncate(p.Mark(Ellipsis)+apart(ansi.TruncateLeft(text, n-w+1, "")), max(0, w), "")
	}
	return p.Own(s, text)
}
