package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
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
func (w *walker) param(sc *scope, p *syntax.ParamExp) (values []value, list bool) {
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	values, known := w.variable(sc, name)
	index, _ := p.Index.(*syntax.Word)
	list = name == "@" || name == "*" || index != nil && (index.Lit() == "@" || index.Lit() == "*")
	if !list && len(values) > 1 {
		values = values[:1]
	}
	switch {
	case p.Excl, p.Length, p.Names != 0:
		known = false
	case p.Slice != nil:
		known = known && list
	case p.Repl != nil:
		values = cut(values, syntax.ParExpOperator(0), w.joined(sc, p.Repl.Orig).text)
	case p.Exp != nil:
		switch op := p.Exp.Op; op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if !known {
				return []value{w.joined(sc, p.Exp.Word)}, false
			}
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			if !known {
				return nil, false
			}
			return []value{w.joined(sc, p.Exp.Word)}, false
		case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
			values = cut(values, op, w.joined(sc, p.Exp.Word).text)
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		default:
			known = false
		}
	}
	if !known {
		return []value{{open: true}}, false
	}
	return values, list
}

// cut removes a text at the beginning or end of values, or replaces it if op is 0. But for a
// prefix, a suffix and the last name, their directory is what is known then.
func cut(values []value, op syntax.ParExpOperator, text string) []value {
	all := make([]value, len(values))
	for i, v := range values {
		if text == ".*" {
			text = path.Ext(v.text)
		}
		slash := strings.LastIndexByte(v.text, '/') + 1
		isPrefix := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
		switch {
		case op == syntax.RemSmallSuffix && !v.open && strings.HasSuffix(v.text, text):
			all[i].text = strings.TrimSuffix(v.text, text)
		case op == syntax.RemLargePrefix && text == "*/":
			all[i] = value{text: v.text[slash:], open: v.open, names: v.names}
		case isPrefix && strings.HasPrefix(v.text, text):
			all[i] = value{text: v.text[len(text):], open: v.open, names: v.names}
		case op == 0 && strings.Contains(v.text[:slash], text):
			all[i] = value{open: true}
		default:
			all[i] = value{text: v.text[:slash], open: true, names: !v.open || v.names}
		}
	}
	return all
}
