package ttcmd

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// Help pages fit a terminal of 80 columns, and so do their tables.
func TestHelpFitsTerminal(t *testing.T) {
	pages := [][]string{{"help"}, {"help", "all"}}
	p := program()
	for _, c := range p.All() {
		pages = append(pages, append([]string{"help"}, c.Path()...))
	}
	for _, topic := range p.Topics {
		pages = append(pages, []string{"help", topic.Name})
	}
	for _, page := range pages {
		var out strings.Builder
		env := &cli.Env{Args: page, Stdout: &out, Stderr: &out}
		if status := p.Main(t.Context(), env); status != 0 {
			t.Errorf("tt %s: status %d: %s", strings.Join(page, " "), status, out.String())
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if len([]rune(line)) > 80 {
				t.Errorf("tt %s: too wide: %q", strings.Join(page, " "), line)
			}
		}
	}
}

// The first page of the help has a few commands, "help all" each of them and the topics.
func TestHelpAllIsComplete(t *testing.T) {
	p := program()
	page := func(args ...string) string {
		var out strings.Builder
		p.Main(t.Context(), &cli.Env{Args: args, Stdout: &out, Stderr: &out})
		return out.String()
	}
	first, all := page(), page("help", "all")
	for _, c := range p.Visible() {
		if !strings.Contains(all, "\n  "+c.Name+" ") {
			t.Errorf("tt help all lacks %s", c.Name)
		}
	}
	for _, topic := range p.Topics {
		if !strings.Contains(all, "\n  "+topic.Name+" ") {
			t.Errorf("tt help all lacks the topic %s", topic.Name)
		}
	}
	if lines := strings.Count(first, "\n"); lines > 30 || !strings.Contains(first, `"tt help all"`) || page("help") != first {
		t.Errorf("the first page has %d lines:\n%s", lines, first)
	}
}
