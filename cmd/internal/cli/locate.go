package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/talking-stick/tt/fsroom/code"
)

// A line is a command line in which the command's name was looked for.
type line struct {
	command *Command // nil if no words name a command
	name    string   // the words that name it, or with which the names of several commands begin
	stray   bool     // whether no name goes on with the next word
	unknown string   // name and that word
	args    []string // the arguments without the words of the command's name
	version bool     // whether --version stands before the first operand
}

// locate finds the command in args, which are as [protect] returns them: its name is the
// longest sequence of operands, from the first one on, that names a command. Flags may stand
// anywhere among them.
func (p *Program) locate(args []string) line {
	all := p.All()
	found := line{args: args}
	set := p.declare(p.nothing()).addTo(pflag.NewFlagSet("", pflag.ContinueOnError))
	set.SetInterspersed(false)
	note := func(flag *pflag.Flag, text string) error {
		found.version = found.version || flag.Name == "version" && text == on && found.name == ""
		return nil
	}
	var flags []string // the arguments before the next word that are no part of the name
	for rest, ended := args, false; len(rest) > 0; {
		if !ended && isFlag(rest[0]) {
			err := set.ParseAll(rest, note)
			if errors.As(err, new(*pflag.NotExistError)) {
				p.addAll(all, set)
				err = set.ParseAll(rest, note)
			}
			if err != nil {
				return found // no name follows, or nobody knows where
			}
			after := set.Args()
			ended = set.ArgsLenAtDash() >= 0
			flags, rest = append(flags, rest[:len(rest)-len(after)]...), after
			continue
		}
		name := strings.TrimPrefix(found.name+" "+unmarked(rest[0]), " ")
		exact, more := match(all, name)
		if exact == nil && !more {
			found.stray, found.unknown = true, name
			break
		}
		found.name, rest = name, rest[1:]
		if exact != nil {
			found.command, found.args = exact, slices.Concat(flags, rest)
		}
		if !more {
			break
		}
	}
	return found
}

// A Partial is the part of a command line before the cursor, for completion.
type Partial struct {
	Command  *Command // the command that the words name, nil if they name none
	Name     string   // the words that belong to its name, or to the names of several commands
	Flags    []Flag   // the flags that may follow
	Given    []string // the names of those that are there
	Operands []string // those behind the name
	Waiting  *Flag    // the flag whose value comes next, or nil
	Ended    bool     // whether "--" is there
}

// Read reads the words of an unfinished command line.
func (p *Program) Read(words []string) *Partial {
	found := p.locate(protect(words))
	flags := p.declare(found.command)
	read, _ := p.setFlags(found.command, flags, found.args)
	l := &Partial{Command: found.command, Name: found.name, Flags: flags.visible(), Waiting: read.waiting, Ended: read.ended}
	if found.command != nil || found.stray { // else they are the words of the name
		l.Operands = read.operands
	}
	for _, flag := range flags.all {
		if len(flag.texts) > 0 || read.waiting != nil && flag.Name == read.waiting.Name {
			l.Given = append(l.Given, flag.Name)
		}
	}
	return l
}

// addAll adds the flags of all commands to set: they may stand before the name of the command.
// Of two with the same name it has the first.
func (p *Program) addAll(all []*Command, set *pflag.FlagSet) {
	for _, c := range all {
		flags := p.declare(c)
		flags.all = slices.DeleteFunc(flags.all, func(f Flag) bool {
			return set.Lookup(f.Name) != nil || f.Short != "" && set.ShorthandLookup(f.Short) != nil
		})
		flags.addTo(set)
	}
}

// match returns the command with this name, and whether longer names begin with it.
func match(all []*Command, name string) (exact *Command, more bool) {
	for _, c := range all {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			exact = c
		}
		goesOn := func(s string) bool { return strings.HasPrefix(s, name+" ") }
		more = more || goesOn(c.Name) || slices.ContainsFunc(c.Aliases, goesOn)
	}
	return exact, more
}

func (p *Program) unknownCommand(name string) *code.Error {
	err := usagef("unknown command %s", quote(name)).With("command", shorten(name))
	if slices.ContainsFunc(p.Topics(), func(t Page) bool { return t.Name == name }) {
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
	var next []string
	for _, c := range p.inside(group) {
		word := c.Path()[len(words(group))]
		if !slices.Contains(next, word) {
			next = append(next, word)
		}
	}
	return usagef("%s needs one more word: %s", p.Name+" "+group, orList(next)).With("command", group).
		WithHint("see %q", p.Name+" help "+group)
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

// joined joins words with a last one behind a word of its own.
func joined(list []string, last string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + last + list[len(list)-1]
}

// mark is what no argument of a process contains. [protect] puts it into arguments that pflag
// would take for something else.
const mark = "\x00"

// protect returns args in a form in which pflag reads what they mean: a text that begins with a
// hyphen is an operand, "-test.x", which pflag passes over, is unknown, and a value behind "="
// has a mark before it.
func protect(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, value, glued := strings.Cut(arg, "=")
		switch {
		case !isFlag(arg):
			continue
		case isText(arg):
			args[i] = mark + arg
			continue
		case arg[1] != '-':
			name = strings.ReplaceAll(name, "test.", "te"+mark+"st.")
		}
		if args[i] = name; glued {
			args[i] = name + "=" + mark + value
		}
	}
	return args
}

// unmarked returns an argument as it was before [protect].
func unmarked(arg string) string { return strings.ReplaceAll(arg, mark, "") }

// isFlag reports whether pflag takes arg for flags, known or not.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// isText reports whether arg begins with a hyphen and is text all the same, such as
// an item of a list: no flag has blanks in its name.
func isText(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return strings.HasPrefix(arg, "-") && strings.ContainsAny(name, " \t\r\n")
}

// looksLikeFlag reports whether arg is more likely a flag than the value of the
// flag before it. Numbers and text do not: a flag starts with a letter and has no
// blanks.
func looksLikeFlag(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	letters := strings.TrimPrefix(strings.TrimPrefix(name, "-"), "-")
	return arg == "--" || len(letters) < len(name) && letters != "" && isLetter(letters[0]) && !strings.ContainsAny(name, " \t\r\n")
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
