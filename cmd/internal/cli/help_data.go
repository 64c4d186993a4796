package cli

import (
	"slices"

	"github.com/talking-stick/tt/fsroom/code"
)

// What "help NAME --json" prints: the table of which the text of the same page is made.
type (
	programData struct {
		Name   string      `json:"name"`
		Short  string      `json:"short"`
		Long   string      `json:"long,omitempty"`
		Groups []groupData `json:"groups"`
		Topics []topicData `json:"topics"`
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
		Errors   []code.Code  `json:"errors,omitempty"`
	}
	topicData struct {
		Name  string `json:"name"`
		Short string `json:"short"`
		Items []Item `json:"items,omitempty"`
		Long  string `json:"long,omitempty"`
	}
)

func (p *Program) data() programData {
	_, flags := p.flagsOf(nil)
	d := programData{p.Name, p.Short, p.Long, []groupData{}, []topicData{}, flags}
	for _, s := range p.sections() {
		d.Groups = append(d.Groups, p.groupData(s.Title, s.Commands))
	}
	for _, t := range p.Topics {
		d.Topics = append(d.Topics, t.data())
	}
	return d
}

func (p *Program) groupData(title string, names []string) groupData {
	d := groupData{title, []commandData{}}
	for _, name := range names {
		d.Commands = append(d.Commands, p.commandData(p.Command(name)))
	}
	return d
}

func (p *Program) commandData(c *Command) commandData {
	own, _ := p.flagsOf(c)
	args := append([]Arg{}, c.Args...)
	for i := range args {
		args[i].Show = args[i].Display()
	}
	return commandData{c.Name, c.Aliases, p.UsageLine(c), c.Short, c.Long, args, own, c.Examples, c.Statuses(), c.Errors}
}

// flagsOf returns the flags that lists show: those of c, and those of every command.
func (p *Program) flagsOf(c *Command) (own, global []Flag) {
	flags := p.FlagsOf(c)
	first := slices.IndexFunc(flags, func(f Flag) bool { return f.Global })
	return flags[:first], flags[first:]
}

func (t Topic) data() topicData { return topicData{t.Name, t.Short, t.List(), t.Long} }
