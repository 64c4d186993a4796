package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// helpText returns a Text for help: as wide as the terminal, but at most 80 columns.
func (o *Output) helpText() *Text {
	t := newText(o.env)
	t.Width = min(t.Width, defaultWidth)
	return t
}

func (p *Program) commandHelp(c *Command, out *Output) string {
	t, page := out.helpText(), p.Page(c.Name)
	t.Line("%s: %s", t.Bold(p.Name+" "+c.Name), page.Short)
	t.Blank()
	t.Line("Usage: %s", p.UsageLine(c))
	for _, alias := range c.Aliases {
		t.Line("Alias: %s %s", p.Name, alias)
	}
	if page.Long != "" {
		t.Blank()
		t.Wrapped("", page.Long)
	}
	t.arguments(c.Args)
	flags, global := p.flagsOf(c)
	if own := inTopic(flags, ""); len(own) > 0 {
		t.heading("Flags")
		t.flags(own)
	}
	for _, topic := range p.Topics() {
		if shared := inTopic(flags, topic.Name); len(shared) > 0 {
			t.heading(fmt.Sprintf("Flags that %q explains", p.Name+" help "+topic.Name))
			t.Wrapped("  ", heads(shared))
		}
	}
	t.heading(fmt.Sprintf("Flags of every command, which %q explains", p.Name+" help all"))
	t.Wrapped("  ", heads(global))
	t.examples(page.Examples)
	t.heading("Exit status")
	for _, exit := range p.statuses(c) {
		t.item(fmt.Sprint(exit.Status), 1, exit.Meaning)
	}
	if page.Errors != nil {
		t.heading("Errors")
		t.Wrapped("  ", strings.Join(page.Errors, ", "))
	}
	return t.String()
}

// inTopic returns the flags that the help topic explains.
func inTopic(flags []Flag, topic string) []Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f Flag) bool { return f.Topic != topic })
}

// UsageLine is the command line of c in general: "tt kick AGENT [PATH] [FLAGS]".
func (p *Program) UsageLine(c *Command) string {
	parts := []string{p.Name}
	if c.Name != "" {
		parts = append(parts, c.Name)
	}
	for _, arg := range c.Args {
		parts = append(parts, arg.inUsage())
	}
	if own, _ := p.flagsOf(c); len(own) > 0 {
		parts = append(parts, "[FLAGS]")
	}
	return strings.Join(parts, " ")
}

// Display is how help shows the argument: "AGENT".
func (a Arg) Display() string {
	switch {
	case a.Show != "":
		return a.Show
	case a.Choices != nil:
		return strings.Join(a.Choices, "|")
	}
	return strings.ToUpper(a.Name)
}

func (a Arg) inUsage() string {
	text := a.Display()
	if a.Rest && !strings.HasPrefix(a.Show, "[") { // which says how many it takes
		text += "..."
	}
	if a.Optional {
		text = "[" + text + "]"
	}
	return text
}

func (t *Text) heading(s string) {
	t.Blank()
	t.Line("%s", t.Bold(s+":"))
}

// item writes a name and, in the second column, its meaning.
func (t *Text) item(name string, width int, what string) {
	lines := wrap(what, t.Width-width-2-columnGap)
	t.Line("  %-*s  %s", width, name, lines[0])
	for _, more := range lines[1:] {
		t.Line("%s%s", blanks(width+2+columnGap), more)
	}
}

// items writes names and their meanings in two columns. A name of more than half the
// width stands on a line of its own.
func (t *Text) items(items []Item) {
	width, most := 0, t.Width/2-columnGap
	for _, i := range items {
		if len(i.Name) <= most {
			width = max(width, len(i.Name))
		}
	}
	for _, i := range items {
		if len(i.Name) > most {
			t.Line("  %s", i.Name)
			i.Name = ""
		}
		t.item(i.Name, width, i.What)
	}
}

func (t *Text) arguments(args []Arg) {
	var items []Item
	explained := false
	for _, arg := range args {
		items = append(items, Item{arg.Display(), arg.Usage})
		explained = explained || arg.Usage != ""
	}
	if explained {
		t.heading("Arguments")
		t.items(items)
	}
}

func (t *Text) flags(flags []Flag) {
	var items []Item
	for _, flag := range flags {
		items = append(items, Item{flag.Head(), flag.Description()})
	}
	t.items(items)
}

// Head is how help shows the flag: "-v, --verbose", "    --agent ID".
func (f Flag) Head() string {
	head := "    --" + f.Name
	if f.Short != "" {
		head = "-" + f.Short + ", --" + f.Name
	}
	if f.Placeholder != "" {
		head += " " + f.Placeholder
	}
	return head
}

// heads returns the flags as a command line has them.
func heads(flags []Flag) string {
	var all []string
	for _, f := range flags {
		all = append(all, strings.TrimSpace(f.Head()))
	}
	return strings.Join(all, ", ")
}

// Description is the usage of the flag with its choices and its default.
func (f Flag) Description() string {
	text := f.Usage
	if len(f.Choices) > 0 && f.Placeholder != strings.Join(f.Choices, "|") {
		text += ": " + orList(f.Choices)
	}
	if f.Default != "" {
		text += " (default " + f.Default + ")"
	}
	if f.Repeatable && f.Placeholder != "" {
		text += " (may be repeated)"
	}
	return text
}

func (t *Text) examples(examples []Example) {
	if len(examples) == 0 {
		return
	}
	t.heading("Examples")
	for _, example := range examples {
		t.Line("  %s", example.Line)
		if example.What != "" {
			t.Wrapped("      ", example.What)
		}
	}
}

// statuses returns the exit statuses of c in ascending order: its own, and the common
// ones for which it has no text of its own.
func (p *Program) statuses(c *Command) []ExitStatus {
	statuses := map[int]string{statusDone: "done", statusFailed: "refused or failed", statusUsage: "wrong usage"}
	if c.Streams {
		statuses[statusDone] = "done, or stopped by a signal"
	}
	for _, exit := range p.Page(c.Name).Exits {
		statuses[exit.Status] = exit.Meaning
	}
	if c.Signals {
		statuses[129], statuses[130], statuses[143] = "ended by SIGHUP", "ended by SIGINT", "ended by SIGTERM"
	}
	var exits []ExitStatus
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		exits = append(exits, ExitStatus{status, statuses[status]})
	}
	return exits
}

// What "help NAME --json" prints: the table of which the text of the same page is made.
type (
	programData struct {
		Name   string      `json:"name"`
		Short  string      `json:"short"`
		Long   string      `json:"long,omitempty"`
		Groups []groupData `json:"groups"`
		Topics []Page      `json:"topics"`
		Flags  []Flag      `json:"flags"` // of every command
	}
	groupData struct {
		Title    string        `json:"title"`
		Commands []commandData `json:"commands"`
	}
	commandData struct {
		Name     string       `json:"name"`
		Aliases  []string     `json:"aliases,omitempty"`
		Usage    string       `json:"usage"`
		Short    string       `json:"short"`
		Long     string       `json:"long,omitempty"`
		Args     []Arg        `json:"arguments"`
		Flags    []Flag       `json:"flags"`
		Examples []Example    `json:"examples,omitempty"`
		Exits    []ExitStatus `json:"exit_statuses"`
		Errors   []string     `json:"errors,omitempty"`
	}
)

func (p *Program) data() programData {
	_, flags := p.flagsOf(nil)
	d := programData{p.Name, p.Short, p.Long, []groupData{}, append([]Page{}, p.Topics()...), flags}
	for _, g := range p.sections() {
		d.Groups = append(d.Groups, p.groupData(g))
	}
	return d
}

func (p *Program) groupData(g Group) groupData {
	d := groupData{g.Title, []commandData{}}
	for _, c := range g.Commands {
		d.Commands = append(d.Commands, p.commandData(c))
	}
	return d
}

func (p *Program) commandData(c *Command) commandData {
	own, _ := p.flagsOf(c)
	page := p.Page(c.Name)
	args := append([]Arg{}, c.Args...)
	for i := range args {
		args[i].Show = args[i].Display()
	}
	return commandData{c.Name, c.Aliases, p.UsageLine(c), page.Short, page.Long, args, own, page.Examples, p.statuses(c), page.Errors}
}

// flagsOf returns the flags that lists show: those of c, and those of every command.
func (p *Program) flagsOf(c *Command) (own, global []Flag) {
	flags := p.FlagsOf(c)
	first := slices.IndexFunc(flags, func(f Flag) bool { return f.Global })
	return flags[:first], flags[first:]
}
