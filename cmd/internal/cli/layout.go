package cli

import (
	"fmt"
	"strings"
	"unicode"
)

const (
	defaultWidth = 80 // columns if the width is unknown
	leastWidth   = 40 // in a narrower terminal, lines wrap
	columnGap    = 2
)

// A Table aligns columns. The last one may be of any length.
type Table struct {
	rows [][]Styled
}

// Row adds a row. Cells are made fit for a line like the arguments of Text.Line.
func (t *Table) Row(cells ...any) {
	row := make([]Styled, len(cells))
	for i, cell := range cells {
		row[i] = Styled(fmt.Sprint(safe(cell)))
	}
	t.rows = append(t.rows, row)
}

// Table writes the rows of table with aligned columns. What does not fit stands below its last column, or where that
// begins too far to the right, as of any line.
func (t *Text) Table(table *Table) {
	var widths []int
	for _, row := range table.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columnsOf(cell.plain()))
		}
	}
	last := 0
	for _, width := range widths[:max(len(widths)-1, 0)] {
		last += width + columnGap
	}
	if last > t.Width/2 {
		last = 2 * columnGap
	}
	for _, row := range table.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(string(cell))
			if i < len(row)-1 {
				line.WriteString(blanks(widths[i] - columnsOf(cell.plain()) + columnGap))
			}
		}
		t.put(line.String(), last)
	}
}

// fold breaks a line that is wider than width between words, and leaves its other blanks as they
// are. The lines after the first begin with hang blanks. A word that fits into no line behind them stays where it is.
func fold(line string, width, hang int) []string {
	if columnsOf(Styled(line).plain()) <= width {
		return []string{line}
	}
	var lines []string
	current, column, empty := "", 0, true
	for rest := line; rest != ""; {
		word := rest[:len(rest)-len(strings.TrimLeft(rest, " "))]
		end := strings.IndexByte(rest[len(word):], ' ')
		if end < 0 {
			end = len(rest) - len(word)
		}
		gap := len(word)
		word, rest = rest[:gap+end], rest[gap+end:]
		columns := columnsOf(Styled(word).plain())
		if !empty && column+columns > width && (hang == 0 || hang+columns-gap <= width) {
			lines = append(lines, current)
			word, columns, current, column = word[gap:], columns-gap, blanks(hang), hang
		}
		current, column, empty = current+word, column+columns, false
	}
	return append(lines, current)
}

// hanging returns the columns before what goes on after a first column of line: what follows
// two blanks. Without one it is two more than the line begins with.
func hanging(line string, width int) int {
	plain := Styled(line).plain()
	indent := len(plain) - len(strings.TrimLeft(plain, " "))
	if i := strings.Index(plain[indent:], "  "); i >= 0 {
		first := plain[:indent+i]
		if column := columnsOf(first) + len(plain) - len(first) - len(strings.TrimLeft(plain[len(first):], " ")); column <= width/2 {
			return column
		}
	}
	return indent + columnGap
}

func blanks(n int) string { return strings.Repeat(" ", n) }

// columnsOf returns how many columns of a terminal s takes.
func columnsOf(s string) int {
	if isPlain(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += columnsOfRune(r)
	}
	return n
}

func columnsOfRune(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case isWide(r):
		return 2
	default:
		return 1
	}
}

// isWide reports whether r takes two columns. It knows the East Asian scripts and the
// emoji, not the whole table, which changes with every version of Unicode.
func isWide(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x115f, 0x2e80 <= r && r <= 0xa4cf, 0xac00 <= r && r <= 0xd7a3, 0xf900 <= r && r <= 0xfaff,
		0xfe30 <= r && r <= 0xfe6f, 0xff00 <= r && r <= 0xff60, 0xffe0 <= r && r <= 0xffe6,
		0x1f300 <= r && r <= 0x1f64f, 0x1f680 <= r && r <= 0x1f6ff, 0x1f7e0 <= r && r <= 0x1f7eb,
		0x1f900 <= r && r <= 0x1f9ff, 0x1fa70 <= r && r <= 0x1faff, 0x20000 <= r && r <= 0x3fffd:
		return true
	}
	return r < 0x2c00 && strings.ContainsRune(wideSigns, r)
}

// wideSigns are the signs below the East Asian scripts that show as emoji.
const wideSigns = "⌚⌛⏩⏪⏫⏬⏰⏳◽◾☔☕♈♉♊♋♌♍♎♏♐♑♒♓♿⚓⚡⚪⚫⚽⚾⛄⛅⛎⛔⛪⛲⛳⛵⛺⛽✅✊✋✨❌❎❓❔❕❗➕➖➗➰➿⬛⬜⭐⭕"

// Cut returns a line, or of one that takes more than width columns its beginning and "…".
func Cut(line string, width int) string {
	if columnsOf(line) <= width {
		return line
	}
	columns := 0
	for i, r := range line {
		if columns += columnsOfRune(r); columns > width-2 {
			return strings.TrimRight(line[:i], " ") + " …"
		}
	}
	return line
}

// wrap breaks the words of s into lines of at most width columns, see [fold].
func wrap(s string, width int) []string { return fold(strings.Join(strings.Fields(s), " "), width, 0) }

// wrapParagraphs wraps text whose paragraphs are separated by blank lines, each
// line behind indent. A paragraph that starts with a blank stays as it is.
func wrapParagraphs(s, indent string, width int) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.Trim(s, "\n"), "\n\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		lines := strings.Split(strings.Trim(paragraph, "\n"), "\n")
		if !strings.HasPrefix(paragraph, " ") {
			lines = wrap(paragraph, width-len(indent))
		}
		for _, line := range lines {
			b.WriteString(strings.TrimRight(indent+line, " "))
			b.WriteByte('\n')
		}
	}
	return b.String()
}
