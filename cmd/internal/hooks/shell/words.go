package shell

import (
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A value is what is known of a word.
type value struct {
	text  string // all of it, or if it is open how it begins
	open  bool   // something follows that is not known
	names bool   // what follows is the name of a file that a command has found
	rest  string // of an open value: the word as shell source, with made-up variables for what is not known
}

// plus returns the concatenation of two values.
func (v value) plus(next value) value {
	switch {
	case v.open:
		v.rest += next.all()
		return v
	case next.open:
		return value{v.text + next.text, true, next.names, v.text + next.rest}
	}
	return value{text: v.text + next.text}
}

func (v value) all() string {
	if v.open {
		return v.rest
	}
	return v.text
}

// source returns the value as a text that a shell may parse: what is not known are
// variables of sc.
func (v value) source(sc *scope, w *walker) string {
	if v.open && v.rest == "" {
		return w.named(sc, v).rest
	}
	return v.all()
}

// named returns v, open, with a new variable in its rest that has its value.
func (w *walker) named(sc *scope, v value) value {
	w.fresh++
	name := "tt_" + strconv.Itoa(w.fresh)
	v.rest = ""
	sc.vars[name] = []value{v}
	v.rest = "${" + name + "}"
	return v
}

// common returns what is known of a variable that has one of two values.
func common(a, b []value) []value {
	if len(a) != 1 || len(b) != 1 {
		return append(append([]value(nil), a...), b...)
	}
	x, y := a[0], b[0]
	if !x.open && !y.open && x.text == y.text {
		return a
	}
	n := 0
	for n < len(x.text) && n < len(y.text) && x.text[n] == y.text[n] {
		n++
	}
	known := func(v value) bool { return !v.open || v.names || v.text != "" }
	relative := !isAbs(x.text) && !isAbs(y.text) && known(x) && known(y)
	return []value{{text: x.text[:n], open: true, names: relative}}
}

func isAbs(s string) bool {
	return strings.HasPrefix(s, "/") || len(s) > 2 && s[1] == ':' && (s[2] == '/' || s[2] == '\\')
}

// locate returns the absolute path that v names; the directory where only the beginning
// of it is known. It reports whether anything is known.
func (w *walker) locate(sc *scope, v value) (string, bool) {
	s := v.text
	if v.open {
		i := strings.LastIndexByte(s, '/')
		switch {
		case i >= 0:
			s = s[:i+1]
		case s == "" && !v.names:
			return "", false
		default:
			s = "."
		}
	}
	switch {
	case s == "":
		return "", false
	case isAbs(s):
		return path.Clean(s), true
	case sc.dir == "":
		return "", false
	}
	return path.Join(sc.dir, s), true
}

// fields returns the words that a word becomes when the shell expands it.
func (w *walker) fields(sc *scope, word *syntax.Word) []value {
	if word == nil {
		return nil
	}
	if len(word.Parts) < maxWords && strings.Count(word.Lit(), "{") < 8 {
		syntax.SplitBraces(word)
	}
	var all []value
	for _, parts := range alternatives(word.Parts, maxWords) {
		e := expander{w: w, sc: sc}
		e.parts(parts, false)
		all = append(all, e.done()...)
	}
	return all
}

// joined returns a word that is not split, as in an assignment.
func (w *walker) joined(sc *scope, parts []syntax.WordPart) value {
	e := expander{w: w, sc: sc, whole: true}
	e.parts(parts, false)
	return e.current
}

const (
	maxWords = 64   // of one that has braces
	maxParts = 1000 // of one word
)

// alternatives expands {a,b} and {1..3}, into at most limit words.
func alternatives(parts []syntax.WordPart, limit int) [][]syntax.WordPart {
	for i, p := range parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		elems := b.Elems
		if b.Sequence || limit < 2 {
			elems = elems[:1] // they differ in a number or a letter
		}
		var all [][]syntax.WordPart
		for _, elem := range elems {
			one := append(append(append([]syntax.WordPart(nil), parts[:i]...), elem.Parts...), parts[i+1:]...)
			if all = append(all, alternatives(one, limit/len(elems))...); len(all) >= limit {
				break
			}
		}
		return all
	}
	return [][]syntax.WordPart{parts}
}

// An expander makes the fields of one word.
type expander struct {
	w       *walker
	sc      *scope
	whole   bool // nothing splits it
	current value
	begun   bool
	fields  []value
}

func (e *expander) done() []value {
	if e.begun {
		e.fields = append(e.fields, e.current)
	}
	return e.fields
}

func (e *expander) add(v value) {
	if v.open && v.rest == "" {
		v = e.w.named(e.sc, v)
	}
	e.current, e.begun = e.current.plus(v), true
}

// next ends the current field.
func (e *expander) next() {
	if e.begun {
		e.fields = append(e.fields, e.current)
	}
	e.current, e.begun = value{}, false
}

// expansion adds the values of a variable or the output of a command.
func (e *expander) expansion(values []value, list, quoted bool) {
	if list && !e.whole {
		for i, v := range values {
			if i > 0 {
				e.next()
			}
			e.add(v)
		}
		return
	}
	for i, v := range values {
		switch {
		case quoted || e.whole || v.open:
			if i > 0 {
				e.add(value{text: " "})
			}
			e.add(v)
		default:
			for j, f := range strings.Fields(v.text) {
				if i+j > 0 {
					e.next()
				}
				e.add(value{text: f})
			}
		}
	}
}

func (e *expander) parts(parts []syntax.WordPart, quoted bool) {
	if len(parts) > maxParts {
		panic("too much to follow")
	}
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			e.literal(p.Value, i == 0 && !e.begun, quoted)
		case *syntax.SglQuoted:
			s := p.Value
			if p.Dollar {
				s = ansi(s)
			}
			e.add(value{text: s})
		case *syntax.DblQuoted:
			e.begun = true
			e.parts(p.Parts, true)
		case *syntax.ParamExp:
			values, list := e.w.param(e.sc, p)
			e.expansion(values, list, quoted)
		case *syntax.CmdSubst:
			e.w.stmts(e.sc.clone(), p.Stmts)
			e.expansion(e.w.output(e.sc, p.Stmts), false, quoted)
		case *syntax.ArithmExp:
			e.w.substitutions(e.sc, p)
			e.add(value{text: "0"})
		case *syntax.ProcSubst:
			e.w.stmts(e.sc.clone(), p.Stmts)
			e.add(value{text: "/dev/fd/63"})
		default: // a pattern, whose name is as good as any
			e.add(value{text: "x"})
		}
	}
}

// ansi replaces the escapes of a $'…' text.
func ansi(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\'`, "'", `\"`, `"`, `\\`, `\`).Replace(s)
}

// literal adds a text. The first name that matches a pattern stands for all.
func (e *expander) literal(s string, first, quoted bool) {
	if first && !quoted && strings.HasPrefix(s, "~") {
		switch user, _, _ := strings.Cut(s[1:], "/"); user {
		case "":
			e.add(value{text: e.w.env.Home})
			s = s[1:]
		default: // somebody else's home directory
			e.add(value{open: true})
		}
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0):
			i++
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case !quoted && !e.whole && (c == '*' || c == '?'):
			b.WriteByte('x')
		case !quoted && !e.whole && c == '[' && strings.IndexByte(s[i:], ']') > 1:
			b.WriteByte(strings.TrimLeft(s[i+1:], "!^")[0])
			i += strings.IndexByte(s[i:], ']')
		default:
			b.WriteByte(c)
		}
	}
	e.add(value{text: b.String()})
}

// numbers are variables whose values are no names of files.
const numbers = " $ PPID RANDOM SECONDS UID EUID USER LOGNAME HOSTNAME ? # ! BASHPID EPOCHSECONDS LINENO COLUMNS "

// variable returns the values of a variable, and whether it is known.
func (w *walker) variable(sc *scope, name string) ([]value, bool) {
	if values, ok := sc.vars[name]; ok {
		return values, true
	}
	one := func(s string) ([]value, bool) { return []value{{text: s}}, s != "" }
	switch {
	case name == "@" || name == "*":
		return sc.args, len(sc.args) > 0
	case len(name) == 1 && name[0] >= '1' && name[0] <= '9':
		if n := int(name[0] - '1'); n < len(sc.args) {
			return sc.args[n : n+1], true
		}
		return nil, false
	case name == "PWD":
		return one(sc.dir)
	case name == "OLDPWD":
		return one(sc.before)
	case name == "HOME":
		return one(w.env.Home)
	case strings.Contains(numbers, " "+name+" "):
		return one("0")
	}
	if w.env.Lookup != nil {
		if s := w.env.Lookup(name); s != "" {
			return one(s)
		}
	}
	if name == "TMPDIR" || name == "TMP" || name == "TEMP" {
		return one("/tmp")
	}
	return nil, false
}

// param returns what $NAME or ${NAME…} stands for, and whether each value is a word of its own.
func (w *walker) param(sc *scope, p *syntax.ParamExp) (values []value, list bool) {
	unknown := []value{{open: true}}
	if p.Param == nil || p.Excl {
		return unknown, false
	}
	if p.Length {
		return []value{{text: "0"}}, false
	}
	name := p.Param.Value
	values, known := w.variable(sc, name)
	list = name == "@" || name == "*"
	if p.Index != nil {
		if word, ok := p.Index.(*syntax.Word); ok && (word.Lit() == "@" || word.Lit() == "*") {
			list = true
		} else if known {
			values = common(values, values)[:1]
		}
	} else if !list && len(values) > 1 {
		values = values[:1]
	}
	if p.Exp != nil {
		switch op := p.Exp.Op; op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if !known {
				return []value{w.joined(sc, p.Exp.Word.Parts)}, false
			}
			return values, list
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			if !known {
				return nil, false
			}
			return []value{w.joined(sc, p.Exp.Word.Parts)}, false
		case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
			return w.mapped(values, known, func(s string) string { return trim(op, s, w.joined(sc, p.Exp.Word.Parts).text) }), list
		}
	}
	switch {
	case !known:
		return unknown, false
	case p.Repl != nil && p.Repl.Orig != nil:
		orig, with, n := w.joined(sc, p.Repl.Orig.Parts).text, "", 1
		if p.Repl.With != nil {
			with = w.joined(sc, p.Repl.With.Parts).text
		}
		if p.Repl.All {
			n = -1
		}
		return w.mapped(values, known, func(s string) string { return strings.Replace(s, orig, with, n) }), list
	case p.Slice != nil && !list:
		return unknown, false
	}
	return values, list
}

// mapped applies f to the values that are known.
func (w *walker) mapped(values []value, known bool, f func(string) string) []value {
	if !known {
		return []value{{open: true}}
	}
	var all []value
	for _, v := range values {
		if v.open {
			v.rest = ""
		} else {
			v.text = f(v.text)
		}
		all = append(all, v)
	}
	return all
}

// trim removes the beginning or the end of s that matches a pattern.
func trim(op syntax.ParExpOperator, s, pattern string) string {
	flat := strings.NewReplacer("/", "\x00")
	matches := func(part string) bool {
		ok, err := path.Match(flat.Replace(pattern), flat.Replace(part))
		return ok && err == nil
	}
	for i := range len(s) + 1 {
		at := i
		if op == syntax.RemSmallSuffix || op == syntax.RemLargePrefix {
			at = len(s) - i
		}
		if op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix {
			if matches(s[:at]) {
				return s[at:]
			}
		} else if matches(s[at:]) {
			return s[:at]
		}
	}
	return s
}
