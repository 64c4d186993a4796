package console

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// The picture of the console in the documentation is a frame, drawn as SVG: no terminal
// and no browser is needed to make it. -update writes it anew.
func TestPicture(t *testing.T) {
	t.Parallel()
	m := sampleRoom(112, 24)
	m.Colour = true
	lines, _ := m.frame()
	check(t, m, lines)
	got := picture(lines, m.w)
	path := filepath.Join("..", "..", "..", "docs", "console.svg")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != got {
		t.Errorf("docs/console.svg is not the console as it is; -update writes it anew (%v)", err)
	}
}

// The size of a character, and the margin around all.
const (
	cellWidth  = 8.4
	cellHeight = 19
	margin     = 14
)

// picture returns lines with styles as SVG.
func picture(lines []string, columns int) string {
	var b strings.Builder
	w, h := float64(columns)*cellWidth+2*margin, float64(len(lines)*cellHeight+2*margin)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="tt console: a room, its members and its journal">
<style>
text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d5d8dc; white-space: pre }
.s1 { font-weight: bold; fill: #ffffff } .s2 { fill: #8a919b } .s31 { fill: #ff7b72 } .s32 { fill: #7ecf8a } .s33 { fill: #e5c07b } .s34 { fill: #7cb7ff }
.s1-31 { font-weight: bold; fill: #ff7b72 } .s1-36 { font-weight: bold; fill: #6fd3d8 }
</style>
<rect width="100%%" height="100%%" rx="10" fill="#16191d"/>
`, w, h, w, h)
	for y, line := range lines {
		column := 0
		for _, run := range runs(line) {
			n := ansi.StringWidth(run.text)
			write(&b, run, float64(column)*cellWidth+margin, float64(y*cellHeight+margin), n)
			column += n
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// write draws a run of text. Bars are drawn as such: fonts leave gaps between blocks.
func write(b *strings.Builder, run styled, x, y float64, n int) {
	text := strings.TrimRight(run.text, " ")
	if text == "" {
		return
	}
	class := "s" + strings.ReplaceAll(run.style, ";", "-")
	if full := strings.Count(text, "█"); full > 0 {
		width := float64(full)
		for i, part := range []rune("▏▎▍▌▋▊▉") {
			width += float64(i+1) / 8 * float64(strings.Count(text, string(part)))
		}
		fmt.Fprintf(b, "<rect class=%q x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\"/>\n", class, x, y+2, width*cellWidth)
		return
	}
	if text == "│" {
		fmt.Fprintf(b, "<rect class=%q x=\"%.1f\" y=\"%.1f\" width=\"1\" height=\"%d\"/>\n", class, x+cellWidth/2, y-3, cellHeight)
		return
	}
	lead := len(text) - len(strings.TrimLeft(text, " "))
	text = text[lead:]
	fmt.Fprintf(b, "<text class=%q x=\"%.1f\" y=\"%.1f\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\">%s</text>\n",
		class, x+float64(lead)*cellWidth, y+13, float64(ansi.StringWidth(text))*cellWidth, html.EscapeString(text))
}

// A styled text is a part of a line in one style, the parameters of its SGR sequence.
type styled struct{ style, text string }

func runs(line string) (list []styled) {
	style := ""
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		if text != "" {
			list = append(list, styled{style, text})
		}
		if !found {
			break
		}
		if style, line, _ = strings.Cut(rest, "m"); style == "0" {
			style = ""
		}
	}
	return list
}
