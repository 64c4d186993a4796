package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// MaxCommand is how much of a command is classified, in bytes. Linux gives a shell no longer one as an argument.
const MaxCommand = 128 << 10

// What a command may need, so that none takes 50 ms to follow: a step takes about 1 µs.
const (
	maxSteps   = 60000
	maxDepth   = 60 // of commands within commands
	maxEffects = 500
	maxUnknown = 64
	maxWords   = 64 // of a list of names or one word that has braces
)

// An Effect is one change that a command would make.
type Effect struct {
	Op       string // what people call it, such as "git reset --hard" or "sed -i"
	Path     string // what is changed, absolute. It stands for others where the text has a pattern.
	Git      bool   // the index, the branches or the working tree of the repository that Path is in
	Below    bool   // everything below Path
	Destroys bool   // what it takes away may be nowhere else
	Stash    bool   // it moves the stash of that repository, by position
	Own      bool   // not in repositories and working trees below
	reach    string // see [Effect.Reach]
}

// A Result is everything that a command would do.
type Result struct {
	Effects []Effect
	Unknown []string // programs and targets of which nothing is known
	Broken  bool     // it does not parse as a whole
}

// An Env is what is known of the place where a command would run. The functions may be nil.
type Env struct {
	Dir    string // the directory in which it starts, absolute
	Home   string
	Lookup func(name string) string // a variable of the environment
	Top    func(dir string) string  // the top of the repository that dir is in, "" if it is in none
	Alias  func(name string) string // what an alias of git stands for
}

// Classify returns what command would do. What comes after [MaxCommand] is unknown, and so is the
// rest of a command that takes too many steps to follow.
func Classify(command string, env Env) (result Result) {
	w := &walker{env: env}
	if len(command) > MaxCommand {
		command = command[:MaxCommand]
		w.unknown("the end of a command that is too long")
	}
	defer func() {
		if recover() != nil {
			result = w.result // what was found until then
			result.Unknown = append(result.Unknown, "a command that cannot be followed")
		}
	}()
	w.script(newScope(env.Dir), command)
	return w.result
}

// A walker follows one command.
type walker struct {
	env    Env
	result Result
	steps  int
	depth  int
	in     input // what the current command reads
}

// input is what is known of the standard input of a command.
type input struct {
	text  string
	known bool  // text is all of it
	names value // else what the lines of it are, if they are names of files
}

// A scope is the state of one shell.
type scope struct {
	dir     string // "" if it is not known
	before  string // the directory before the last cd
	stack   []string
	vars    map[string][]value // more than one value: an array
	args    []value            // the positional parameters
	funcs   map[string]*syntax.Stmt
	aliases map[string]string
}

func newScope(dir string) *scope {
	return &scope{dir: dir, vars: map[string][]value{}, funcs: map[string]*syntax.Stmt{}, aliases: map[string]string{}}
}

// clone returns a copy for a subshell.
func (sc *scope) clone() *scope {
	c := *sc
	c.vars = maps.Clone(sc.vars)
	c.stack = slices.Clone(sc.stack)
	return &c
}

// at returns a copy of the scope in another directory.
func (sc *scope) at(w *walker, dir value) *scope {
	c := sc.clone()
	c.chdir(w, dir)
	return c
}

// chdir changes the directory; one that is not known is "".
func (sc *scope) chdir(w *walker, to value) {
	sc.before = sc.dir
	w.spend(len(sc.dir) / 10)
	dir, ok := w.locate(sc, to)
	if !ok {
		dir = ""
	}
	sc.dir = dir
}

// unite makes sc what is known after one of several branches was taken.
func (sc *scope) unite(branches ...*scope) {
	one := branches[0]
	for _, other := range branches[1:] {
		for name, v := range other.vars {
			if mine, ok := one.vars[name]; ok {
				v = common(mine, v)
			}
			one.vars[name] = v
		}
		if other.dir != one.dir {
			one.dir = outer(one.dir, other.dir)
		}
	}
	sc.vars, sc.args, sc.dir = one.vars, one.args, one.dir
}

// outer returns that of two directories in which the other one is, "" if there is none.
func outer(a, b string) string {
	switch {
	case a == "" || b == "":
		return ""
	case strings.HasPrefix(b, strings.TrimSuffix(a, "/")+"/"):
		return a
	case strings.HasPrefix(a, strings.TrimSuffix(b, "/")+"/"):
		return b
	}
	return ""
}

func (w *walker) unknown(what string) {
	what = plain(what)
	if len(w.result.Unknown) < maxUnknown && !slices.Contains(w.result.Unknown, what) {
		w.result.Unknown = append(w.result.Unknown, what)
	}
}

// spend counts steps. Too many of them end the walk.
func (w *walker) spend(steps int) {
	if w.steps += steps; w.steps > maxSteps || w.depth > maxDepth {
		panic("too much to follow")
	}
}

// deeper counts a step, and returns the function that leaves the level that it enters.
func (w *walker) deeper() func() {
	w.depth++
	w.spend(10)
	return func() { w.depth-- }
}

// isDevice says whether path is a device. In /dev/shm are files like others.
func isDevice(path string) bool {
	return strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/dev/shm/")
}

// effect records that each of targets is changed as e says.
func (w *walker) effect(sc *scope, e Effect, targets ...value) {
	for _, to := range targets {
		path, ok := w.locate(sc, to)
		switch {
		case !ok:
			w.unknown(e.Op + ": where is not known")
			continue
		case isDevice(path), strings.HasPrefix(path, "/proc/"):
			continue
		}
		if to == found {
			path += "/" + anyDepth
		}
		if e.Path = plain(path); e.reach == "" {
			e.reach = w.reach(e, path)
		}
		e.Op = plain(e.Op)
		w.spend(len(w.result.Effects) / 64)
		most := maxEffects
		if e.Git || e.Below {
			most *= 2 // whatever else there is
		}
		switch {
		case slices.Contains(w.result.Effects, e):
		case len(w.result.Effects) < most:
			w.result.Effects = append(w.result.Effects, e)
		default:
			w.unknown("more changes than are followed")
		}
	}
}

var (
	here  = value{text: "."}               // the directory of a command as a target
	found = value{open: true, names: true} // the name of some file
)

// Summary says in a few words what a command does, without what it may have of secrets: the
// first thing that it writes, or the name of its first program.
func Summary(command string, env Env) string {
	r := Classify(command, env)
	if len(r.Effects) > 0 {
		op, _, _ := strings.Cut(r.Effects[0].Op, " /")
		return op
	}
	words := strings.Fields(command)
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	name, _ := (&walker{}).program(strings.Trim(words[0], `()'"`))
	if len(words) > 1 && strings.Contains(" git gh npm pnpm yarn cargo go docker kubectl make ", " "+name+" ") && strings.Trim(words[1], "abcdefghijklmnopqrstuvwxyz-") == "" {
		name += " " + words[1]
	}
	return name
}
