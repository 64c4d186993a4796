package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A value is what is known of a word.
type value struct {
	text  string // all of it, or if it is open how it begins
	open  bool   // something follows that is not known
	names bool   // what follows is the name of a file that a command has found
	rest  string // of an open value that more than its beginning is known of: all of it as shell source, see [value.source]
}

// plus returns the concatenation of two values.
func (v value) plus(next value) value {
	if len(v.text)+len(v.rest)+len(next.text)+len(next.rest) > MaxCommand {
		panic("too much to follow")
	}
	switch {
	case v.open:
		v.rest = v.source() + next.source()
		return v
	case next.open:
		return value{v.text + next.text, true, next.names, v.text + next.source()}
	}
	return value{text: v.text + next.text}
}

// foundVar is a variable whose value is the name of some file.
const foundVar = "tt_found"

// source returns the value as a text that a shell may parse, with variables for what is not known.
func (v value) source() string {
	switch {
	case !v.open:
		return v.text
	case v.rest != "":
		return v.rest
	case v.names:
		return v.text + "${" + foundVar + "}"
	}
	return v.text + "${tt_unknown}"
}

// common returns what is known of a variable that has one of two values.
func common(a, b []value) []value {
	if len(a) != 1 || len(b) != 1 {
		all := slices.Concat(a, b)
		return all[:min(maxWords, len(all))]
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
	n := 0
	for _, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			n += strings.Count(l.Value, "{")
		}
	}
	if n > 0 && n <= maxBraces {
		syntax.SplitBraces(word)
	}
	var all []value
	for _, parts := range alternatives(word.Parts, maxWords) {
		w.spend(len(parts))
		e := expander{w: w, sc: sc}
		e.parts(parts, false)
		e.next()
		all = append(all, e.fields...)
	}
	w.spend(len(all))
	return all
}

func (w *walker) words(sc *scope, words []*syntax.Word) (all []value) {
	for _, word := range words {
		all = append(all, w.fields(sc, word)...)
	}
	return all
}

// joined returns a word that is not split, as in an assignment.
func (w *walker) joined(sc *scope, word *syntax.Word) value {
	e := expander{w: w, sc: sc, whole: true}
	if word != nil {
		e.parts(word.Parts, false)
	}
	return e.current
}

// alternatives expands {a,b} and {1..3}, into at most limit words. What a sequence has differs in a
// number or a letter: the first stands for all.
func alternatives(parts []syntax.WordPart, limit int) (all [][]syntax.WordPart) {
	i := slices.IndexFunc(parts, func(p syntax.WordPart) bool { _, ok := p.(*syntax.BraceExp); return ok })
	if i < 0 {
		return [][]syntax.WordPart{parts}
	}
	b := parts[i].(*syntax.BraceExp)
	most := min(limit, len(b.Elems))
	if b.Sequence {
		most = 1
	}
	for _, word := range b.Elems[:most] {
		all = append(all, alternatives(slices.Concat(parts[:i], word.Parts, parts[i+1:]), limit/len(b.Elems))...)
	}
	return all
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

func (e *expander) add(v value) {
	e.w.spend((len(e.current.text) + len(v.text) + len(e.current.rest)) / 300) // to copy them
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

func (e *expander) parts(parts []syntax.WordPart, quotes bool) {
	e.w.spend(len(parts))
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			e.literal(p.Value, i == 0 && !e.begun, quotes)
		case *syntax.SglQuoted:
			if p.Dollar {
				e.add(value{text: ansi.Replace(p.Value)})
			} else {
				e.add(value{text: p.Value})
			}
		case *syntax.DblQuoted:
			e.begun = true
			e.parts(p.Parts, true)
		case *syntax.ParamExp:
			values, list := e.w.param(e.sc, p)
			e.expansion(values, list, quotes)
		case *syntax.CmdSubst:
			e.w.list(e.sc.clone(), p.Stmts)
			e.expansion(e.w.output(e.sc, p.Stmts), false, quotes)
		case *syntax.ArithmExp:
			e.w.inside(e.sc, p.X)
			e.add(value{text: "0"})
		case *syntax.ProcSubst:
			e.w.list(e.sc.clone(), p.Stmts)
			e.add(value{text: "/dev/fd/63"})
		default: // a pattern, whose name is as good as any
			e.add(value{text: "x"})
		}
	}
}

// ansi replaces the escapes of a $'…' text.
var ansi = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\'`, "'", `\"`, `"`, `\\`, `\`)

// document adds a here-document: its text as it is if the word that ends it has quotes.
func (e *expander) document(r *syntax.Redirect) {
	if r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`) {
		e.add(value{text: r.Hdoc.Lit()})
		return
	}
	e.parts(r.Hdoc.Parts, true)
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
		case !quoted && !e.whole && strings.HasPrefix(s[i:], "**"):
			i++
			b.WriteString(anyShown)
		case !quoted && !e.whole && c == '*':
			b.WriteString(anyName)
		case !quoted && !e.whole && c == '?':
			b.WriteString(anyLetter)
		default:
			b.WriteByte(c)
		}
	}
	e.add(value{text: b.String()})
}
