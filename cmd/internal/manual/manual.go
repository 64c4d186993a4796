package manual

import (
	"fmt"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// A Page is one file of the manual.
type Page struct {
	Name string // of the file: "tt-msg-send.1"
	Text string
}

// Pages returns the page of the program and one for each visible command, all of
// section 1.
func Pages(p *cli.Program, version string) []Page {
	pages := []Page{{p.Name + ".1", programPage(p, version)}}
	for _, c := range p.Visible() {
		pages = append(pages, Page{pageName(p, c) + ".1", commandPage(p, c, version)})
	}
	return pages
}

func pageName(p *cli.Program, c *cli.Command) string {
	return p.Name + "-" + strings.Join(c.Path(), "-")
}

func programPage(p *cli.Program, version string) string {
	w := newWriter(p.Name, version, p.Short)
	w.section("SYNOPSIS")
	w.line(`.B ` + escape(p.Name) + ` \fICOMMAND\fR [\fIARGUMENTS\fR] [\fIFLAGS\fR]`)
	w.section("DESCRIPTION")
	w.paragraphs(p.Long)
	w.commands(p)
	for _, topic := range p.Topics {
		w.section(strings.ToUpper(topic.Name))
		w.paragraphs(topic.Short)
		for _, i := range topic.List() {
			w.item(i.Name, i.What)
		}
		if topic.Long != "" {
			w.paragraphs(topic.Long)
		}
	}
	w.section("FLAGS OF EVERY COMMAND")
	w.flags(p.FlagsOf(nil))
	return w.String()
}

func commandPage(p *cli.Program, c *cli.Command, version string) string {
	w := newWriter(pageName(p, c), version, c.Short)
	w.section("SYNOPSIS")
	w.line(".B " + escape(p.UsageLine(c)))
	for _, alias := range c.Aliases {
		w.line(".br")
		w.line(".B " + escape(p.Name+" "+alias))
	}
	if c.Long != "" {
		w.section("DESCRIPTION")
		w.paragraphs(c.Long)
	}
	w.arguments(c.Args)
	w.section("FLAGS")
	w.flags(p.FlagsOf(c))
	w.examples(c.Examples)
	w.section("EXIT STATUS")
	for _, s := range c.Statuses() {
		w.item(fmt.Sprint(s.Status), s.Meaning)
	}
	if len(c.Errors) > 0 {
		w.section("ERRORS")
		for _, e := range c.Errors {
			w.line(escape(string(e)))
			w.line(".br")
		}
	}
	w.section("SEE ALSO")
	w.line(".BR " + escape(p.Name) + " (1)")
	return w.String()
}

func (w *writer) commands(p *cli.Program) {
	group := ""
	w.section("COMMANDS")
	for _, c := range p.Visible() {
		if c.Group != group {
			group = c.Group
			w.line(".SS " + quoted(strings.ToUpper(group[:1])+group[1:]))
		}
		w.item(c.Name, c.Short)
	}
}

func (w *writer) arguments(args []cli.Arg) {
	if len(args) == 0 {
		return
	}
	w.section("ARGUMENTS")
	for _, a := range args {
		w.item(a.Display(), a.Usage)
	}
}

func (w *writer) flags(flags []cli.Flag) {
	for _, f := range flags {
		w.item(strings.TrimSpace(f.Head()), f.Description())
	}
}

func (w *writer) examples(examples []cli.Example) {
	if len(examples) == 0 {
		return
	}
	w.section("EXAMPLES")
	for _, e := range examples {
		w.item(e.Line, e.What)
	}
}
