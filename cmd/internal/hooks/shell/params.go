package shell

import (
	"path"
	"strings"
)

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
	case name == foundVar:
		return []value{found}, true
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
func (w *walker) param(sc *scope, p part) (values []value, list bool) {
	values, known := w.variable(sc, p.text)
	if list = p.all || p.text == "@" || p.text == "*"; !list && len(values) > 1 {
		values = values[:1]
	}
	arg := func(i int) string { return w.joined(sc, p.args[i]).text }
	switch op := p.op; op {
	case "length":
		return []value{{text: "0"}}, false
	case ":-", "-", ":=", "=":
		if !known {
			return []value{w.joined(sc, p.args[0])}, false
		}
	case ":+", "+":
		if !known {
			return nil, false
		}
		return []value{w.joined(sc, p.args[0])}, false
	case "#", "##", "%", "%%":
		values = mapped(values, func(s string) string {
			w.spend(len(s) * len(s) >> 10)
			return trim(op, s, arg(0))
		})
	case "/", "//":
		values = mapped(values, func(s string) string {
			with, n := "", 1
			if len(p.args) > 1 {
				with = arg(1)
			}
			if op == "//" {
				n = -1
			}
			w.spend(strings.Count(s, arg(0)) * len(with) >> 10)
			return strings.Replace(s, arg(0), with, n)
		})
	case ":", "other":
		known = known && list && op == ":"
	}
	if !known {
		return []value{{open: true}}, false
	}
	return values, list
}

// mapped applies f to the values that are known.
func mapped(values []value, f func(string) string) (all []value) {
	for _, v := range values {
		if v.rest = ""; !v.open {
			v.text = f(v.text)
		}
		all = append(all, v)
	}
	return all
}

// trim removes the beginning or the end of s that matches a pattern.
func trim(op, s, pattern string) string {
	flat := strings.NewReplacer("/", "\x00")
	matches := func(part string) bool {
		ok, err := path.Match(flat.Replace(pattern), flat.Replace(part))
		return ok && err == nil
	}
	for i := range len(s) + 1 {
		at := i
		if op == "%" || op == "##" {
			at = len(s) - i
		}
		if op[0] == '#' {
			if matches(s[:at]) {
				return s[at:]
			}
		} else if matches(s[at:]) {
			return s[:at]
		}
	}
	return s
}
