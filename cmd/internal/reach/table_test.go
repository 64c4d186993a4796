package reach

import (
	"os"
	"regexp"
	"strings"
	"testing"

	table "github.com/talking-stick/tt/identity/harness"
)

// columns are those of the table in docs/harness-authors.md.
var columns = []string{
	"harness", "told at start", "edit refused", "shell refused", "woken idle", "after Esc", "after an error",
	"`/clear`", "resumed", "killed", "two windows", "uninstall",
}

// header returns the first line of the table.
func header() string { return strings.Join(columns, "|") }

// page returns the rows of the table as it is published, by harness.
func page(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/harness-authors.md")
	if err != nil {
		t.Fatal(err)
	}
	_, body, ok := strings.Cut(string(text), "\n"+header()+"\n")
	if !ok {
		t.Fatalf("no table begins with %q", header())
	}
	body, _, _ = strings.Cut(body, "\n\n")
	rows := map[string]string{}
	for _, line := range strings.Split(body, "\n")[1:] {
		rows[strings.Split(line, "`")[1]] = line
	}
	return rows
}

var measured = regexp.MustCompile(`[0-9.]+ s\b`)

// timeless returns a row without what is different each time.
func timeless(row string) string { return measured.ReplaceAllString(row, "s") }

// Each harness of the table of harnesses is a row of the published one, and each row has all cells.
func TestPageHasEachHarness(t *testing.T) {
	rows := page(t)
	for _, h := range table.All() {
		if cells := strings.Split(rows[string(h.ID)], "|"); len(cells) != len(columns) {
			t.Errorf("%s: %d cells, want %d", h.ID, len(cells), len(columns))
		}
	}
	if len(rows) != len(table.All()) {
		t.Errorf("%d rows for %d harnesses", len(rows), len(table.All()))
	}
}
