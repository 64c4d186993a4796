package cli

import "strings"

// What "help NAME --json" prints. The text of the same page is made of the same table.
type (
	programData struct {
		Name   string      `json:"name"`
		Short  string      `json:"short"`
		Long   string      `json:"long,omitempty"`
		Groups []groupData `json:"groups"`
		Topics []topicData `json:"topics"`
		Flags  []flagData  `json:"flags"` // of every command
	}
	groupData struct {
		Title    string        `json:"title"`
		Commands []commandData `json:"commands"`
	}
	commandData struct {
		Name     string        `json:"name"`
		Aliases  []string      `json:"aliases,omitempty"`
		Usage    string        `json:"usage"`
		Short    string        `json:"short"`
		Long     string        `json:"long,omitempty"`
		Args     []argData     `json:"arguments"`
		Flags    []flagData    `json:"flags"`
		Examples []exampleData `json:"examples,omitempty"`
		Exits    []exitData    `json:"exit_statuses"`
		Errors   []string      `json:"errors,omitempty"`
	}
	argData struct {
		Name     string   `json:"name"` // as the usage shows it
		Usage    string   `json:"usage,omitempty"`
		Choices  []string `json:"choices,omitempty"`
		Optional bool     `json:"optional,omitempty"`
		Rest     bool     `json:"rest,omitempty"` // takes all that is left
	}
	flagData struct {
		Name       string   `json:"name"`
		Short      string   `json:"short,omitempty"`
		Value      string   `json:"value,omitempty"` // what stands for it; none: a switch
		Usage      string   `json:"usage"`
		Default    string   `json:"default,omitempty"`
		Choices    []string `json:"choices,omitempty"`
		Repeatable bool     `json:"repeatable,omitempty"`
		Topic      string   `json:"topic,omitempty"` // the page that explains it
	}
	exampleData struct {
		Line string `json:"line"`
		What string `json:"what,omitempty"`
	}
	exitData struct {
		Status  int    `json:"status"`
		Meaning string `json:"meaning"`
	}
	topicData struct {
		Name  string     `json:"name"`
		Short string     `json:"short"`
		Items []itemData `json:"items,omitempty"`
		Long  string     `json:"long,omitempty"`
	}
	itemData struct {
		Name string `json:"name"`
		What string `json:"what"`
	}
)

func (p *Program) data() programData {
	d := programData{Name: p.Name, Short: p.Short, Long: p.Long, Groups: []groupData{}, Topics: []topicData{},
		Flags: flagsData(p.FlagsOf(nil), true)}
	for _, s := range p.sections() {
		d.Groups = append(d.Groups, groupData{s.Title, p.commandsData(s.Commands)})
	}
	for _, t := range p.Topics {
		d.Topics = append(d.Topics, t.data())
	}
	return d
}

func (p *Program) commandsData(names []string) []commandData {
	list := make([]commandData, 0, len(names))
	for _, name := range names {
		list = append(list, p.commandData(p.Command(name)))
	}
	return list
}

func (p *Program) commandData(c *Command) commandData {
	d := commandData{Name: c.Name, Aliases: c.Aliases, Usage: p.UsageLine(c), Short: c.Short, Long: c.Long,
		Args: []argData{}, Flags: flagsData(p.FlagsOf(c), false)}
	for _, a := range c.Args {
		d.Args = append(d.Args, argData{a.Display(), a.Usage, a.Choices, a.Optional, a.Rest})
	}
	for _, e := range c.Examples {
		d.Examples = append(d.Examples, exampleData(e))
	}
	for _, e := range c.Statuses() {
		d.Exits = append(d.Exits, exitData(e))
	}
	for _, e := range c.Errors {
		d.Errors = append(d.Errors, string(e))
	}
	return d
}

// flagsData returns the flags of every command, or the others.
func flagsData(flags []Flag, global bool) []flagData {
	list := []flagData{}
	for _, f := range flags {
		if f.Global == global {
			repeatable := f.Repeatable && f.Placeholder != ""
			list = append(list, flagData{f.Name, f.Short, f.Placeholder, f.Usage, f.Default, f.Choices, repeatable, f.Topic})
		}
	}
	return list
}

func (t Topic) data() topicData {
	d := topicData{Name: t.Name, Short: t.Short, Long: strings.TrimSpace(t.Long)}
	for _, i := range t.List() {
		d.Items = append(d.Items, itemData(i))
	}
	return d
}
