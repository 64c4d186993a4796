package cli

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func split(line string) []string { return strings.Fields(line) }

// TestConventions holds the GNU conventions to one call: what arrives.
func TestConventions(t *testing.T) {
	tests := []struct {
		line string
		want func(c *Invocation) bool
	}{
		{"throw anna", func(c *Invocation) bool { return c.Arg("player") == "anna" && !c.HasArg("path") && c.Arg("path") == "" }},
		{"throw anna /field", func(c *Invocation) bool { return c.Arg("path") == "/field" && c.HasArg("path") }},
		{"toss anna", func(c *Invocation) bool { return c.Cmd.Name == "throw" }},
		{"throw anna --reason why", func(c *Invocation) bool { return c.String("reason") == "why" && c.Given("reason") }},
		{"throw anna --reason=why", func(c *Invocation) bool { return c.String("reason") == "why" }},
		{"throw anna --reason=", func(c *Invocation) bool { return c.String("reason") == "" && c.Given("reason") }},
		{"throw anna --reason=--json", func(c *Invocation) bool { return c.String("reason") == "--json" }},
		{"throw anna --reason=a=b", func(c *Invocation) bool { return c.String("reason") == "a=b" }},
		{"throw anna --reason -", func(c *Invocation) bool { return c.String("reason") == "-" }},
		{"throw anna --reason ---", func(c *Invocation) bool { return c.String("reason") == "---" }},
		{"throw anna", func(c *Invocation) bool { return !c.Given("reason") && !c.Bool("high") && !c.Given("agent") }},
		{"throw --high anna", func(c *Invocation) bool { return c.Bool("high") && c.Arg("player") == "anna" }},
		{"throw --high --high anna", func(c *Invocation) bool { return c.Bool("high") }},
		{"--high throw anna", func(c *Invocation) bool { return c.Bool("high") }},
		{"--reason throw throw anna", func(c *Invocation) bool { return c.String("reason") == "throw" && c.Arg("player") == "anna" }},
		{"--text --agent a:1 throw anna", func(c *Invocation) bool { return c.Agent == "a:1" && c.Given("agent") }},
		{"--agent=a:1 throw anna", func(c *Invocation) bool { return c.Agent == "a:1" }},
		{"throw anna --agent=", func(c *Invocation) bool { return c.Agent == "" && c.Given("agent") }},
		{"throw anna -v", func(c *Invocation) bool { return c.Verbose }},
		{"-v throw anna", func(c *Invocation) bool { return c.Verbose }},
		{"throw -- anna --high", func(c *Invocation) bool { return c.Arg("path") == "--high" && !c.Bool("high") }},
		{"throw -- --high", func(c *Invocation) bool { return c.Arg("player") == "--high" }},
		{"-- throw anna", func(c *Invocation) bool { return c.Arg("player") == "anna" }},
		{"shout send all hi -b why", func(c *Invocation) bool { return c.String("because") == "why" && c.Given("because") }},
		{"shout send all hi -bwhy", func(c *Invocation) bool { return c.String("because") == "why" }},
		{"shout send all hi -vb why", func(c *Invocation) bool { return c.String("because") == "why" && c.Verbose }},
		{"shout send all hi -btest.v", func(c *Invocation) bool { return c.String("because") == "test.v" }},
		{"shout send all hi -b=test.v", func(c *Invocation) bool { return c.String("because") == "test.v" }},
		{"shout send all hi -b=why", func(c *Invocation) bool { return c.String("because") == "why" }},
		{"shout send -b - all hi", func(c *Invocation) bool { return c.String("because") == "-" && c.Arg("player") == "all" }},
		{"-b throw shout send all hi", func(c *Invocation) bool { return c.String("because") == "throw" && c.Arg("player") == "all" }},
		{"shout send all hi --because why -v", func(c *Invocation) bool { return c.String("because") == "why" && c.Verbose }},
		{"throw - --", func(c *Invocation) bool { return c.Arg("player") == "-" }},
		{"throw anna --note a --note=b", func(c *Invocation) bool { return slices.Equal(c.Strings("note"), []string{"a", "b"}) }},
		{"throw anna", func(c *Invocation) bool { return c.Int64("speed") == 20 && c.Duration("timeout") == 110*time.Second }},
		{"throw anna --speed -5", func(c *Invocation) bool { return c.Int64("speed") == -5 }},
		{"throw anna --speed=007", func(c *Invocation) bool { return c.Int64("speed") == 7 }},
		{"throw anna --timeout 2m", func(c *Invocation) bool { return c.Duration("timeout") == 2*time.Minute }},
		{"throw anna --timeout 110", func(c *Invocation) bool { return c.Duration("timeout") == 110*time.Second }},
		{"throw anna --timeout 0", func(c *Invocation) bool { return c.Duration("timeout") == 0 && c.Given("timeout") }},
		{"throw anna", func(c *Invocation) bool { return c.String("hand") == "right" && !c.Given("hand") }},
		{"throw anna --hand left", func(c *Invocation) bool { return c.String("hand") == "left" }},
		{"shout send all hello  world", func(c *Invocation) bool { return slices.Equal(c.Rest("body"), []string{"hello", "world"}) }},
		{"shout send all help", func(c *Invocation) bool { return c.Arg("body") == "help" }},
		{"shout send all -- -h --json", func(c *Invocation) bool { return len(c.Rest("body")) == 2 && !c.JSON }},
		{"shout --json send all hi", func(c *Invocation) bool { return c.JSON && c.Cmd.Name == "shout send" }},
		{"--loud shout --agent x send all hi", func(c *Invocation) bool { return c.Bool("loud") && c.Agent == "x" }},
		{"points now", func(c *Invocation) bool { return c.Cmd.Name == "score" }},
	}
	for _, test := range tests {
		p := play(t, split(test.line)...)
		if p.status != 0 || len(p.calls) != 1 || p.stderr != "" {
			t.Errorf("%s: status %d, %d calls, stderr %q", test.line, p.status, len(p.calls), p.stderr)
			continue
		}
		if !test.want(p.calls[0]) {
			t.Errorf("%s: the call is not as expected", test.line)
		}
	}
}

// TestTextAsValue: what a shell passes as one argument with blanks in it is text,
// even where it starts like a flag.
func TestTextAsValue(t *testing.T) {
	p := play(t, "throw", "anna", "--reason", "--json is missing", "--note", "- a list")
	if p.status != 0 || p.calls[0].String("reason") != "--json is missing" || p.calls[0].Strings("note")[0] != "- a list" {
		t.Errorf("status %d, stderr %q", p.status, p.stderr)
	}
}

func TestEmptyArguments(t *testing.T) {
	p := play(t, "throw", "")
	if p.status != 2 || !strings.Contains(p.stderr, "the player is empty (usage)") {
		t.Errorf("status %d, stderr %q", p.status, p.stderr)
	}
	p = play(t, "throw", "anna", "--reason", "")
	if p.status != 0 || !p.calls[0].Given("reason") {
		t.Errorf("status %d, stderr %q", p.status, p.stderr)
	}
}
