// Package manual writes the manual pages of a program in the language of man(7), from its
// help. The same table of commands and version give the same bytes.
package manual

import (
	"fmt"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// width is how many columns the text of a page has: man indents it by seven.
const width = 72

// A Page is one file of the manual.
type Page struct {
	Name string // of the file: "tt-msg-send.1"
	Text string
}

// Pages returns the page of the program, with all topics, and one for each visible command,
// all of section 1.
func Pages(p *cli.Program, version string) []Page {
	subjects := []string{"all"}
	for _, topic := range p.Topics() {
		subjects = append(subjects, topic.Name)
	}
	pages := []Page{page(p, p.Name, version, p.Short, subjects...)}
	for _, c := range p.Visible() {
		pages = append(pages, page(p, p.Name+"-"+strings.Join(c.Path(), "-"), version, p.Page(c.Name).Short, c.Name))
	}
	return pages
}

// page returns a page with a section for the help on each subject, without its first line,
// which the title says.
func page(p *cli.Program, name, version, short string, subjects ...string) Page {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s\n", quoted(strings.ToUpper(name)), quoted(p.Name+" "+version))
	fmt.Fprintf(&b, ".SH \"NAME\"\n%s \\- %s\n", escape(name), escape(short))
	section := "DESCRIPTION"
	for i, subject := range subjects {
		if i > 0 {
			section = strings.ToUpper(subject)
		}
		_, help, _ := strings.Cut(p.HelpOn(subject, width), "\n")
		fmt.Fprintf(&b, ".SH %s\n.nf\n", quoted(section))
		for line := range strings.Lines(strings.TrimLeft(help, "\n")) {
			b.WriteString(escape(line))
		}
		b.WriteString(".fi\n")
	}
	return Page{name + ".1", b.String()}
}

// escape makes text safe for a line of roff. There a backslash begins an escape, and
// a dot or a quote at the start of the line a request. A bare hyphen may be printed as
// another character, which a shell would not understand.
func escape(text string) string {
	text = strings.NewReplacer(
		`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`, "…", `\&...`,
	).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// quoted returns text as one argument of a request.
func quoted(text string) string {
	return `"` + escape(text) + `"`
}
