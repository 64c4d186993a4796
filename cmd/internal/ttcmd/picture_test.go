//go:build unix

package ttcmd

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// lostSession is what the picture on the front page shows: work that git throws away, and one command
// that brings it back. What a line before the first prompt does is not shown.
const lostSession = `git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm begun
tt wait --agent claude:1
for i in lex parse print; do echo "package $i" > $i.go; done; echo go 1.26 >> go.mod
tt release --agent claude:1 --status "three packages" --next-action "review them"
$ git status --short
$ git reset -q --hard && git clean -fdq
$ git status --short
$ tt restore --lost
$ git status --short
`

// The picture of a terminal in README is what these commands print. -update writes it anew.
func TestPictureOfLostWork(t *testing.T) {
	t.Parallel()
	s := newScratch(t, "TALKING_STICK_LEDGER=")
	var script strings.Builder
	for line := range strings.Lines(lostSession) {
		command, shown := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if shown {
			fmt.Fprintf(&script, "cat <<'END'\n$ %s\nEND\n%s\n", command, command)
		} else {
			fmt.Fprintf(&script, "{ %s; } >/dev/null\n", command)
		}
	}
	got := terminalPicture(strings.Split(strings.TrimSpace(s.run("exec 2>&1\n"+script.String())), "\n"))
	path := filepath.Join("..", "..", "..", "docs", "lost.svg")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != got {
		t.Errorf("docs/lost.svg is not what is printed; -update writes it anew (%v)\n%s", err, got)
	}
}

// terminalPicture draws lines of a terminal as SVG. Commands are bright, and what a restore prints is green.
func terminalPicture(lines []string) string {
	const cellWidth, cellHeight, margin, columns = 8.4, 19, 14, 76
	var b strings.Builder
	w, h := columns*cellWidth+2*margin, len(lines)*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img" aria-label="A terminal: git throws work away, tt restore --lost brings it back">
<style>
text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #b9c0c8; white-space: pre }
.command { font-weight: bold; fill: #ffffff } .back { fill: #7ecf8a }
</style>
<rect width="100%%" height="100%%" rx="10" fill="#16191d"/>
`, w, h, w, h)
	restored := false
	for y, line := range lines {
		class := "output"
		switch {
		case strings.HasPrefix(line, "$ "):
			class, restored = "command", strings.HasPrefix(line, "$ tt restore")
		case restored:
			class = "back"
		}
		fmt.Fprintf(&b, "<text class=%q x=\"%d\" y=\"%d\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\">%s</text>\n",
			class, margin, y*cellHeight+margin+14, float64(utf8.RuneCountInString(line))*cellWidth, html.EscapeString(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
