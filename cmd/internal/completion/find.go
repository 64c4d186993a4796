package completion

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// A Candidate is a word that may stand at the cursor.
type Candidate struct {
	Word string
	What string // a line about it, may be empty
}

// A Paths says whether the shell is to offer paths.
type Paths string

// The kinds of paths.
const (
	NoPaths     Paths = ""
	Files       Paths = "files"
	Directories Paths = "dirs"
)

// A Slot is a place on the command line that the table alone cannot fill: the
// value of a flag, or an argument.
type Slot struct {
	Command *cli.Command
	Flag    string   // the flag's name, "" for an argument
	Arg     string   // the argument's name, "" for a flag
	Before  []string // the operands before it
}

// An Answer is what may stand at the cursor. Candidates need not start with what
// is there; the caller of [Find] gets only those that do.
type Answer struct {
	Candidates []Candidate
	Paths      Paths
}

// Words makes candidates of plain words.
func Words(words ...string) Answer {
	var a Answer
	for _, w := range words {
		a.Candidates = append(a.Candidates, Candidate{Word: w})
	}
	return a
}

// Find returns what may stand in place of the last of words, which are those
// of a command line without the program's name; the last may be empty. A value
// that is glued to its flag comes with it: "--target=self".
func Find(p *cli.Program, words []string, fill func(Slot) Answer) Answer {
	if len(words) == 0 {
		words = []string{""}
	}
	last := len(words) - 1
	current := words[last]
	l := read(p, words[:last])
	switch flag, _, glued := strings.Cut(current, "="); {
	case l.waiting != nil:
		return l.valueOf(l.waiting, fill, "", current)
	case l.ended || !strings.HasPrefix(current, "-"):
		return narrow(l.operand(p, fill), "", current)
	case glued:
		if f := l.flag(flag); f != nil && f.Placeholder != "" {
			return l.valueOf(f, fill, flag+"=", current)
		}
		return Answer{}
	}
	return narrow(l.flagNames(), "", current)
}

// narrow keeps the candidates that start with what is there, each behind glue.
func narrow(a Answer, glue, current string) Answer {
	kept := a.Candidates[:0:0]
	for _, c := range a.Candidates {
		if c.Word = glue + c.Word; strings.HasPrefix(c.Word, current) {
			kept = append(kept, c)
		}
	}
	a.Candidates = kept
	return a
}

// A line is the part of a command line before the cursor.
type line struct {
	command *cli.Command // the longest that the words name, nil so far
	name    string       // the words that were taken for a name
	flags   []cli.Flag   // those that may be given
	given   []string     // the flags that were
	before  []string     // operands behind the command's name
	waiting *cli.Flag    // the last word is a flag and its value is next
	ended   bool         // "--" was there
}

func read(p *cli.Program, words []string) *line {
	l := &line{flags: p.FlagsOf(nil)}
	takesValue := func(name string) bool {
		f := l.flag("--" + name)
		return f != nil && f.Placeholder != ""
	}
	for t := range cli.Tokens(words, takesValue) {
		switch word := words[t.Index]; t.Kind {
		case cli.Operand:
			l.takeWord(p, word)
		case cli.Terminator:
			l.ended = true
		case cli.FlagValue:
			l.waiting = nil
		default:
			name, _, _ := strings.Cut(word, "=")
			if f := l.flag(name); f != nil {
				l.given = append(l.given, f.Name)
				if !t.Glued && f.Placeholder != "" {
					l.waiting = f
				}
			}
		}
	}
	return l
}

// takeWord makes the word part of the command's name if there is one that goes on
// with it, else it is an operand.
func (l *line) takeWord(p *cli.Program, word string) {
	name := strings.TrimPrefix(l.name+" "+word, " ")
	if c := p.Command(name); c != nil && len(l.before) == 0 {
		l.command, l.name, l.flags = c, name, p.FlagsOf(c)
		return
	}
	if len(l.before) == 0 && len(next(p, name)) > 0 {
		l.name = name
		return
	}
	l.before = append(l.before, word)
}

func (l *line) flag(typed string) *cli.Flag {
	for i := range l.flags {
		if f := &l.flags[i]; typed == "--"+f.Name || f.Short != "" && typed == "-"+f.Short {
			return f
		}
	}
	return nil
}

// flagNames are the flags that may still be given.
func (l *line) flagNames() Answer {
	var a Answer
	for _, f := range l.flags {
		if f.Repeatable && f.Placeholder != "" || !slices.Contains(l.given, f.Name) {
			a.Candidates = append(a.Candidates, Candidate{"--" + f.Name, f.Usage})
		}
	}
	return a
}

// valueOf completes the value of a flag, which stands behind glue. Of a list with
// commas it completes the last element, with those that are not in it yet.
func (l *line) valueOf(f *cli.Flag, fill func(Slot) Answer, glue, current string) Answer {
	a := l.value(f, fill)
	if strings.HasSuffix(f.Placeholder, ",…") {
		value := current[len(glue):]
		given := value[:strings.LastIndexByte(value, ',')+1]
		elements := strings.Split(given, ",")
		a.Candidates = slices.DeleteFunc(a.Candidates, func(c Candidate) bool { return slices.Contains(elements, c.Word) })
		glue += given
	}
	return narrow(a, glue, current)
}

func (l *line) value(f *cli.Flag, fill func(Slot) Answer) Answer {
	if f.Choices != nil {
		return Words(f.Choices...)
	}
	return fill(Slot{Command: l.command, Flag: f.Name})
}

// operand is what may stand for an operand: a word of a command's name, an
// argument, or both.
func (l *line) operand(p *cli.Program, fill func(Slot) Answer) Answer {
	var a Answer
	if len(l.before) == 0 && !l.ended {
		a.Candidates = next(p, l.name)
	}
	if l.command == nil {
		return a
	}
	arg := argument(l.command, len(l.before))
	if arg == nil {
		return a
	}
	if arg.Choices != nil {
		a.Candidates = append(a.Candidates, Words(arg.Choices...).Candidates...)
		return a
	}
	more := fill(Slot{Command: l.command, Arg: arg.Name, Before: l.before})
	a.Candidates, a.Paths = append(a.Candidates, more.Candidates...), more.Paths
	return a
}

// argument is the one that operand number n goes to, nil if there is none.
func argument(c *cli.Command, n int) *cli.Arg {
	for i := range c.Args {
		if i == n || c.Args[i].Rest {
			return &c.Args[i]
		}
	}
	return nil
}

// next are the words with which names of commands go on after name. One that
// goes on itself is described by the words that follow it.
func next(p *cli.Program, name string) []Candidate {
	var found []Candidate
	for _, c := range p.Visible() {
		for _, full := range append([]string{c.Name}, c.Aliases...) {
			rest, ok := full, true
			if name != "" {
				rest, ok = strings.CutPrefix(full, name+" ")
			}
			if !ok {
				continue
			}
			word, more, _ := strings.Cut(rest, " ")
			following, _, _ := strings.Cut(more, " ")
			i := slices.IndexFunc(found, func(f Candidate) bool { return f.Word == word })
			switch {
			case i >= 0 && more != "" && !slices.Contains(strings.Split(found[i].What, ", "), following):
				found[i].What += ", " + following
			case i >= 0:
			case more != "":
				found = append(found, Candidate{word, following})
			default:
				found = append(found, Candidate{word, c.Short})
			}
		}
	}
	return found
}
