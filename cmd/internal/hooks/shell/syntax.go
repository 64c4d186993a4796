package shell

import (
	"errors"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// parseScript returns the statements of a script up to the first that does not parse, and whether
// there is such a one. A here-document that nothing ends goes on to the end, as in Bash.
func parseScript(text string) (list []*syntax.Stmt, broken bool) {
	for range maxUnclosed {
		list = nil
		var failed error
		for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text)) {
			if err != nil {
				failed = err
				break
			}
			list = append(list, s)
		}
		var e syntax.ParseError
		errors.As(failed, &e)
		word, isDocument := strings.CutPrefix(e.Text, "unclosed here-document ")
		end, err := strconv.Unquote(word)
		if !isDocument || err != nil {
			return list, failed != nil
		}
		text += "\n" + end + "\n"
	}
	return list, true
}

const (
	maxUnclosed = 4    // here-documents
	maxOpen     = 1000 // brackets that nothing closes
	maxBraces   = 100  // in a word
)

// script follows a text as a shell does that runs it.
func (w *walker) script(sc *scope, text string) {
	defer w.deeper()()
	w.spend(len(text) / 50)
	for _, pair := range []string{"()", "[]", "{}"} {
		if strings.Count(text, pair[:1]) > strings.Count(text, pair[1:])+maxOpen {
			panic("too much to follow")
		}
	}
	list, broken := parseScript(strings.ReplaceAll(text, "\r\n", "\n"))
	if broken {
		w.result.Broken = true
		w.unknown("what does not parse")
	}
	w.list(sc, list)
}

func (w *walker) list(sc *scope, list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(sc, s)
	}
}

// stmt follows a statement.
func (w *walker) stmt(sc *scope, s *syntax.Stmt) {
	if s == nil {
		return
	}
	defer w.deeper()()
	w.spend(len(sc.vars) / 12) // to copy them
	in := w.in
	for _, r := range s.Redirs {
		w.redirect(sc, r)
	}
	w.command(sc, s.Cmd)
	w.in = in
}

func (w *walker) command(sc *scope, cmd syntax.Command) {
	switch c := cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		w.call(sc, c)
	case *syntax.DeclClause: // export and the like: the assignments stay
		w.assign(sc, c.Args)
	case *syntax.Block:
		w.list(sc, c.Stmts)
	case *syntax.Subshell:
		w.list(sc.clone(), c.Stmts)
	case *syntax.BinaryCmd:
		w.binary(sc, c)
	case *syntax.WhileClause:
		w.list(sc, c.Cond)
		w.list(sc, c.Do)
	case *syntax.IfClause:
		w.choice(sc, c)
	case *syntax.CaseClause:
		w.fields(sc, c.Word)
		ways := []*scope{sc.clone()}
		for _, item := range c.Items {
			way := sc.clone()
			w.list(way, item.Stmts)
			ways = append(ways, way)
		}
		sc.unite(ways...)
	case *syntax.ForClause:
		w.loop(sc, c)
	case *syntax.FuncDecl:
		sc.funcs[c.Name.Value] = c.Body
	case *syntax.TimeClause:
		w.stmt(sc, c.Stmt)
	case *syntax.CoprocClause:
		w.stmt(sc.clone(), c.Stmt)
	default: // a test or arithmetic
		w.inside(sc, c)
	}
}

// inside follows the substitutions in an expression.
func (w *walker) inside(sc *scope, n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		word, ok := n.(*syntax.Word)
		if ok {
			w.joined(sc, word)
		}
		return !ok
	})
}

// binary follows a && b, a || b, of which the first is taken to succeed, and a | b.
func (w *walker) binary(sc *scope, c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt, syntax.OrStmt:
		w.depth-- // however many of them a line has, the first is not deeper than the last
		w.stmt(sc, c.X)
		w.depth++
		if c.Op == syntax.AndStmt {
			w.stmt(sc, c.Y)
			return
		}
		way := sc.clone()
		w.stmt(way, c.Y)
		way.dir = sc.dir
		sc.unite(sc.clone(), way)
	default:
		w.stmt(sc.clone(), c.X)
		w.in = w.printed(sc, c.X)
		w.stmt(sc.clone(), c.Y)
	}
}

func (w *walker) choice(sc *scope, c *syntax.IfClause) {
	var ways []*scope
	isElse := false
	for ; c != nil; c = c.Else {
		w.list(sc, c.Cond)
		way := sc.clone()
		w.list(way, c.Then)
		ways, isElse = append(ways, way), len(c.Cond) == 0
	}
	if !isElse {
		ways = append(ways, sc.clone())
	}
	sc.unite(ways...)
}

func (w *walker) loop(sc *scope, c *syntax.ForClause) {
	items, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.inside(sc, c.Loop)
		w.list(sc, c.Do)
		return
	}
	values := w.words(sc, items.Items)
	if !items.InPos.IsValid() {
		values = sc.args
	}
	begin, most := w.steps, (maxSteps-w.steps)/2 // the rest is for what stands behind
	for _, v := range values {
		if w.steps-begin > most {
			w.unknown("the rest of a loop")
			break
		}
		sc.vars[items.Name.Value] = []value{v}
		w.list(sc, c.Do)
	}
}

func (w *walker) redirect(sc *scope, r *syntax.Redirect) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			e := expander{w: w, sc: sc, whole: true}
			e.document(r)
			w.in = input{text: e.current.source(), known: true}
		}
	case syntax.WordHdoc:
		if fields := w.fields(sc, r.Word); len(fields) > 0 {
			w.in = input{text: fields[0].source(), known: true}
		}
	case syntax.RdrIn:
		w.fields(sc, r.Word)
		w.in = input{names: found}
		if p, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok && len(r.Word.Parts) == 1 && len(p.Stmts) == 1 {
			w.in = w.printed(sc, p.Stmts[0])
		}
	case syntax.DplIn:
	default:
		for _, to := range w.fields(sc, r.Word) {
			if r.Op != syntax.DplOut || to.text != "-" && !isNumber(to.text) {
				w.effect(sc, Effect{Op: r.Op.String() + " " + short(to)}, to)
			}
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

// assign sets variables. What is no assignment, as behind export, is only expanded.
func (w *walker) assign(sc *scope, list []*syntax.Assign) {
	for _, a := range list {
		switch {
		case a.Name == nil:
			w.fields(sc, a.Value)
			continue
		case a.Naked:
			continue
		}
		var values []value
		if a.Array != nil {
			for _, e := range a.Array.Elems {
				values = append(values, w.fields(sc, e.Value)...)
			}
		} else {
			values = []value{w.joined(sc, a.Value)}
		}
		old := sc.vars[a.Name.Value]
		switch {
		case a.Append && a.Array == nil && len(old) == 1:
			values = []value{old[0].plus(values[0])}
		case a.Append:
			values = append(old[:len(old):len(old)], values...)
		}
		sc.vars[a.Name.Value] = values
	}
}

// call follows a simple command. Assignments before it hold for it alone.
func (w *walker) call(sc *scope, c *syntax.CallExpr) {
	args := w.words(sc, c.Args)
	if len(args) == 0 || len(c.Assigns) == 0 {
		w.assign(sc, c.Assigns)
		w.run(sc, args)
		return
	}
	old := map[string][]value{}
	for _, a := range c.Assigns {
		old[a.Name.Value] = sc.vars[a.Name.Value]
	}
	w.assign(sc, c.Assigns)
	w.run(sc, args)
	for name, values := range old {
		if sc.vars[name] = values; values == nil {
			delete(sc.vars, name)
		}
	}
}
