package cli

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// A line is a command line in which the command's name was looked for.
type line struct {
	command *Command // nil if no words name a command
	group   string   // the words with which the names of several commands begin, or ""
	stray   bool     // whether the words name no command
	unknown string   // these words
	args    []string // the arguments without the words of the command's name
	version bool     // whether --version stands before the first operand
}

// locate finds the command in args: its name is the longest sequence of operands, from
// the first one on, that names a command. Flags may stand anywhere among them.
func (p *Program) locate(args []string) line {
	all := p.All()
	found := line{args: args}
	var name string
	var used []int // where the words of the name stand
	for t := range Tokens(args, p.takesValue) {
		if t.Kind == LongFlag && t.Flag == "version" && !t.Glued && used == nil {
			found.version = true
		}
		if t.Kind != Operand {
			continue
		}
		name = strings.TrimPrefix(name+" "+args[t.Index], " ")
		exact, more := match(all, name)
		if exact == nil && !more {
			found.stray, found.unknown = true, name
			break
		}
		used = append(used, t.Index)
		if exact != nil {
			found.command, found.args = exact, without(args, used)
		}
		if !more {
			break
		}
		found.group = name
	}
	return found
}

// match returns the command with this name, and whether longer names begin with it.
func match(all []*Command, name string) (exact *Command, more bool) {
	for _, c := range all {
		if c.is(name) {
			exact = c
		}
		more = more || strings.HasPrefix(c.Name, name+" ")
		for _, alias := range c.Aliases {
			more = more || strings.HasPrefix(alias, name+" ")
		}
	}
	return exact, more
}

func without(args []string, used []int) []string {
	rest := make([]string, 0, len(args))
	for i, arg := range args {
		if len(used) > 0 && used[0] == i {
			used = used[1:]
			continue
		}
		rest = append(rest, arg)
	}
	return rest
}

// takesValue reports whether a flag before the command's name takes a value. If
// only some commands have the flag, the first of them decides.
func (p *Program) takesValue(name string) bool {
	switch name {
	case "agent":
		return p.Agents
	case "json", "text", "verbose", "help", "version", "v", "h":
		return false
	}
	for _, c := range p.All() {
		if flag := p.declare(c).find(name); flag != nil {
			return flag.Placeholder != ""
		}
	}
	return false
}

func (p *Program) unknownCommand(name string) *code.Error {
	err := usagef("unknown command %s", quote(name)).With("command", shorten(name))
	if slices.ContainsFunc(p.Topics, func(t Topic) bool { return t.Name == name }) {
		page := p.Name + " help " + name
		return err.With("suggestion", "help "+name).WithHint("that is a page of the help: %q", page)
	}
	for _, c := range p.Visible() {
		if containsInOrder(c.Path(), words(name)) {
			return p.didYouMean(err, nil, c.Name)
		}
	}
	return p.didYouMean(err, nil, Nearest(name, p.visibleNames())...)
}

// containsInOrder reports whether path has all of the words, in this order.
func containsInOrder(path, words []string) bool {
	for _, word := range path {
		if len(words) > 0 && word == words[0] {
			words = words[1:]
		}
	}
	return len(words) == 0
}

// unfinished returns the error for a line such as "tt msg", which begins the names
// of the commands "msg send" and "msg recv".
func (p *Program) unfinished(group string) *code.Error {
	err := usagef("%s needs one more word: %s", p.Name+" "+group, orList(p.nextWords(group)))
	return err.With("command", group).WithHint("see %q", p.Name+" help "+group)
}

// nextWords returns the words that follow prefix in the names of commands.
func (p *Program) nextWords(prefix string) []string {
	var next []string
	for _, c := range p.inside(prefix) {
		word := c.Path()[len(words(prefix))]
		if !slices.Contains(next, word) {
			next = append(next, word)
		}
	}
	return next
}

// inside returns the visible commands whose names begin with prefix, or the hidden
// ones if no visible one does.
func (p *Program) inside(prefix string) []*Command {
	var inside, hidden []*Command
	for _, c := range p.All() {
		switch {
		case !strings.HasPrefix(c.Name, prefix+" "):
		case c.Hidden:
			hidden = append(hidden, c)
		default:
			inside = append(inside, c)
		}
	}
	if len(inside) == 0 {
		return hidden
	}
	return inside
}

// visibleNames returns what may be suggested: names, aliases, and first words.
func (p *Program) visibleNames() []string {
	var names []string
	for _, c := range p.Visible() {
		names = append(append(names, c.Name), c.Aliases...)
		if path := c.Path(); len(path) > 1 {
			names = append(names, path[0])
		}
	}
	return names
}

func words(name string) []string { return strings.Fields(name) }

// orList joins words as in "a, b or c".
func orList(list []string) string { return joined(list, " or ") }

// andList joins words as in "a, b and c".
func andList(list []string) string { return joined(list, " and ") }

func joined(list []string, last string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + last + list[len(list)-1]
}
