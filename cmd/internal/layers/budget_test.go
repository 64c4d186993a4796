package layers

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// testTools are the packages that only tests use. No program links one. A row stands for the
// packages under it too.
var testTools = []string{
	"cmd/internal/layers",
	"cmd/internal/reach",
	"cmd/internal/report/reporttest",
	"cmd/internal/simulation",
	"cmd/internal/torture",
	"cmd/internal/ttcmd/scripthosts",
	"cmd/tt-nats/jetstream/natstest",
	"fsroom/engine/enginetest",
	"fsroom/fsroomtest",
	"fsroom/topic/topictest",
}

// budgets are how many lines of Go, JavaScript, CSS and HTML packages may have without their tests. A row
// stands for the packages under it that have none of their own. Lower a row with the commit
// that makes it smaller.
var budgets = map[string]int{
	"cmd/agent-bus":              3730,
	"cmd/internal/changes":       1520,
	"cmd/internal/cli":           2770,
	"cmd/internal/completion":    250,
	"cmd/internal/console":       3980,
	"cmd/internal/consolecmd":    50,
	"cmd/internal/hearing":       680,
	"cmd/internal/hooks":         2360,
	"cmd/internal/hooks/guard":   630,
	"cmd/internal/hooks/listen":  1100,
	"cmd/internal/hooks/payload": 360,
	"cmd/internal/hooks/shell":   3260,
	"cmd/internal/hosts":         950,
	"cmd/internal/jobs":          1230,
	"cmd/internal/locks":         380,
	"cmd/internal/mailbox":       1280,
	"cmd/internal/manual":        100,
	"cmd/internal/member":        4730,
	"cmd/internal/questions":     1330,
	"cmd/internal/report":        2570,
	"cmd/internal/roomtypes":     100,
	"cmd/internal/second":        150,
	"cmd/internal/session":       200,
	"cmd/internal/setup":         450,
	"cmd/internal/ttcmd":         8710,
	"cmd/internal/viewers":       60,
	"cmd/internal/viewstore":     150,
	"cmd/tt":                     50,
	"cmd/tt-console":             50,
	"cmd/tt-nats":                1240,
	"cmd/tt-natsd":               1270,
	"fsroom":                     3560,
	"fsroom/code":                250,
	"fsroom/doctor":              1050,
	"fsroom/engine":              200,
	"fsroom/gitfile":             110,
	"fsroom/history":             280,
	"fsroom/ledger":              7320,
	"fsroom/mirror":              1700,
	"fsroom/topic":               1130,
	"fsroom/talk":                670,
	"fsroom/turn":                5190,
	"fsroom/workspace":           750,
	"identity":                   2220,
	"journal":                    2070,
	"lockfile":                   990,
	"lockfile/queue":             710,
	"skills":                     3690,
}

// toolBudgets are how many lines the largest test tools may have, without the packages under them.
var toolBudgets = map[string]int{
	"cmd/internal/simulation": 1800,
	"cmd/internal/torture":    1650,
}

// What all packages together may have.
const (
	productBudget = 77_100 // what users run
	linkedBudget  = 61_750 // the part of it that tt links
	toolsBudget   = 6_000  // test tools
	fileBudget    = 400    // one file of either
)

// roundedBy is what a budget is a multiple of, at most.
const roundedBy = 100

const raise = "make it smaller, or raise the budget in cmd/internal/layers in a commit of its own that says what was bought"

// overrun says that there are more lines than a budget allows, "" if there are not.
func overrun(what string, lines, budget int) string {
	if lines <= budget {
		return ""
	}
	return fmt.Sprintf("%s has %d lines, and its budget is %d: %s", what, lines, budget, raise)
}

// A source is a file that is counted, by its path from the top.
type source struct {
	path  string
	lines int
}

// sources returns the files of the packages below the top, without tests and what tests read. Those in
// testdata are the test tools' own.
func sources(top string) (found []source, err error) {
	counted := []string{".go", ".js", ".css", ".html"}
	for _, dir := range []string{"cmd", "fsroom", "identity", "journal", "lockfile", "skills"} {
		err = cmp.Or(err, filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || !slices.Contains(counted, filepath.Ext(path)) || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(top, path)
			found = append(found, source{filepath.ToSlash(name), bytes.Count(text, []byte("\n"))})
			return err
		}))
	}
	return found, err
}

// rowOf returns the row of the table that stands for a package, "" if there is none.
func rowOf(path string) string {
	for {
		if _, ok := budgets[path]; ok {
			return path
		}
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return ""
		}
		path = path[:i]
	}
}

func TestBudgets(t *testing.T) {
	all, err := sources("../../..")
	if err != nil {
		t.Fatal(err)
	}
	linked := list(t, module+"cmd/tt")["cmd/tt"].Deps
	rows, dirs := make(map[string]int), make(map[string]int)
	var product, inTT, tools int
	complain := func(what string, lines, budget int) {
		if said := overrun(what, lines, budget); said != "" {
			t.Error(said)
		}
	}
	for _, s := range all {
		dir := s.path[:strings.LastIndexByte(s.path, '/')]
		complain(s.path, s.lines, fileBudget)
		if within(dir, testTools) {
			tools += s.lines
			dirs[dir] += s.lines
			continue
		}
		row := rowOf(dir)
		if row == "" {
			t.Errorf("%s has no budget: give it a row in the table, or list it with the test tools", dir)
		}
		rows[row] += s.lines
		product += s.lines
		if dir == "cmd/tt" || slices.Contains(linked, module+dir) {
			inTT += s.lines
		}
	}
	for row, budget := range budgets {
		if rows[row] == 0 {
			t.Errorf("%s has a budget and no lines: remove its row", row)
		}
		complain(row, rows[row], budget)
		if budget-rows[row] >= roundedBy {
			t.Logf("%s has %d lines: its budget of %d can be lower", row, rows[row], budget)
		}
	}
	for dir, budget := range toolBudgets {
		complain(dir, dirs[dir], budget)
	}
	complain("the product", product, productBudget)
	complain("what tt links", inTT, linkedBudget)
	complain("all test tools", tools, toolsBudget)
	t.Logf("product %d, linked into tt %d, test tools %d", product, inTT, tools)
}

func TestOverrunIsExplained(t *testing.T) {
	if said := overrun("fsroom", 10, 10); said != "" {
		t.Errorf("a budget that is kept: %q", said)
	}
	if said := overrun("fsroom", 11, 10); !strings.Contains(said, "fsroom has 11 lines") || !strings.Contains(said, "a commit of its own") {
		t.Errorf("a budget that is exceeded: %q", said)
	}
}

// Whoever installs a program gets no test tool with it.
func TestNoProgramLinksATestTool(t *testing.T) {
	for program, p := range list(t, module+"cmd/tt", module+"cmd/tt-console", module+"cmd/tt-nats", module+"cmd/agent-bus") {
		for _, dep := range p.Deps {
			if ours, ok := strings.CutPrefix(dep, module); ok && within(ours, testTools) {
				t.Errorf("%s links %s", program, ours)
			}
		}
	}
}
