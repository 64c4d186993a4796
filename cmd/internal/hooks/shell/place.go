package shell

import (
	"strconv"
	"strings"
)

// receiver returns the expression that ends before the i-th token.
func (p *code) receiver(i int) []token {
	for end, depth := i, 0; i > max(0, end-maxTokens); {
		switch i--; p.tokens[i].kind {
		case ')', ']':
			depth++
			continue
		case '(', '[':
			depth--
		}
		if depth > 0 {
			continue
		}
		if i > 0 && p.tokens[i-1].kind == 'n' {
			if i--; p.tokens[i].text[0] == '.' {
				continue
			}
		}
		return p.tokens[i:end]
	}
	return nil
}

// builders are functions that make a path of their arguments.
const builders = " Path PurePath str join resolve abspath expanduser realpath normpath glob iglob rglob walk listdir sorted list readdir URL String open joinpath globSync readdirSync "

// place returns what an expression stands for, as far as its beginning tells.
func (p *code) place(expr []token, depth int) (v value, ok bool) {
	for i, t := range expr {
		rest := expr[i+1:]
		switch {
		case t.kind == '(' || t.kind == '[' || t.kind == '\n':
			continue
		case t.kind == 's':
			v, ok = value{text: t.text}, t.text != ""
			at := strings.IndexAny(t.text, "{$")
			switch inner := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(t.text, "#"), "$"), "{"); {
			case at < 0 || at > 0 && t.text[0] != '#' && !strings.ContainsAny(t.begin, "fF`"):
			case at > 0 && t.text[0] != '#':
				return value{text: t.text[:at], open: true, names: true}, true
			case depth > 5:
				return v, false
			case at == 0 && inner != "" && t.text == "$"+inner: // of Perl and PHP
				return p.place(tokens(t.text), depth+1)
			case at == 1 || t.text[0] == '$' || strings.ContainsAny(t.begin, "fF"):
				return p.place(tokens(inner), depth+1)
			}
		case t.kind != 'n' || depth > 5:
			return v, false
		default:
			dot := strings.LastIndexByte(t.text, '.')
			owner, last := t.text[:max(dot, 0)], t.text[dot+1:]
			first, _, _ := strings.Cut(t.text, ".")
			switch {
			case last == "argv" || last == "args" && owner == "Deno" || last == "ARGV":
				if v, ok = p.argument(last, rest); !ok {
					return v, false
				}
				rest = rest[min(3, len(rest)):]
			case last == "cwd" || last == "getcwd" || first == "__dirname" || first == "__file__":
				v, ok = here, true
			case t.text == "require" && len(rest) > 3 && rest[0].kind == '(':
				return p.place(rest[3:], depth)
			case owner == "tempfile" || last == "tmpdir" || last == "mkdtemp" || last == "mkdtempSync" || last == "gettempdir":
				return value{text: "/tmp/x"}, true
			default:
				if v, ok = p.named(first, depth); ok && first != t.text {
					v.text, v.open, v.names = v.text+"/", true, true
				}
				if !ok && len(rest) > 0 && rest[0].kind == '(' && strings.Contains(builders, " "+last+" ") {
					continue
				}
			}
		}
		for len(rest) > 0 && strings.IndexByte("()]\n", rest[0].kind) >= 0 {
			rest = rest[1:]
		}
		if len(rest) > 0 && ok && !v.open {
			if v.open, v.names = true, true; rest[0].kind != '+' {
				v.text += "/"
			}
		}
		return v, ok
	}
	return v, false
}

// argument returns an argument of the program, whose number follows.
func (p *code) argument(list string, index []token) (value, bool) {
	if len(index) < 2 || index[0].kind != '[' {
		return value{}, false
	}
	n, err := strconv.Atoi(index[1].text)
	if list == "argv" {
		n--
	}
	if err != nil || n < 0 || n >= len(p.args) {
		return value{}, false
	}
	return p.args[n], true
}

// named returns the value of a variable: what is assigned to it, or what it goes through.
func (p *code) named(name string, depth int) (value, bool) {
	p.c.w.spend(5 + len(p.tokens)/100)
	for i, t := range p.tokens {
		if t.kind != 'n' || t.text != name || i+2 >= len(p.tokens) {
			continue
		}
		ends := ""
		switch at := i + 1; {
		case i > 0 && p.tokens[i-1].text == "as":
			from := i - 1
			for from > 0 && p.tokens[from-1].text != "with" && p.tokens[from-1].kind != '\n' {
				from--
			}
			return p.place(p.tokens[from:i-1], depth+1)
		case p.tokens[at].kind == '=' && p.tokens[at+1].kind != '=' && p.tokens[at+1].kind != '>':
			ends = "\n;"
		default:
			for at+1 < len(p.tokens) && (p.tokens[at].kind == ',' && p.tokens[at+1].kind == 'n') {
				at += 2
			}
			if at+1 >= len(p.tokens) || p.tokens[at].text != "in" && p.tokens[at].text != "of" {
				continue
			}
			i, ends = at-1, "\n:"
		}
		rhs := p.tokens[i+2:]
		nested := 0
		for j, t := range rhs {
			if t.kind == '(' || t.kind == '[' {
				nested++
			} else if t.kind == ')' || t.kind == ']' {
				nested--
			}
			if nested < 0 || nested == 0 && strings.IndexByte(ends, t.kind) >= 0 {
				rhs = rhs[:j]
				break
			}
		}
		return p.place(rhs, depth+1)
	}
	return value{}, false
}
