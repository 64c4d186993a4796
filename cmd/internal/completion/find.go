// Package completion completes command lines in bash, zsh and fish.
//
// The scripts that a shell loads contain no commands. At every TAB they run a hidden
// command of the program, so that they are never older than the program. [Find]
// completes from the table of commands. The values that are not in the table, such
// as the agents of a room, come from a function that the program passes to it.
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

// A Position is a place on the command line whose values are not in the table: the
// value of a flag, or an argument.
type Position struct {
	Command *cli.Command
	Flag    string   // the flag's name, "" for an argument
	Arg     string   // the argument's name, "" for a flag
	Before  []string // the operands before it
}

// An Answer is a list of candidates for the word at the cursor. [Find] drops those
// that do not begin with the part of the word that is already there.
type Answer struct {
	Candidates []Candidate
	Paths      Paths
}

// Words returns an answer of candidates without descriptions.
func Words(words ...string) Answer {
	var a Answer
	for _, w := range words {
		a.Candidates = append(a.Candidates, Candidate{Word: w})
	}
	return a
}

// Find completes the last of words, which are those of a command line without the
// program's name. The last word may be empty. A candidate for a value in the same
// word as its flag includes the flag: "--target=self". values returns the candidates
// for a position that the table does not know.
func Find(p *cli.Program, words []string, values func(Position) Answer) Answer {
	if len(words) == 0 {
		words = []string{""}
	}
	last := len(words) - 1
	current := words[last]
	l := line{p.Read(words[:last])}
	switch flag, _, glued := strings.Cut(current, "="); {
	case l.Waiting != nil:
		return l.valueOf(l.Waiting, values, "", current)
	case l.Ended || !strings.HasPrefix(current, "-"):
		return narrow(l.operand(p, values), "", current)
	case glued:
		if f := l.flag(flag); f != nil && f.Placeholder != "" {
			return l.valueOf(f, values, flag+"=", current)
		}
		return Answer{}
	}
	return narrow(l.flagNames(), "", current)
}

// narrow puts glue before each candidate and keeps those that begin with current.
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
type line struct{ *cli.Partial }

func (l line) flag(typed string) *cli.Flag {
	for i := range l.Flags {
		if f := &l.Flags[i]; typed == "--"+f.Name || f.Short != "" && typed == "-"+f.Short {
			return f
		}
	}
	return nil
}

// flagNames returns the flags that may still be given.
func (l line) flagNames() Answer {
	var a Answer
	for _, f := range l.Flags {
		if f.Repeatable && f.Placeholder != "" || !slices.Contains(l.Given, f.Name) {
			a.Candidates = append(a.Candidates, Candidate{"--" + f.Name, f.Usage})
		}
	}
	return a
}

// valueOf completes the value of a flag, which follows glue. In a list with commas it
// completes the last element, with values that are not in the list yet.
func (l line) valueOf(f *cli.Flag, values func(Position) Answer, glue, current string) Answer {
	a := l.value(f, values)
	if strings.HasSuffix(f.Placeholder, ",…") {
		value := current[len(glue):]
		given := value[:strings.LastIndexByte(value, ',')+1]
		elements := strings.Split(given, ",")
		a.Candidates = slices.DeleteFunc(a.Candidates, func(c Candidate) bool { return slices.Contains(elements, c.Word) })
		glue += given
	}
	return narrow(a, glue, current)
}

func (l line) value(f *cli.Flag, values func(Position) Answer) Answer {
	if f.Choices != nil {
		return Words(f.Choices...)
	}
	return values(Position{Command: l.Command, Flag: f.Name})
}

// operand returns the candidates for an operand: words of a command's name, values
// of an argument, or both.
func (l line) operand(p *cli.Program, values func(Position) Answer) Answer {
	var a Answer
	if len(l.Operands) == 0 && !l.Ended {
		a.Candidates = next(p, l.Name)
	}
	if l.Command == nil {
		return a
	}
	arg := argument(l.Command, len(l.Operands))
	if arg == nil {
		return a
	}
	if arg.Choices != nil {
		a.Candidates = append(a.Candidates, Words(arg.Choices...).Candidates...)
		return a
	}
	more := values(Position{Command: l.Command, Arg: arg.Name, Before: l.Operands})
	a.Candidates, a.Paths = append(a.Candidates, more.Candidates...), more.Paths
	return a
}

// argument returns the argument that operand number n belongs to, or nil.
func argument(c *cli.Command, n int) *cli.Arg {
	for i := range c.Args {
		if i == n || c.Args[i].Rest {
			return &c.Args[i]
		}
	}
	return nil
}

// next returns the words that follow name in the names of commands. A word that is
// not the last one of its names is described by the words after it.
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
				found = append(found, Candidate{word, p.Page(c.Name).Short})
			}
		}
	}
	return found
}
