package ttcmd

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// Help pages fit a terminal of 80 columns, and so do their tables.
func TestHelpFitsTerminal(t *testing.T) {
	pages := [][]string{{"help"}}
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
