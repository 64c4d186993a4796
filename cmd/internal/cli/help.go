package cli

import (
	"context"
	"strings"
)

func (p *Program) helpCommand() *Command {
	return &Command{
		Name:  "help",
		Reads: true,
		Args:  []Arg{{Name: "command", Usage: "a command, or one of the topics", Optional: true, Rest: true}},
		Run: func(_ context.Context, c *Invocation) error {
			return p.printHelp(c.Out, strings.Join(c.Rest("command"), " "), c.Bool("json"))
		},

		Traits: Traits{Silent: true, NoSync: true, NoSubject: true},
	}
}

// printHelp prints the page with this name as text, or as JSON only where that was asked for.
func (p *Program) printHelp(out *Output, name string, asData bool) error {
	page, data, err := p.helpOn(name, out)
	switch {
	case err != nil:
		return err
	case asData:
		out.json = true
		return out.Result(data, nil)
	}
	return out.Print(page)
}

// HelpOn returns what "help NAME" prints in lines of so many columns, "" for an unknown name.
func (p *Program) HelpOn(name string, width int) string {
	env := &Env{StdoutTTY: true, Width: func() int { return width }, Lookup: func(string) string { return "1" }} // NO_COLOR=1
	page, _, _ := p.helpOn(name, newOutput(p.Name, env, false))
	return page
}

// helpOn returns the page on a command, a group of them, or a topic; for "" the
// first one, for "all" the one with every command. The data of both has every command.
func (p *Program) helpOn(name string, out *Output) (page string, data any, err error) {
	if name == "" || name == "all" {
		return p.generalHelp(out, name != ""), p.data(), nil
	}
	if c := p.Command(name); c != nil {
		return p.commandHelp(c, out), p.commandData(c), nil
	}
	if inside := p.inside(name); len(inside) > 0 {
		return p.groupHelp(name, out), p.groupData(Group{name, inside}), nil
	}
	known := p.visibleNames()
	for _, topic := range p.Topics() {
		if topic.Name == name {
			return p.topicHelp(topic, out), topic, nil
		}
		known = append(known, topic.Name)
	}
	unknown := usagef("no help on %s", quote(name)).With("command", shorten(name))
	return "", nil, p.didYouMean(unknown, nil, Nearest(name, known)...)
}

func (p *Program) topicHelp(topic Page, out *Output) string {
	t := out.helpText()
	t.Line("%s", t.Bold(p.Name+" help "+topic.Name)+Styled(": "+Line(topic.Short)))
	if topic.Items != nil {
		t.Blank()
		t.items(topic.Items)
	}
	if topic.Long != "" {
		t.Blank()
		t.Wrapped("", topic.Long)
	}
	var flags []Flag
	var of []string // the commands that have them
	for _, c := range p.Visible() {
		if shared := inTopic(p.FlagsOf(c), topic.Name); len(shared) > 0 {
			flags, of = shared, append(of, c.Name)
		}
	}
	if len(flags) > 0 {
		t.heading("Flags of " + joined(of, " and "))
		t.flags(flags)
	}
	return t.String()
}

// generalHelp returns the first page, or the one with all commands and topics.
func (p *Program) generalHelp(out *Output, all bool) string {
	t := out.helpText()
	t.Line("%s: %s", t.Bold(p.Name), p.Short)
	t.Blank()
	t.Line("Usage: %s COMMAND [ARGUMENTS] [FLAGS]", p.Name)
	if p.Long != "" {
		t.Blank()
		t.Wrapped("", p.Long)
	}
	if all || p.First == nil {
		p.listCommands(t, p.sections())
		var topics []Item
		for _, topic := range p.Topics() {
			topics = append(topics, Item{topic.Name, topic.Short})
		}
		if topics != nil {
			t.heading("Topics")
			t.items(topics)
		}
		t.heading("Flags")
		t.flags(p.FlagsOf(p.nothing()))
		t.Blank()
		t.Line("See %q for one command.", p.Name+" help COMMAND")
		return t.String()
	}
	p.listCommands(t, p.First)
	t.Blank()
	t.Line("See %q for one command, %q for all, topics and flags.", p.Name+" help COMMAND", p.Name+" help all")
	return t.String()
}

// sections returns the visible commands by their groups.
func (p *Program) sections() (all []Group) {
	for _, g := range p.Groups {
		g.Commands = shown(g.Commands)
		if len(g.Commands) > 0 {
			all = append(all, g)
		}
	}
	last := &all[len(all)-1]
	last.Commands = append(last.Commands, p.helpCommand(), p.versionCommand())
	return all
}

func (p *Program) listCommands(t *Text, groups []Group) {
	width := 0
	for _, g := range groups {
		for _, c := range g.Commands {
			width = max(width, len(c.Name))
		}
	}
	for _, g := range groups {
		t.heading(strings.ToUpper(g.Title[:1]) + g.Title[1:])
		for _, c := range g.Commands {
			t.item(c.Name, width, p.Page(c.Name).Short)
		}
	}
}

// groupHelp lists the commands whose names start with the word prefix.
func (p *Program) groupHelp(prefix string, out *Output) string {
	t := out.helpText()
	t.Line("Usage: %s %s COMMAND [ARGUMENTS] [FLAGS]", p.Name, prefix)
	t.heading("Commands")
	var inside []Item
	for _, c := range p.inside(prefix) {
		inside = append(inside, Item{c.Name, p.Page(c.Name).Short})
	}
	t.items(inside)
	t.Blank()
	t.Line("See %q for one of them.", p.Name+" help "+inside[0].Name)
	return t.String()
}
