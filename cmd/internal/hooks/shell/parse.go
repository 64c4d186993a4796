package shell

import "strings"

// A document is a here-document: one of the redirections of a node.
type document struct {
	n     *node
	redir int
	end   string // the line behind it, in quotes if nothing in it is expanded
}

// A parser parses a script of a Bourne shell.
type parser struct {
	s        string
	i        int
	docs     []document // that begin in the next line
	depth    int
	noBraces int  // how often an open brace was not that of {a,b}
	scanned  int  // how much was looked through for the end of an expression that has none
	broken   bool // something does not parse; what stands before it is parsed
}

func (p *parser) fail() { p.broken, p.i = true, len(p.s) }

func (p *parser) at(s string) bool { return strings.HasPrefix(p.s[p.i:], s) }

func (p *parser) take(s string) bool {
	ok := p.at(s)
	if ok {
		p.i += len(s)
	}
	return ok
}

func (p *parser) expect(s string) {
	if !p.take(s) {
		p.fail()
	}
}

// enter counts a level. The function that it returns leaves it.
func (p *parser) enter() func() {
	if p.depth++; p.depth > 4*maxDepth {
		p.fail()
	}
	return func() { p.depth-- }
}

const (
	blanks = " \t"
	metas  = " \t\n;&|()<>" // which end a word
)

// space skips blanks and comments.
func (p *parser) space() {
	for {
		for p.i < len(p.s) && (strings.IndexByte(blanks, p.s[p.i]) >= 0 || p.at("\\\n")) {
			if p.i++; p.s[p.i-1] == '\\' {
				p.i++
			}
		}
		if !p.at("#") || p.i > 0 && strings.IndexByte(metas, p.s[p.i-1]) < 0 {
			return
		}
		for p.i < len(p.s) && p.s[p.i] != '\n' {
			p.i++
		}
	}
}

// lines skips blanks, comments and ends of lines.
func (p *parser) lines() {
	for p.space(); p.take("\n"); p.space() {
		p.documents()
	}
}

// keyword takes a reserved word.
func (p *parser) keyword(s string) bool {
	if !p.at(s) || p.i+len(s) < len(p.s) && strings.IndexByte(metas, p.s[p.i+len(s)]) < 0 {
		return false
	}
	p.i += len(s)
	return true
}

// list parses commands up to one of ends, which it takes: a reserved word, or ")" or ";;". Without ends it
// parses all.
func (p *parser) list(ends ...string) (all []*node, end string) {
	for {
		p.lines()
		for _, end := range ends {
			if end == ")" || end[0] == ';' {
				if p.take(end) {
					return all, end
				}
			} else if p.keyword(end) {
				return all, end
			}
		}
		if p.i >= len(p.s) {
			p.broken = p.broken || len(ends) > 0
			return all, ""
		}
		n := p.andOr()
		if n == nil {
			p.fail()
			return all, ""
		}
		if p.space(); p.i < len(p.s) && !p.at(")") && !p.at("\n") && !p.at(";;") && !p.at(";&") && !p.take(";") && !p.take("&") {
			p.fail()
		}
		if p.broken { // nothing of it is run
			return all, ""
		}
		all = append(all, n)
	}
}

func (p *parser) andOr() *node {
	n := p.pipeline()
	for n != nil {
		kind := then
		if p.space(); p.take("||") {
			kind = either
		} else if !p.take("&&") {
			break
		}
		p.lines()
		next := p.pipeline()
		if next == nil {
			p.fail()
			break
		}
		n = &node{kind: kind, lists: [][]*node{{n}, {next}}}
	}
	return n
}

func (p *parser) pipeline() *node {
	for p.space(); p.keyword("!") || p.keyword("time"); p.space() {
		p.space()
		p.keyword("-p")
	}
	n := p.command()
	for n != nil {
		if p.space(); !p.at("|") || p.at("||") {
			break
		}
		p.i++
		p.take("&")
		p.lines()
		next := p.command()
		if next == nil {
			p.fail()
			break
		}
		n = &node{kind: pipes, lists: [][]*node{{n}, {next}}}
	}
	return n
}

func (p *parser) command() *node {
	defer p.enter()()
	p.space()
	n := p.compound()
	if n == nil {
		return p.simple()
	}
	for p.space(); p.redirect(n); p.space() {
	}
	return n
}

// compound parses a command that contains others, nil if there is none.
func (p *parser) compound() *node {
	n := &node{}
	lists := func(kind nodeKind, ends ...string) *node {
		n.kind = kind
		for _, end := range ends {
			list, _ := p.list(end)
			n.lists = append(n.lists, list)
		}
		return n
	}
	if p.at("((") {
		if w, ok := p.arithmetic("((", "))"); ok {
			return &node{kind: expands, words: []word{w}}
		}
	}
	switch {
	case p.take("("):
		return lists(subshell, ")")
	case p.keyword("{"):
		return lists(both, "}")
	case p.keyword("while"), p.keyword("until"):
		return lists(both, "do", "done")
	case p.keyword("if"):
		n.kind = choice
		end := "elif"
		for end == "elif" {
			cond, _ := p.list("then")
			var branch []*node
			branch, end = p.list("elif", "else", "fi")
			n.lists = append(n.lists, cond, branch)
		}
		if end == "else" {
			return lists(choice, "fi")
		}
		return n
	case p.keyword("for"), p.keyword("select"):
		return p.loop()
	case p.keyword("case"):
		return p.caseClause()
	case p.keyword("function"):
		p.space()
		n.name = p.word(metas).literal()
		if p.space(); p.take("(") {
			p.space()
			p.expect(")")
		}
		return p.function(n.name)
	case p.keyword("coproc"):
		n.kind, n.lists = subshell, [][]*node{{p.command()}}
		return n
	case p.keyword("[["):
		n.kind = expands
		for !p.keyword("]]") && p.i < len(p.s) {
			if w := p.word(metas); w != nil {
				n.words = append(n.words, w)
			} else if p.i < len(p.s) { // an operator
				p.i++
			}
		}
		return n
	}
	return nil
}

func (p *parser) function(name string) *node {
	p.lines()
	body := p.command()
	if body == nil {
		p.fail()
	}
	return &node{kind: function, name: name, lists: [][]*node{{body}}}
}

func (p *parser) loop() *node {
	n := &node{kind: each}
	p.space()
	if p.at("((") {
		w, ok := p.arithmetic("((", "))")
		if n = (&node{kind: both, lists: [][]*node{{{kind: expands, words: []word{w}}}}}); !ok {
			p.fail()
		}
	} else {
		n.name = p.word(metas).literal()
		if p.lines(); p.keyword("in") {
			n.words = []word{}
			for p.space(); ; p.space() {
				w := p.word(metas)
				if w == nil {
					break
				}
				n.words = append(n.words, w)
			}
		}
	}
	p.space()
	p.take(";")
	p.lines()
	end := "done"
	if p.keyword("{") {
		end = "}"
	} else if !p.keyword("do") {
		p.fail()
	}
	list, _ := p.list(end)
	n.lists = append(n.lists, list)
	return n
}

func (p *parser) caseClause() *node {
	n := &node{kind: cases}
	p.space()
	n.words = []word{p.word(metas)}
	p.lines()
	if !p.keyword("in") {
		p.fail()
	}
	for p.lines(); !p.keyword("esac"); p.lines() {
		for p.take("("); p.i < len(p.s) && !p.take(")"); p.space() { // patterns
			if p.word(metas) == nil && !p.at(")") {
				p.i++
			}
		}
		list, end := p.list(";;", ";&", "esac")
		n.lists = append(n.lists, list)
		if end == "esac" {
			return n
		}
		if p.take("&"); p.i >= len(p.s) {
			p.fail()
			break
		}
	}
	return n
}
