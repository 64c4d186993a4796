package shell

import (
	"path"
	"slices"
	"strings"
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
func (w *walker) fields(sc *scope, word word) []value {
	var all []value
	for _, parts := range alternatives(word, maxWords) {
		w.spend(len(parts))
		e := expander{w: w, sc: sc}
		e.parts(parts, false)
		e.next()
		all = append(all, e.fields...)
	}
	w.spend(len(all))
	return all
}

func (w *walker) words(sc *scope, words []word) (all []value) {
	for _, word := range words {
		all = append(all, w.fields(sc, word)...)
	}
	return all
}

// joined returns a word that is not split, as in an assignment.
func (w *walker) joined(sc *scope, parts word) value {
	e := expander{w: w, sc: sc, whole: true}
	e.parts(parts, false)
	return e.current
}

// alternatives expands {a,b}, into at most limit words.
func alternatives(parts word, limit int) (all []word) {
	i := slices.IndexFunc(parts, func(p part) bool { return p.kind == braces })
	if i < 0 {
		return []word{parts}
	}
	for _, alternative := range parts[i].args[:min(limit, len(parts[i].args))] {
		all = append(all, alternatives(slices.Concat(parts[:i], alternative, parts[i+1:]), limit/len(parts[i].args))...)
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
	e.w.copied += len(e.current.text) + len(v.text)
	e.w.spend(len(e.current.rest) / 1000)
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

func (e *expander) parts(parts word, quotes bool) {
	e.w.spend(len(parts))
	for i, p := range parts {
		switch p.kind {
		case literal:
			e.literal(p.text, i == 0 && !e.begun, quotes)
		case single:
			e.add(value{text: p.text})
		case double:
			e.begun = true
			e.parts(p.args[0], true)
		case param:
			values, list := e.w.param(e.sc, p)
			e.expansion(values, list, quotes)
		case substitution:
			e.w.list(e.sc.clone(), p.list)
			e.expansion(e.w.output(e.sc, p.list), false, quotes)
		case number:
			e.w.joined(e.sc, p.args[0])
			e.add(value{text: "0"})
		case process:
			e.w.list(e.sc.clone(), p.list)
			e.add(value{text: "/dev/fd/63"})
		default: // a pattern, whose name is as good as any
			e.add(value{text: "x"})
		}
	}
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
		default:
			b.WriteByte(c)
		}
	}
	e.add(value{text: b.String()})
}
