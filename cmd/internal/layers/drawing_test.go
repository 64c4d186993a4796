package layers

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"html"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw docs/architecture.svg anew")

// The drawing has every package of a program, in rows: a package imports packages of the rows below its
// own only. It is made of the table of layers and of what go list says, and fits a page of paper.
func TestDrawingIsUpToDate(t *testing.T) {
	const file = "../../../docs/architecture.svg"
	t.Setenv("GOOS", "linux") // imports differ between systems
	want := draw(list(t, module+"..."))
	if width, height := size(t, want); height > width*297/210 {
		t.Errorf("the drawing has %d by %d: more than a page", width, height)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is out of date (%v): run go test ./cmd/internal/layers -run %s -update", file, err, t.Name())
	}
}

// size returns what the drawing says of itself.
func size(t *testing.T, drawing []byte) (width, height int) {
	t.Helper()
	_, box, _ := strings.Cut(string(drawing), `viewBox="`)
	if _, err := fmt.Sscanf(box, "0 0 %d %d", &width, &height); err != nil {
		t.Fatal(err)
	}
	return width, height
}

const (
	columns           = 6
	boxWidth, boxHigh = 226, 56
	gap, margin       = 8, 12
)

// keys explains the classes of packages, which are drawn in this order.
var keys = []struct{ class, name, what string }{
	{"pure", "pure", "linked into tt; knows neither file nor clock nor process"},
	{"tt", "in tt", "linked into tt"},
	{"other", "in another program", "linked into tt-console, tt-nats or agent-bus, and not into tt"},
}

func rank(class string) int {
	return slices.IndexFunc(keys, func(k struct{ class, name, what string }) bool { return k.class == class })
}

func draw(packages map[string]listed) []byte {
	rows := levels(packages)
	for i, paths := range rows {
		rows[i] = slices.DeleteFunc(paths, func(path string) bool { return class(path, packages) == "test" })
	}
	rows = slices.DeleteFunc(rows, func(paths []string) bool { return len(paths) == 0 })
	var body bytes.Buffer
	y := margin
	for _, paths := range slices.Backward(rows) {
		for i, path := range paths {
			x := margin + i%columns*(boxWidth+gap)
			if i > 0 && i%columns == 0 {
				y += boxHigh + gap
			}
			drawBox(&body, x, y, path, class(path, packages), synopsis(packages[path].Doc))
		}
		y += boxHigh + gap
		fmt.Fprintf(&body, "<path class=\"line\" d=\"M%d %dh%d\"/>\n", margin, y, columns*(boxWidth+gap)-gap)
		y += gap
	}
	for i, key := range keys {
		drawBox(&body, margin+i*(boxWidth+gap), y, key.name, key.class, key.what)
	}
	var all bytes.Buffer
	fmt.Fprintf(&all, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">
<title>The packages of Talking Stick. Each imports packages of the rows below its own only.</title>
<style>rect{stroke:#555;fill:#fff}.tt rect{fill:#dbe9fb}.pure rect{fill:#d5efd5}.name{font-weight:bold;font-size:12px}.line{stroke:#bbb}</style>
<rect x="0" y="0" width="100%%" height="100%%" style="stroke:none"/>
`, columns*(boxWidth+gap)-gap+2*margin, y+boxHigh+margin)
	all.Write(body.Bytes())
	all.WriteString("</svg>\n")
	return all.Bytes()
}

func drawBox(w *bytes.Buffer, x, y int, name, class, what string) {
	lines := wrapped(what, 36)
	if len(lines) > 2 {
		lines = lines[:2]
		lines[1] += " …"
	}
	fmt.Fprintf(w, `<g class="%s"><rect x="%d" y="%d" width="%d" height="%d" rx="5"/><text class="name" x="%d" y="%d">%s</text>`,
		class, x, y, boxWidth, boxHigh, x+7, y+17, html.EscapeString(name))
	for i, line := range lines {
		fmt.Fprintf(w, `<text x="%d" y="%d">%s</text>`, x+7, y+32+14*i, html.EscapeString(line))
	}
	w.WriteString("</g>\n")
}

// levels returns the packages by rows, from the one that imports nothing of ours to the programs.
func levels(packages map[string]listed) (rows [][]string) {
	level := make(map[string]int)
	var of func(path string) int
	of = func(path string) int {
		if n, ok := level[path]; ok {
			return n
		}
		n := 0
		for _, imported := range packages[path].Imports {
			if ours, ok := strings.CutPrefix(imported, module); ok {
				n = max(n, of(ours)+1)
			}
		}
		level[path] = n
		return n
	}
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		n := of(path)
		for len(rows) <= n {
			rows = append(rows, nil)
		}
		rows[n] = append(rows[n], path)
	}
	for _, row := range rows {
		slices.SortFunc(row, func(a, b string) int {
			return cmp.Or(cmp.Compare(rank(class(a, packages)), rank(class(b, packages))), cmp.Compare(a, b))
		})
	}
	return rows
}

func class(path string, packages map[string]listed) string {
	linked := func(program string) bool {
		return path == program || slices.Contains(packages[program].Deps, module+path)
	}
	l, _ := layerOf(path)
	switch {
	case linked("cmd/tt") && strings.HasPrefix(l.why, "the rules are pure"), path == "journal/event":
		return "pure"
	case linked("cmd/tt"):
		return "tt"
	case slices.ContainsFunc([]string{"cmd/tt-console", "cmd/tt-nats", "cmd/agent-bus"}, linked):
		return "other"
	}
	return "test"
}

// synopsis is the beginning of a package's comment: "runs the commands of tt and agent-bus".
func synopsis(doc string) string {
	words := strings.Fields(doc)
	if len(words) < 3 {
		return ""
	}
	text, _, _ := strings.Cut(strings.Join(words[2:], " "), ": ")
	return strings.TrimRight(text, ".:")
}

func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
