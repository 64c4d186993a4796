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
	switch op := p.op; op {
	case ":-", "-", ":=", "=":
		if !known {
			return []value{w.joined(sc, p.args[0])}, false
		}
	case ":+", "+":
		if !known {
			return nil, false
		}
		return []value{w.joined(sc, p.args[0])}, false
	case "#", "##", "%", "%%", "/", "//": // but for a prefix, a suffix and the last name, its directory is what is known then
		suffix, all := w.joined(sc, p.args[0]).text, make([]value, len(values))
		for i, v := range values {
			if suffix == ".*" {
				suffix = path.Ext(v.text)
			}
			slash := strings.LastIndexByte(v.text, '/') + 1
			switch {
			case op == "%" && !v.open && strings.HasSuffix(v.text, suffix):
				all[i].text = strings.TrimSuffix(v.text, suffix)
			case op == "##" && suffix == "*/":
				all[i] = value{text: v.text[slash:], open: v.open, names: v.names}
			case op[0] == '#' && strings.HasPrefix(v.text, suffix):
				all[i] = value{text: v.text[len(suffix):], open: v.open, names: v.names}
			case op[0] == '/' && strings.Contains(v.text[:slash], suffix):
				all[i] = value{open: true}
			default:
				all[i] = value{text: v.text[:slash], open: true, names: !v.open || v.names}
			}
		}
		values = all
	case ":", "other":
		known = known && list && op == ":"
	}
	if !known {
		return []value{{open: true}}, false
	}
	return values, list
}
