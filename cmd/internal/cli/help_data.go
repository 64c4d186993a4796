package cli

import "slices"

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
