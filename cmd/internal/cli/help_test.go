package cli

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestHelpPages compares whole pages, so that a change of the layout is seen.
func TestHelpPages(t *testing.T) {
	tests := []struct{ file, line string }{
		{"general", ""},
		{"general", "help"},
		{"general", "--help"},
		{"general", "-h --text"},
		{"throw", "help throw"},
		{"throw", "throw --help"},
		{"throw", "throw -h"},
		{"throw", "--help throw"},
		{"throw", "throw anna --bogus --speed x extra and more -vh"},
		{"throw", "toss --help --text"},
		{"shout", "help shout"},
		{"shout", "shout --help"},
		{"shout-send", "shout send --help"},
		{"shout-send", "help shout send"},
		{"shout-hear", "help shout hear"},
		{"exit-codes", "help exit-codes"},
		{"ball", "help ball"},
		{"store-ball-wipe", "store ball wipe -h"},
		{"secret", "secret --help"},
	}
	for _, test := range tests {
		p := play(t, split(test.line)...)
		golden := filepath.Join("testdata", "help", test.file+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(p.stdout), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if p.status != 0 || p.stderr != "" || p.stdout != string(want) || len(p.calls) > 0 {
			t.Errorf("toy %s: status %d, %d calls, stderr %q, got\n%s", test.line, p.status, len(p.calls), p.stderr, p.stdout)
		}
	}
}

// TestHelpOnEveryCommand: it never runs the command, mentions every flag, hidden
// commands included, and fits the page.
func TestHelpOnEveryCommand(t *testing.T) {
	program := toy(func(*Invocation) {})
	for _, c := range program.All() {
		p := play(t, append(c.Path(), "--help")...)
		if p.status != 0 || len(p.calls) > 0 {
			t.Errorf("%s: status %d, %d calls", c.Name, p.status, len(p.calls))
		}
		flags := program.FlagsOf(c)
		if len(flags) < 5 {
			t.Errorf("%s: only %d flags", c.Name, len(flags))
		}
		for _, flag := range flags {
			if !strings.Contains(p.stdout, strings.TrimSpace(flag.Head())) || flag.Usage == "" {
				t.Errorf("%s: the help lacks %s", c.Name, flag.Head())
			}
		}
		for line := range strings.SplitSeq(p.stdout, "\n") {
			if columnsOf(line) > defaultWidth {
				t.Errorf("%s: too wide: %q", c.Name, line)
			}
		}
	}
}

func TestListsHideHiddenCommands(t *testing.T) {
	if p := play(t); strings.Contains(p.stdout, "\n  fail ") || !strings.Contains(p.stdout, "\n  throw ") {
		t.Errorf("got\n%s", p.stdout)
	}
}

func TestBareCommand(t *testing.T) {
	ran := ""
	program := toy(func(c *Invocation) { ran = c.Cmd.Name })
	program.Bare = "score"
	for line, want := range map[string]string{"": "score", "--json": "score", "--help": "", "--version": "", "bogus": "", "--bogus": "", "shout": ""} {
		ran = ""
		world := &Env{Args: split(line), Stdout: &strings.Builder{}, Stderr: &strings.Builder{}}
		program.Main(t.Context(), world)
		if ran != want {
			t.Errorf("toy %s: ran %q, want %q", line, ran, want)
		}
	}
}

// TestHelpOnATerminal is the same text with headings in bold.
func TestHelpOnATerminal(t *testing.T) {
	for _, test := range []struct {
		variables map[string]string
		bold      bool
	}{{nil, true}, {map[string]string{"NO_COLOR": "1"}, false}, {map[string]string{"TERM": "dumb"}, false}} {
		world := env(test.variables, "help", "throw")
		world.StdoutTTY = true
		p := playIn(t, world)
		if strings.Contains(p.stdout, "\x1b[1mFlags:\x1b[0m\n") != test.bold || strings.Contains(p.stdout, "\x1b") != test.bold {
			t.Errorf("%v: got\n%s", test.variables, p.stdout)
		}
	}
}

// TestHelpIsData: with --json the help on anything is one document, made of what the text is made of.
func TestHelpIsData(t *testing.T) {
	tests := []struct{ line, path, want string }{
		{"help throw --json", "usage", "toy throw PLAYER [PATH] [FLAGS]"},
		{"toss -h --json", "name", "throw"},
		{"help shout --json", "title", "shout"},
		{"help ball --json", "name", "ball"},
		{"help all --json", "name", "toy"},
		{"--json", "name", "toy"},
	}
	for _, test := range tests {
		p := play(t, split(test.line)...)
		var data map[string]any
		if err := json.Unmarshal([]byte(p.stdout), &data); err != nil || data[test.path] != test.want || p.status != 0 {
			t.Errorf("toy %s: status %d, %v, %s", test.line, p.status, err, p.stdout)
		}
	}
}
