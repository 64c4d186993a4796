package cli

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Program is a table of commands with the texts that describe it as a whole.
type Program struct {
	Name    string // as typed: "tt"
	Version string // "" stands for the version that the build recorded
	Commit  string
	Short   string // one line, for the head of the help
	Long    string // paragraphs, separated by blank lines
	// First are the commands on the first page of the help, which "help all" completes;
	// nil puts all of them there.
	First []Group
	// Pages have what the help says of commands and topics. A page begins with a line "# NAME: SHORT", or "## NAME: SHORT"
	// for a topic, which "help NAME" shows as it shows a command. Blank lines separate its paragraphs, which are wrapped, but
	// for those that are indented. Some lines begin with what they are, and go on in lines that are indented:
	//
	//	- NAME: WHAT       an item of a topic, in two columns
	//	$ LINE             an example, and below it what it is for
	//	Exit N: WHAT       an exit status
	//	Errors: CODE, …    error codes worth knowing
	Pages []string
	// Groups of commands in the order of the help. "help" and "version" are added to the last one that
	// the help shows.
	Groups []Group
	// Subject declares the flags of all commands but those with the trait NoSubject, such as where they are to act. They
	// stand behind the command's own, unless it declares them itself. It may be nil.
	Subject func(*Flags)
	// Agents is whether every command acts for an agent and takes --agent.
	Agents bool
	// Bare is the name of the command that runs for a line without one; "" prints
	// the help.
	Bare string
	// Before is called before each command's Run; it may be nil.
	Before func(ctx context.Context, c *Invocation)
	// After is called before the program ends, with its exit status; it may be nil.
	After func(status int)
	// DefaultJSON reports whether results are JSON when neither --json nor --text
	// is given: whether an agent's harness is calling. It may be nil.
	DefaultJSON func(*Env) bool

	read  sync.Once
	known []Page
}

// A Group has commands that the help lists under a title.
type Group struct {
	Title    string
	Commands []*Command
}

// A Command is one row of the table. What the help says of it is its [Page].
type Command struct {
	Name    string   // one word, or several: "msg send"
	Aliases []string // other names, of as many words as they like
	Hidden  bool     // works, but no list shows it
	Args    []Arg
	Flags   func(*Flags) // declares the flags; called only when they are needed
	// Exclusive are pairs of flags that must not be given together.
	Exclusive [][2]string
	// Run does the work. What it returns decides the exit status: nil is 0, the
	// error of Exit its own, an error with code usage 2, any other 1.
	Run func(ctx context.Context, c *Invocation) error
	// Misread is told of a line that the command cannot read, which is no failure then; nil: it is one.
	Misread   func(env *Env, err error)
	JSONOnly  bool // the result is JSON in every mode
	TextFirst bool // the result is text, also for a harness, unless --json is given
	Reads     bool // its output is all that it is run for: a reader that has gone has seen enough
	Streams   bool // writes JSON Lines until stopped
	Signals   bool // a signal ends it, with the exit status of a shell

	Traits Traits
}

// Traits are what a program has to know of a command before it runs, and of the rooms that it
// opens. This package only keeps them.
type Traits struct {
	Silent bool // programs run it: it warns nobody
	NoSync bool // it is not kept waiting by an update of what is installed

	NoSubject bool // it has no flags of [Program.Subject]

	HostOnly   bool // it is about this host alone, whatever engine has the rooms
	Offline    bool // with an engine it goes by what this host knows, and asks nobody
	LastKnown  bool // it shows what this host knew last while an engine cannot be reached
	LeaveModes bool // it leaves files that other users have access to as they are
}

// An Arg is a positional argument. Optional ones follow the required ones, and
// only the last can be Rest.
type Arg struct {
	Name     string   `json:"-"`                 // how Invocation.Arg asks for it: "path"
	Show     string   `json:"name"`              // how help shows it; "" means Name in capitals. One that begins with [ says how many a Rest takes
	Usage    string   `json:"usage,omitempty"`   // one line for the help; may be empty
	Missing  string   `json:"-"`                 // what to do where it is missing; "" for the usage line
	Choices  []string `json:"choices,omitempty"` // the only values it accepts, nil for any; they are also its Show
	Optional bool     `json:"optional,omitempty"`
	Before   bool     `json:"before,omitempty"` // stands before --, if it is given; may stand before a required Rest
	Rest     bool     `json:"rest,omitempty"`   // takes all that is left, at least one unless Optional
}

// Path splits the command's name into its words.
func (c *Command) Path() []string { return words(c.Name) }

// All returns the commands of p with those every program has, hidden ones too.
func (p *Program) All() []*Command {
	all := make([]*Command, 0, 80)
	for _, g := range p.Groups {
		all = append(all, g.Commands...)
	}
	return append(all, p.helpCommand(), p.versionCommand())
}

// Visible returns the commands that lists show, in the order of the help.
func (p *Program) Visible() []*Command { return shown(p.All()) }

func shown(list []*Command) []*Command {
	return slices.DeleteFunc(slices.Clone(list), func(c *Command) bool { return c.Hidden })
}

// Command returns the command with this name or alias, nil if there is none.
func (p *Program) Command(name string) *Command {
	c, _ := match(p.All(), name)
	return c
}

func (p *Program) versionCommand() *Command {
	return &Command{
		Name:  "version",
		Reads: true,
		Run:   func(_ context.Context, c *Invocation) error { return p.printVersion(c.Out) },

		Traits: Traits{NoSync: true, NoSubject: true},
	}
}

type version struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
}

func (p *Program) printVersion(out *Output) error {
	v := p.build()
	return out.Result(v, func(t *Text) {
		switch {
		case v.Commit == "":
			t.Line("%s %s", v.Name, v.Version)
			return
		case strings.HasPrefix(v.Commit, v.Version): // built between releases
			t.Line("%s %s", v.Name, v.Commit)
			return
		}
		t.Line("%s %s (%s)", v.Name, v.Version, v.Commit)
	})
}

// BuildVersion returns the version of the program, or the one that the build recorded.
func (p *Program) BuildVersion() string { return p.build().Version }

func (p *Program) build() version {
	v := version{p.Name, p.Version, p.Commit}
	if v.Version != "" && v.Commit != "" {
		return v
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(v.Version, info.Main.Version, "(devel)")
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && v.Commit == "" {
			v.Commit = setting.Value[:min(len(setting.Value), shortCommit)]
		}
	}
	return v
}

// shortCommit is the number of digits of a commit that the version shows.
const shortCommit = 12

// A Page is what the help says of a command or a topic, see [Program.Pages].
type Page struct {
	Name     string       `json:"name"`
	Short    string       `json:"short"` // one line, no capital, no full stop
	Items    []Item       `json:"items,omitempty"`
	Long     string       `json:"long,omitempty"`
	Topic    bool         `json:"-"` // it does not belong to a command
	Examples []Example    `json:"-"`
	Exits    []ExitStatus `json:"-"` // statuses beyond 0, 1 and 2, or with another meaning
	Errors   []string     `json:"-"` // codes worth knowing
}

// An Item is a name and its meaning.
type Item struct {
	Name string `json:"name"`
	What string `json:"what"`
}

// An Example is a command line and what it is for.
type Example struct {
	Line string `json:"line"`           // with the program's name
	What string `json:"what,omitempty"` // may be empty
}

// An ExitStatus is one that a command uses beyond the common ones.
type ExitStatus struct {
	Status  int    `json:"status"`
	Meaning string `json:"meaning"`
}

// Page returns the page of a command or a topic, an empty one if there is none.
func (p *Program) Page(name string) Page {
	for _, page := range p.pages() {
		if page.Name == name {
			return page
		}
	}
	return Page{}
}

// Topics returns the pages that do not belong to a command.
func (p *Program) Topics() (topics []Page) {
	for _, page := range p.pages() {
		if page.Topic {
			topics = append(topics, page)
		}
	}
	return topics
}

const ownPages = "\n\n# help: explain a command or a topic\n\n# version: print the version and the commit it was built from"

// pages returns all pages. They are read once, and only for the help and what is made of it.
func (p *Program) pages() []Page {
	p.read.Do(func() {
		for paragraph := range strings.SplitSeq(strings.Join(p.Pages, "\n\n")+ownPages, "\n\n") {
			if paragraph = strings.Trim(paragraph, "\n"); strings.HasPrefix(paragraph, "#") {
				name, short, _ := strings.Cut(strings.TrimLeft(paragraph, "# "), ": ")
				p.known = append(p.known, Page{Name: name, Short: short, Topic: strings.HasPrefix(paragraph, "##")})
			} else if paragraph != "" {
				p.known[len(p.known)-1].add(paragraph)
			}
		}
	})
	return p.known
}

// add adds a paragraph. Lines of a text are put together, but not those of one that is indented.
func (page *Page) add(paragraph string) {
	whole := strings.ReplaceAll(paragraph, "\n  ", " ")
	switch {
	case strings.HasPrefix(paragraph, "$ "):
		for example := range strings.SplitSeq(paragraph[2:], "\n$ ") {
			line, what, _ := strings.Cut(example, "\n  ")
			page.Examples = append(page.Examples, Example{line, strings.ReplaceAll(what, "\n  ", " ")})
		}
	case strings.HasPrefix(paragraph, "- "):
		for item := range strings.SplitSeq(whole[2:], "\n- ") {
			name, what, _ := strings.Cut(item, ": ")
			page.Items = append(page.Items, Item{name, what})
		}
	case strings.HasPrefix(paragraph, "Exit "):
		for exit := range strings.SplitSeq(whole[len("Exit "):], "\nExit ") {
			number, meaning, _ := strings.Cut(exit, ": ")
			status, _ := strconv.Atoi(number)
			page.Exits = append(page.Exits, ExitStatus{status, meaning})
		}
	case strings.HasPrefix(paragraph, "Errors: "):
		page.Errors = strings.Split(whole[len("Errors: "):], ", ")
	default:
		if !strings.HasPrefix(paragraph, " ") {
			paragraph = strings.ReplaceAll(paragraph, "\n", " ")
		}
		page.Long = strings.TrimPrefix(page.Long+"\n\n"+paragraph, "\n\n")
	}
}
