package shell

import "strings"

// A node is a command of a script.
type node struct {
	kind   nodeKind
	words  []word   // of a command; the items of a loop, nil for the parameters; the subject of a case
	sets   []assign // the assignments before a command
	redirs []redir
	name   string    // of a function, or the variable of a loop
	lists  [][]*node // what it consists of
}

type nodeKind int

const (
	simple   nodeKind = iota // words
	declares                 // as simple, of export and the like: the assignments stay
	expands                  // a test or arithmetic: only the substitutions in its words count
	both                     // its lists, one after the other
	either                   // a || b
	pipes                    // a | b
	subshell                 // a list in a shell of its own
	choice                   // conditions and branches in turn, at the end perhaps an else
	cases                    // branches
	each                     // a body for each of the words
	function                 // its body
)

// A word is what the shell expands to one field or more.
type word []part

type part struct {
	kind partKind
	text string  // of a literal or a quotation; the name of a parameter
	op   string  // of a parameter: what is done to its value
	all  bool    // of a parameter: ${x[@]}
	args []word  // of a parameter's operator; what stands in "…"; the words of {a,b}
	list []*node // of a substitution
}

type partKind int

const (
	literal      partKind = iota // with its backslashes
	single                       // '…'
	double                       // "…"
	param                        // $x
	substitution                 // $(…)
	number                       // $((…))
	process                      // <(…)
	pattern                      // @(a|b)
	braces                       // {a,b}
)

type assign struct {
	name     string
	value    word
	elements []word // of an array
	array    bool
	adds     bool // += or an index
}

type redir struct {
	op   string
	to   word
	text word // of a here-document
}

// literal returns the word if nothing in it is expanded, else "".
func (w word) literal() (s string) {
	for _, p := range w {
		if p.kind != literal {
			return ""
		}
		s += p.text
	}
	return s
}

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
		kind := both
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

func (p *parser) simple() *node {
	n := &node{}
	for {
		p.space()
		if p.redirect(n) {
			continue
		}
		if (len(n.words) == 0 || n.kind == declares) && p.assignment(n) {
			continue
		}
		w := p.word(metas)
		if w == nil {
			break
		}
		if len(n.words) == 0 {
			name := w.literal()
			if strings.Contains(" then else elif fi do done esac } ", " "+name+" ") && name != "" && len(n.sets) == 0 {
				return nil
			}
			if strings.Contains(" declare export local readonly typeset nameref ", " "+name+" ") && name != "" {
				n.kind = declares
			}
			if mark := p.i; name != "" && len(n.sets) == 0 {
				if p.space(); p.take("(") {
					if p.space(); p.take(")") {
						return p.function(name)
					}
				}
				p.i = mark
			}
		}
		n.words = append(n.words, w)
	}
	if len(n.words)+len(n.sets)+len(n.redirs) == 0 {
		return nil
	}
	return n
}

// assignment parses name=value, name+=value, name[index]=value or name=(values).
func (p *parser) assignment(n *node) bool {
	a, i := assign{}, p.i
	for i < len(p.s) && (isLetter(p.s[i]) || i > p.i && isDigit(p.s[i])) {
		i++
	}
	if a.name = p.s[p.i:i]; a.name == "" {
		return false
	}
	if i < len(p.s) && p.s[i] == '[' {
		end := strings.IndexAny(p.s[i:], "]\n")
		if end < 0 {
			return false
		}
		a.adds, i = true, i+end+1
	}
	if strings.HasPrefix(p.s[i:], "+") {
		a.adds, i = true, i+1
	}
	if !strings.HasPrefix(p.s[i:], "=") {
		return false
	}
	if p.i = i + 1; p.take("(") {
		a.array = true
		for p.lines(); !p.take(")"); p.lines() {
			w := p.word(metas)
			if w == nil {
				p.fail()
				break
			}
			a.elements = append(a.elements, w)
		}
	} else {
		a.value = p.word(metas)
	}
	n.sets = append(n.sets, a)
	return true
}

// redirect parses a redirection of n.
func (p *parser) redirect(n *node) bool {
	i := p.i
	for i < len(p.s) && isDigit(p.s[i]) {
		i++
	}
	if p.at("{") {
		if end := strings.IndexByte(p.s[i:], '}'); end > 1 && strings.Trim(p.s[i+1:i+end], letters) == "" {
			i += end + 1
		}
	}
	for _, op := range []string{"<<<", "<<-", "<<", "<&", "<>", "<", "&>>", "&>", ">>", ">|", ">&", ">"} {
		rest, ok := strings.CutPrefix(p.s[i:], op)
		if !ok || op[0] == '&' && i > p.i {
			continue
		}
		if len(op) == 1 && strings.HasPrefix(rest, "(") {
			return false
		}
		p.i = i + len(op)
		p.space()
		from := p.i
		r := redir{op: op, to: p.word(metas)}
		if r.to == nil {
			p.fail()
		}
		n.redirs = append(n.redirs, r)
		if op == "<<" || op == "<<-" {
			p.docs = append(p.docs, document{n, len(n.redirs) - 1, p.s[from:p.i]})
		}
		return true
	}
	return false
}

// documents reads the here-documents that begin here.
func (p *parser) documents() {
	docs := p.docs
	p.docs = nil
	for _, d := range docs {
		r := &d.n.redirs[d.redir]
		end := strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(d.end)
		var text strings.Builder
		for p.i < len(p.s) {
			line, _, _ := strings.Cut(p.s[p.i:], "\n")
			p.i = min(p.i+len(line)+1, len(p.s))
			if r.op == "<<-" {
				line = strings.TrimLeft(line, "\t")
			}
			if line == end {
				break
			}
			text.WriteString(line + "\n")
		}
		if r.text = (word{{kind: single, text: text.String()}}); end == d.end {
			inner := &parser{s: text.String(), depth: p.depth}
			r.text = inner.parts("", true)
			p.broken = p.broken || inner.broken
		}
	}
}
