package front

import (
	"fmt"
	"slices"
	"strings"
)

// helpText is a Text for help: as wide as the terminal, but not wider than lines
// are pleasant to read.
func (o *Output) helpText() *Text {
	t := newText(o.env)
	t.Width = min(t.Width, defaultWidth)
	return t
}

func (p *Program) commandHelp(c *Command, out *Output) string {
	t := out.helpText()
	t.Line("%s: %s", t.Bold(p.Name+" "+c.Name), c.Short)
	t.Blank()
	t.Line("Usage: %s", p.usageLine(c))
	for _, alias := range c.Aliases {
		t.Line("Alias: %s %s", p.Name, alias)
	}
	if c.Long != "" {
		t.Blank()
		t.Wrapped("", c.Long)
	}
	t.arguments(c.Args)
	flags := p.FlagsOf(c)
	if own := ownOnly(flags); len(own) > 0 {
		t.heading("Flags")
		t.flags(own)
	}
	t.heading("Flags of every command")
	t.flags(globalOnly(flags))
	t.examples(c.Examples)
	t.statuses(c)
	if len(c.Errors) > 0 {
		t.heading("Refusals")
		t.Wrapped("  ", codeNames(c.Errors))
	}
	return t.String()
}

// usageLine is the command line of c in general: "tt kick AGENT [PATH] [FLAGS]".
func (p *Program) usageLine(c *Command) string {
	parts := []string{p.Name}
	if c.Name != "" {
		parts = append(parts, c.Name)
	}
	for _, arg := range c.Args {
		parts = append(parts, arg.inUsage())
	}
	if c.Flags != nil {
		parts = append(parts, "[FLAGS]")
	}
	return strings.Join(parts, " ")
}

func (a Arg) show() string {
	if a.Show != "" {
		return a.Show
	}
	return strings.ToUpper(a.Name)
}

func (a Arg) inUsage() string {
	text := a.show()
	if a.Rest {
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

// item writes a name and, in a column of its own, what it is.
func (t *Text) item(name string, width int, what string) {
	lines := wrap(what, t.Width-width-2-columnGap)
	t.Line("  %-*s  %s", width, name, lines[0])
	for _, more := range lines[1:] {
		t.Line("%s%s", blanks(width+2+columnGap), more)
	}
}

func (t *Text) arguments(args []Arg) {
	width, explained := 0, false
	for _, arg := range args {
		width = max(width, len(arg.show()))
		explained = explained || arg.Usage != ""
	}
	if !explained {
		return
	}
	t.heading("Arguments")
	for _, arg := range args {
		t.item(arg.show(), width, arg.Usage)
	}
}

func (t *Text) flags(flags []Flag) {
	width := 0
	for _, flag := range flags {
		width = max(width, len(flag.Head()))
	}
	for _, flag := range flags {
		t.item(flag.Head(), width, flag.describe())
	}
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

func (f Flag) describe() string {
	text := f.Usage
	if len(f.Choices) > 0 {
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

func (t *Text) statuses(c *Command) {
	t.heading("Exit status")
	for _, exit := range exitsOf(c) {
		t.item(fmt.Sprint(exit.Status), 1, exit.Meaning)
	}
}

// exitsOf are the common statuses, where the command does not say more about one,
// and its own.
func exitsOf(c *Command) []ExitStatus {
	exits := slices.DeleteFunc(commonExits(c), func(common ExitStatus) bool {
		return slices.ContainsFunc(c.Exits, func(own ExitStatus) bool { return own.Status == common.Status })
	})
	exits = append(exits, c.Exits...)
	slices.SortStableFunc(exits, func(a, b ExitStatus) int { return a.Status - b.Status })
	return exits
}

func commonExits(c *Command) []ExitStatus {
	done := "done"
	if c.Streams {
		done = "done, or stopped by a signal"
	}
	return []ExitStatus{{statusDone, done}, {statusFailed, "refused or failed"}, {statusUsage, "wrong usage"}}
}
