package ttcmd

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// The first paragraph below the heading of a command in docs/cli.md is generated from the table of commands,
// which is also where the help and the manual pages come from; so is what is between <!--agents--> and
// <!--end-->, the items of that topic. With -update they are written anew. Everything else on the page is
// written by hand.
func TestCLIPageAgreesWithTable(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "cli.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := program()
	written := regexp.MustCompile(`(?s)<!--agents-->\n.*?<!--end-->\n`).ReplaceAllString(string(page), "<!--agents-->\n"+itemList(program().Page("agents").Items)+"<!--end-->\n")
	for _, c := range p.All() {
		before, section, ok := strings.Cut(written, "\n### "+c.Name+"\n\n")
		if !ok && c.Hidden {
			continue
		}
		if !ok {
			t.Errorf("%s lacks a section %q", file, c.Name)
			continue
		}
		_, after, _ := strings.Cut(section, "\n\n")
		written = before + "\n### " + c.Name + "\n\n" + commandPart(p, c) + "\n" + after
	}
	switch {
	case written == string(page):
	case *update:
		if err := os.WriteFile(file, []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s disagrees with the table of commands: run go test ./cmd/internal/ttcmd -run %s -update", file, t.Name())
	}
}

// commandPart is what the page says of a command by itself: how it is called, and what for. What each
// flag means says its help.
func commandPart(p *cli.Program, c *cli.Command) string {
	var flags strings.Builder
	own := ofRoom(explainedBy(p, c, ""), false)
	for _, f := range own {
		flags.WriteString(" [" + strings.TrimSpace(f.Head()) + "]")
	}
	if len(own) > 15 { // the limits of a room, which stand elsewhere
		flags.Reset()
		flags.WriteString(" [FLAGS]")
	}
	for _, topic := range p.Topics() {
		if len(explainedBy(p, c, topic.Name)) > 0 {
			flags.WriteString(" [" + strings.ToUpper(topic.Name) + "]")
		}
	}
	head, command, runs := strings.Cut(strings.TrimSuffix(p.UsageLine(c), " [FLAGS]"), " -- ")
	if runs {
		command = " -- " + command
	}
	text := folded("`"+head+flags.String()+command+"`: "+p.Page(c.Name).Short+".", "")
	for _, alias := range c.Aliases {
		text += "Alias: `" + p.Name + " " + alias + "`.\n"
	}
	return text
}

// ofRoom returns the flags that commands about a room have in common, or the others.
func ofRoom(flags []cli.Flag, common bool) []cli.Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f cli.Flag) bool { return common != (f.Name == "path" || f.Name == "room") })
}

// explainedBy returns the flags of c itself that a help topic explains, or for ""
// the help of the command.
func explainedBy(p *cli.Program, c *cli.Command, topic string) []cli.Flag {
	return slices.DeleteFunc(p.FlagsOf(c), func(f cli.Flag) bool { return f.Global || f.Topic != topic })
}

func itemList(items []cli.Item) string {
	var list strings.Builder
	for _, i := range items {
		list.WriteString(folded("- `"+strings.ReplaceAll(i.Name, ", ", "`, `")+"`: "+i.What+".", "  "))
	}
	return list.String()
}

// folded breaks text into lines, all but the first behind indent.
func folded(text, indent string) string {
	const width = 120
	var lines strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			lines.WriteString("\n" + indent)
			column = len(indent)
		default:
			lines.WriteByte(' ')
			column++
		}
		lines.WriteString(word)
		column += len(word)
	}
	return lines.String() + "\n"
}

// The list of error codes on the page has each code of tt.
func TestCLIPageHasEveryErrorCode(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "## Error codes")
	list, _, _ = strings.Cut(list, "\n## ")
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^- `([a-z_]+)`[:.]").FindAllStringSubmatch(list, -1) {
		documented = append(documented, row[1])
	}
	defined := errorCodes(t)
	slices.Sort(documented)
	slices.Sort(defined)
	if len(defined) < 30 || !slices.Equal(documented, defined) {
		t.Errorf("documented are\n%s\ndefined are\n%s", strings.Join(documented, " "), strings.Join(defined, " "))
	}
}

// errorCodes are the codes that tt defines.
func errorCodes(t *testing.T) (defined []string) {
	source, err := os.ReadFile(filepath.Join("..", "..", "..", "fsroom", "code", "code.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, constant := range regexp.MustCompile(`(?m)^\t\w+ +Code = "([a-z_]+)"`).FindAllStringSubmatch(string(source), -1) {
		defined = append(defined, constant[1])
	}
	return defined
}
