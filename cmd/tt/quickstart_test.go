//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The shell blocks of the quickstart run in order in one shell, as a reader runs
// them; a text block below one is what it prints, but for numbers.
func TestQuickstartRuns(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "quickstart.md"))
	if err != nil {
		t.Fatal(err)
	}
	const mark = "=== end of block ==="
	var script strings.Builder
	var shown []string // what each shell block is to print, "" for anything
	for _, b := range blocks(string(document)) {
		switch {
		case b.language == "sh":
			script.WriteString(b.text + "\necho '" + mark + "'\n")
			shown = append(shown, "")
		case b.language == "text":
			shown[len(shown)-1] = b.text
		}
	}
	if len(shown) < 10 {
		t.Fatalf("only %d blocks", len(shown))
	}
	printed := strings.Split(newScratch(t).run("exec 2>&1\n"+script.String()), mark+"\n")
	for i, want := range shown {
		got := strings.TrimSuffix(printed[i], "\n")
		if want != "" && withoutNumbers(got) != withoutNumbers(want) {
			t.Errorf("block %d prints\n%s\n\nthe page shows\n%s", i+1, got, want)
		}
	}
}

func withoutNumbers(s string) string {
	return regexp.MustCompile(`\d+[hms]?`).ReplaceAllString(s, "N")
}
