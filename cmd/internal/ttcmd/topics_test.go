package ttcmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/turn"
)

// The pages of the help and the table of commands have the same commands, and what the pages list is what there is.
func TestHelpAgreesWithTable(t *testing.T) {
	own := build
	build.Hear = Hear()
	p := program()
	build = own
	codes := errorCodes(t)
	var names []string
	for _, c := range p.All() {
		page := p.Page(c.Name)
		if names = append(names, c.Name); page.Short == "" || page.Topic {
			t.Errorf("help.txt has nothing on %s", c.Name)
		}
		for _, e := range page.Errors {
			if !slices.Contains(codes, e) {
				t.Errorf("%s: there is no error %q", c.Name, e)
			}
		}
	}
	for line := range strings.Lines(help) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "# "), ": "); ok && strings.HasPrefix(line, "# ") && !slices.Contains(names, name) {
			t.Errorf("help.txt has a page on %s, which is no command", name)
		}
	}
	var limits []string
	for _, l := range turn.Limits() {
		limits = append(limits, l.Env)
	}
	for _, w := range turn.Switches() {
		limits = append(limits, w.Env)
	}
	variables := p.Page("environment").Items
	listed := variables[len(variables)-1].Name + " " + variables[len(variables)-1].What
	for _, name := range limits {
		if _, short, _ := strings.Cut(name, "TALKING_STICK_"); !strings.Contains(listed, "_"+short) {
			t.Errorf("tt help environment lacks %s", name)
		}
	}
	if i := slices.IndexFunc(p.Page("handoff").Items, func(i cli.Item) bool { return i.Name == "artifacts" }); i < 0 ||
		!strings.HasSuffix(p.Page("handoff").Items[i].What, strings.Join(turn.Roles(), ", ")) {
		t.Error("tt help handoff lacks roles")
	}
}

// Help pages fit a terminal of 80 columns, and so do their tables.
func TestHelpFitsTerminal(t *testing.T) {
	pages := [][]string{{"help"}, {"help", "all"}}
	p := program()
	for _, c := range p.All() {
		pages = append(pages, append([]string{"help"}, c.Path()...))
	}
	for _, topic := range p.Topics() {
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
	for _, topic := range p.Topics() {
		if !strings.Contains(all, "\n  "+topic.Name+" ") {
			t.Errorf("tt help all lacks the topic %s", topic.Name)
		}
	}
	if lines := strings.Count(first, "\n"); lines > 30 || !strings.Contains(first, `"tt help all"`) || page("help") != first {
		t.Errorf("the first page has %d lines:\n%s", lines, first)
	}
}
