package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// MaxCommand is the length of the longest command that is classified, in bytes.
const MaxCommand = 64 << 10

const (
	maxSteps   = 4000 // simple commands that are followed
	maxDepth   = 60   // of commands within commands
	maxEffects = 200
)

// An Effect is one change that a command would make.
type Effect struct {
	Op       string // what people call it, such as "git reset --hard" or "sed -i"
	Path     string // what is changed, absolute. It stands for others where the text has a pattern.
	Git      bool   // the index, the branches or the working tree of the repository that Path is in
	Below    bool   // everything below Path
	Destroys bool   // what it takes away may be nowhere else
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

// Classify returns what command would do. A command that is too long, or that takes too
// many steps to follow, is unknown.
func Classify(command string, env Env) (result Result) {
	if len(command) > MaxCommand {
		return Result{Unknown: []string{"a command that is too long"}}
	}
	defer func() {
		if recover() != nil {
			result = Result{Unknown: []string{"a command that cannot be followed"}}
		}
	}()
	w := &walker{env: env}
	sc := &scope{dir: env.Dir, vars: map[string][]value{}, funcs: map[string]*syntax.Stmt{}, aliases: map[string]string{}}
	w.script(sc, command)
	return w.result
}

// A walker follows one command.
type walker struct {
	env    Env
	result Result
	steps  int
	depth  int
	in     input // what the current command reads
	fresh  int   // the number of variables that were made up
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

// clone returns a copy for a subshell.
func (sc *scope) clone() *scope {
	c := *sc
	c.vars = make(map[string][]value, len(sc.vars))
	for name, v := range sc.vars {
		c.vars[name] = v
	}
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
	dir, ok := w.locate(sc, to)
	if !ok {
		dir = ""
	}
	sc.dir = dir
}

// unite makes sc what is known after one of several branches was taken.
func (sc *scope) unite(branches ...*scope) {
	first := branches[0]
	for name := range first.vars {
		for _, other := range branches[1:] {
			v, ok := other.vars[name]
			if !ok {
				continue
			}
			first.vars[name] = common(first.vars[name], v)
		}
	}
	dir := first.dir
	for _, other := range branches[1:] {
		for name, v := range other.vars {
			if _, ok := first.vars[name]; !ok {
				first.vars[name] = v
			}
		}
		if other.dir != dir {
			dir = outer(dir, other.dir)
		}
	}
	sc.vars, sc.args, sc.dir = first.vars, first.args, dir
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
	if len(w.result.Unknown) < maxEffects && !slices.Contains(w.result.Unknown, what) {
		w.result.Unknown = append(w.result.Unknown, what)
	}
}

// deeper counts a step, and returns the function that leaves the level that it enters.
// Too many of either end the walk.
func (w *walker) deeper() func() {
	w.steps++
	w.depth++
	if w.steps > maxSteps || w.depth > maxDepth {
		panic("too much to follow")
	}
	return func() { w.depth-- }
}

// script follows a text as a shell does that runs it.
func (w *walker) script(sc *scope, text string) {
	defer w.deeper()()
	text = strings.ReplaceAll(text, "\r\n", "\n")
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		w.result.Broken = true
		w.unknown("what does not parse")
	}
	if f != nil {
		w.stmts(sc, f.Stmts)
	}
}

func (w *walker) stmts(sc *scope, list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(sc, s)
	}
}

func (w *walker) stmt(sc *scope, s *syntax.Stmt) {
	if s == nil {
		return
	}
	in := w.in
	for _, r := range s.Redirs {
		w.redirect(sc, r)
	}
	if s.Cmd != nil {
		defer w.deeper()()
		w.command(sc, s.Cmd)
	}
	w.in = in
}

func (w *walker) redirect(sc *scope, r *syntax.Redirect) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc == nil {
			return
		}
		v := w.joined(sc, r.Hdoc.Parts)
		w.in = input{text: v.source(sc, w), known: true}
	case syntax.WordHdoc:
		if fields := w.fields(sc, r.Word); len(fields) > 0 {
			w.in = input{text: fields[0].source(sc, w), known: true}
		}
	case syntax.RdrIn:
		w.fields(sc, r.Word)
		w.in = input{names: value{open: true, names: true}}
		if len(r.Word.Parts) == 1 {
			if p, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok && len(p.Stmts) == 1 {
				w.in = w.printed(sc, p.Stmts[0])
			}
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob, syntax.RdrInOut, syntax.DplOut:
		for _, to := range w.fields(sc, r.Word) {
			if r.Op == syntax.DplOut && (to.text == "-" || isNumber(to.text)) {
				continue
			}
			w.effect(sc, Effect{Op: r.Op.String() + " " + short(to)}, to)
		}
	}
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789-") == "" }

// short is how a target is called in the name of an operation.
func short(v value) string {
	if v.open || len(v.text) > 40 {
		return "file"
	}
	return v.text
}

// effect records that each of targets is changed as e says.
func (w *walker) effect(sc *scope, e Effect, targets ...value) {
	for _, to := range targets {
		path, ok := w.locate(sc, to)
		switch {
		case !ok:
			w.unknown(e.Op + ": where is not known")
			continue
		case strings.HasPrefix(path, "/dev/"), strings.HasPrefix(path, "/proc/"):
			continue
		}
		e.Path = path
		if len(w.result.Effects) < maxEffects && !slices.Contains(w.result.Effects, e) {
			w.result.Effects = append(w.result.Effects, e)
		}
	}
}

// here is the directory of a command as a target.
var here = value{text: "."}

func (w *walker) command(sc *scope, c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		w.call(sc, c)
	case *syntax.BinaryCmd:
		w.binary(sc, c)
	case *syntax.Block:
		w.stmts(sc, c.Stmts)
	case *syntax.Subshell:
		w.stmts(sc.clone(), c.Stmts)
	case *syntax.IfClause:
		w.branches(sc, c)
	case *syntax.WhileClause:
		w.stmts(sc, c.Cond)
		w.stmts(sc, c.Do)
	case *syntax.ForClause:
		w.loop(sc, c)
	case *syntax.CaseClause:
		w.fields(sc, c.Word)
		ways := []*scope{sc.clone()}
		for _, item := range c.Items {
			way := sc.clone()
			w.stmts(way, item.Stmts)
			ways = append(ways, way)
		}
		sc.unite(ways...)
	case *syntax.FuncDecl:
		if c.Name != nil {
			sc.funcs[c.Name.Value] = c.Body
		}
	case *syntax.DeclClause:
		for _, a := range c.Args {
			w.assign(sc, a)
		}
	case *syntax.TimeClause:
		w.stmt(sc, c.Stmt)
	case *syntax.CoprocClause:
		w.stmt(sc.clone(), c.Stmt)
	default: // tests and arithmetic
		w.substitutions(sc, c)
	}
}

func (w *walker) binary(sc *scope, c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		w.stmt(sc.clone(), c.X)
		in := w.in
		w.in = w.printed(sc, c.X)
		w.stmt(sc.clone(), c.Y)
		w.in = in
	case syntax.OrStmt: // the first one is taken to succeed
		w.stmt(sc, c.X)
		way := sc.clone()
		w.stmt(way, c.Y)
		way.dir = sc.dir
		sc.unite(sc.clone(), way)
	default:
		w.stmt(sc, c.X)
		w.stmt(sc, c.Y)
	}
}

func (w *walker) branches(sc *scope, c *syntax.IfClause) {
	var ways []*scope
	for ; c != nil; c = c.Else {
		w.stmts(sc, c.Cond)
		way := sc.clone()
		w.stmts(way, c.Then)
		ways = append(ways, way)
		if c.Else == nil && len(c.Cond) > 0 {
			ways = append(ways, sc.clone())
		}
	}
	sc.unite(ways...)
}

// loop follows the body once for each item.
func (w *walker) loop(sc *scope, c *syntax.ForClause) {
	items, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.substitutions(sc, c.Loop)
		w.stmts(sc, c.Do)
		return
	}
	var values []value
	for _, word := range items.Items {
		values = append(values, w.fields(sc, word)...)
	}
	if !items.InPos.IsValid() {
		values = sc.args
	}
	for i, v := range values {
		if i == 24 {
			break
		}
		sc.vars[items.Name.Value] = []value{v}
		w.stmts(sc, c.Do)
	}
}

// substitutions follows the commands that stand in $(…) inside of a node.
func (w *walker) substitutions(sc *scope, n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.stmts(sc.clone(), n.Stmts)
			return false
		case *syntax.ProcSubst:
			w.stmts(sc.clone(), n.Stmts)
			return false
		}
		return true
	})
}

func (w *walker) assign(sc *scope, a *syntax.Assign) {
	if a.Name == nil {
		if a.Value != nil {
			w.fields(sc, a.Value)
		}
		return
	}
	var values []value
	switch {
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				values = append(values, w.fields(sc, e.Value)...)
			}
		}
	case a.Value != nil:
		values = []value{w.joined(sc, a.Value.Parts)}
	case a.Naked:
		return
	default:
		values = []value{{}}
	}
	old := sc.vars[a.Name.Value]
	switch {
	case a.Append && a.Array == nil && len(old) == 1 && len(values) == 1:
		values = []value{old[0].plus(values[0])}
	case a.Append || a.Index != nil:
		values = append(slices.Clone(old), values...)
	}
	sc.vars[a.Name.Value] = values
}

// call follows a simple command. Assignments before it hold for it alone.
func (w *walker) call(sc *scope, c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			w.assign(sc, a)
		}
		return
	}
	var args []value
	for _, word := range c.Args {
		args = append(args, w.fields(sc, word)...)
	}
	if len(c.Assigns) == 0 {
		w.run(sc, args)
		return
	}
	old := map[string][]value{}
	for _, a := range c.Assigns {
		if a.Name != nil {
			old[a.Name.Value] = sc.vars[a.Name.Value]
		}
		w.assign(sc, a)
	}
	w.run(sc, args)
	for name, values := range old {
		if sc.vars[name] = values; values == nil {
			delete(sc.vars, name)
		}
	}
}

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
	name, _ := program(strings.Trim(words[0], `()'"`))
	if len(words) > 1 && strings.Contains(" git gh npm pnpm yarn cargo go docker kubectl make ", " "+name+" ") && strings.Trim(words[1], "abcdefghijklmnopqrstuvwxyz-") == "" {
		name += " " + words[1]
	}
	return name
}
