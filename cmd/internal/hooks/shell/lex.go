package shell

import "strings"

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return !isDigit(c) && strings.IndexByte(letters, c) >= 0 }

// word parses a word up to one of the characters in stop, nil if it begins with one.
func (p *parser) word(stop string) word {
	start := p.i
	w := p.parts(stop, false)
	if p.i == start {
		return nil
	}
	return w
}

// parts parses the parts of a word. In a quotation, only what begins with a dollar sign or a
// backtick is more than its text.
func (p *parser) parts(stop string, inQuotes bool) (w word) {
	defer p.enter()()
	start := p.i // of the literal before the next part
	flush := func(end int) {
		if end > start {
			w = append(w, part{kind: literal, text: p.s[start:end]})
		}
	}
	add := func(t part, from int) {
		flush(from)
		w, start = append(w, t), p.i
	}
	for p.i < len(p.s) {
		c, from := p.s[p.i], p.i
		rest := p.s[p.i+1:]
		switch {
		case c == '\\':
			p.i = min(p.i+2, len(p.s))
		case (c == '<' || c == '>') && !inQuotes && strings.HasPrefix(rest, "(") && strings.IndexByte(stop, ' ') >= 0:
			p.i += 2
			list, _ := p.list(")")
			add(part{kind: process, list: list}, from)
		case strings.IndexByte(stop, c) >= 0:
			flush(from)
			return w
		case c == '$':
			p.i++
			if t, ok := p.dollar(inQuotes); ok {
				add(t, from)
			}
		case c == '`':
			p.i++
			add(part{kind: substitution, list: p.backticks()}, from)
		case inQuotes:
			p.i++
		case c == '"':
			p.i++
			inner := p.parts(`"`, true)
			p.expect(`"`)
			add(part{kind: double, args: []word{inner}}, from)
		case c == '\'':
			p.i++
			add(part{kind: single, text: p.until('\'')}, from)
		case strings.IndexByte("?*+@!", c) >= 0 && strings.HasPrefix(rest, "(") && strings.IndexByte(stop, '(') >= 0:
			p.i++
			p.parens()
			add(part{kind: pattern}, from)
		case c == '{':
			if alternatives := p.braces(stop); alternatives != nil {
				add(part{kind: braces, args: alternatives}, from)
			} else {
				p.i = from + 1
			}
		default:
			p.i++
		}
	}
	flush(len(p.s))
	return w
}

// until returns the text up to c, and goes behind it.
func (p *parser) until(c byte) string {
	start := p.i
	end := strings.IndexByte(p.s[p.i:], c)
	if end < 0 {
		p.fail()
		return p.s[start:]
	}
	p.i += end + 1
	return p.s[start : p.i-1]
}

// parens skips what stands in parentheses.
func (p *parser) parens() {
	for depth := 0; p.i < len(p.s); {
		switch c := p.s[p.i]; c {
		case '(':
			depth++
		case ')':
			depth--
		case '\\':
			p.i++
		case '\'', '"':
			p.i++
			p.until(c)
			continue
		}
		if p.i++; depth == 0 {
			return
		}
	}
	p.fail()
}

// dollar parses what begins with a dollar sign, which is taken. A dollar sign alone is none.
func (p *parser) dollar(inQuotes bool) (part, bool) {
	switch {
	case p.at("(("):
		if w, ok := p.arithmetic("((", "))"); ok {
			return part{kind: number, args: []word{w}}, true
		}
		fallthrough
	case p.at("("):
		p.i++
		list, _ := p.list(")")
		return part{kind: substitution, list: list}, true
	case p.take("{"):
		return p.parameter(), true
	case !inQuotes && p.take("'"):
		from := p.i
		for p.i < len(p.s) && p.s[p.i] != '\'' {
			if p.s[p.i] == '\\' {
				p.i++
			}
			p.i++
		}
		p.i = min(p.i, len(p.s))
		text := p.s[from:p.i]
		p.expect("'")
		return part{kind: single, text: ansi(text)}, true
	}
	name := p.name()
	return part{kind: param, text: name}, name != ""
}

// ansi replaces the escapes of a $'…' text.
func ansi(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\'`, "'", `\"`, `"`, `\\`, `\`).Replace(s)
}

// name takes the name of a parameter.
func (p *parser) name() string {
	from := p.i
	for p.i < len(p.s) && (isLetter(p.s[p.i]) || p.i > from && isDigit(p.s[p.i])) {
		p.i++
	}
	if p.i == from && p.i < len(p.s) && (isDigit(p.s[p.i]) || strings.IndexByte("@*#?$!-", p.s[p.i]) >= 0) {
		p.i++
	}
	return p.s[from:p.i]
}

// operators are what may be done to the value of a parameter, longer ones first.
var operators = []string{":-", ":=", ":+", ":?", "-", "=", "+", "?", "##", "#", "%%", "%", "//", "/", ":"}

// parameter parses ${…} behind its brace. The operator "other" is one of which the result is not
// known.
func (p *parser) parameter() part {
	t := part{kind: param}
	prefix := (p.at("#") || p.at("!")) && !strings.HasPrefix(p.s[p.i+1:], "}")
	if prefix {
		p.i++
	}
	t.text = p.name()
	if p.take("[") {
		if index := p.parts("]", false); index.literal() == "@" || index.literal() == "*" {
			t.all = true
		}
		p.expect("]")
	}
	for _, op := range operators {
		if p.take(op) {
			t.op = op
			stop := "}"
			if op[0] == '/' {
				stop = "/}"
			}
			if t.args = []word{p.parts(stop, false)}; op[0] == '/' && p.take("/") {
				t.args = append(t.args, p.parts("}", false))
			}
			break
		}
	}
	if prefix || !p.at("}") {
		p.parts("}", false)
		t.op = "other"
	}
	p.expect("}")
	return t
}

// backticks parses a command up to the next backtick. One in it has a backslash.
func (p *parser) backticks() []*node {
	var text strings.Builder
	for p.i < len(p.s) && p.s[p.i] != '`' {
		if p.s[p.i] == '\\' && p.i+1 < len(p.s) && strings.IndexByte("`\\$", p.s[p.i+1]) >= 0 {
			p.i++
		}
		text.WriteByte(p.s[p.i])
		p.i++
	}
	p.expect("`")
	inner := &parser{s: text.String(), depth: p.depth}
	list, _ := inner.list()
	p.broken = p.broken || inner.broken
	return list
}

// arithmetic parses an expression between begin and end, and returns the substitutions in it.
// It takes nothing if there is no such end.
func (p *parser) arithmetic(begin, end string) (w word, ok bool) {
	depth, from := 0, p.i+len(begin)
	for i := from; i < len(p.s); i++ {
		switch p.s[i] {
		case begin[0]:
			depth++
		case end[0]:
			if depth--; depth >= 0 {
				continue
			}
			if ok = strings.HasPrefix(p.s[i:], end); ok {
				inner := &parser{s: p.s[from:i], depth: p.depth}
				w, p.i = inner.parts("", true), i+len(end)
			}
			return w, ok
		}
	}
	if p.scanned += len(p.s) - from; p.scanned > 1<<20 {
		p.fail()
	}
	return nil, false
}

// braces parses {a,b} or {1..3}, nil if that is none. After too many that are none, none is
// looked for any more.
func (p *parser) braces(stop string) (all []word) {
	if p.noBraces > 50 || strings.IndexByte(stop, ' ') < 0 {
		return nil
	}
	for p.i++; ; p.i++ {
		all = append(all, p.parts(metas+",}", false))
		if !p.at(",") {
			break
		}
	}
	from, _, isRange := strings.Cut(all[0].literal(), "..")
	switch {
	case p.take("}") && len(all) > 1:
		return all
	case isRange && p.s[p.i-1] == '}': // they differ in a number or a letter
		return []word{{{kind: literal, text: from}}}
	}
	p.noBraces++
	return nil
}
