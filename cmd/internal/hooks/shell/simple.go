package shell

import "strings"

// simple parses a command that contains no others, nil if there is none.
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

// assignment parses name=value, name+=value or name=(values).
func (p *parser) assignment(n *node) bool {
	a, i := assign{}, p.i
	for i < len(p.s) && (isLetter(p.s[i]) || i > p.i && isDigit(p.s[i])) {
		i++
	}
	if a.name = p.s[p.i:i]; a.name == "" {
		return false
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
