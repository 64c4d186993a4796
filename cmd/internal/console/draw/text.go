package draw

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

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
