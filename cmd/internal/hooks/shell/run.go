package shell

import (
	"path"
	"slices"
	"strings"
)

// A call is one simple command.
type call struct {
	w    *walker
	sc   *scope
	name string
	args []value
	options
	// Of git: its index and branches are not those of the working tree; its index is a file of its own.
	elsewhere, private bool
}

// options are arguments, taken apart.
type options struct {
	flags  []string // as "-x" or "--long", and also as they were written
	values []option
	words  []value
}

type option struct {
	flag  string
	value value
}

// parse takes args apart. valued are the flags that have a value. If prefix is true, the
// first word ends the flags: it and everything behind it are the words.
func parse(args []value, valued []string, prefix bool) (o options) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		s := a.text
		switch {
		case s == "--":
			o.words = append(o.words, args[i+1:]...)
			return o
		case len(s) < 2 || s[0] != '-':
			if prefix {
				o.words = append(o.words, args[i:]...)
				return o
			}
			o.words = append(o.words, a)
			continue
		}
		next := func(flag string) {
			if i+1 < len(args) {
				i++
				o.values = append(o.values, option{flag, args[i]})
			}
		}
		o.flags = append(o.flags, s)
		if flag, v, ok := strings.Cut(s, "="); ok && (s[1] == '-' || slices.Contains(valued, flag) && len(flag) > 2) {
			o.flags = append(o.flags, flag)
			o.values = append(o.values, option{flag, value{text: v, open: a.open, names: a.names}})
			continue
		}
		if slices.Contains(valued, s) {
			next(s)
			continue
		}
		for j := 1; j < len(s) && s[1] != '-'; j++ {
			flag := "-" + s[j:j+1]
			o.flags = append(o.flags, flag)
			if !slices.Contains(valued, flag) {
				continue
			}
			if j+1 == len(s) {
				next(flag)
			} else {
				o.values = append(o.values, option{flag, value{text: s[j+1:], open: a.open, names: a.names}})
			}
			break
		}
	}
	return o
}

func (o options) has(flags ...string) bool {
	return slices.ContainsFunc(flags, func(f string) bool { return slices.Contains(o.flags, f) })
}

// value returns the value of the last of those flags.
func (o options) value(flags ...string) (v value, ok bool) {
	for _, have := range o.values {
		if slices.Contains(flags, have.flag) {
			v, ok = have.value, true
		}
	}
	return v, ok
}

// first returns the first argument, "" if there is none.
func (c *call) first() string {
	if len(c.args) > 0 {
		return c.args[0].text
	}
	return ""
}

func (c *call) effect(e Effect, targets ...value) { c.w.effect(c.sc, e, targets...) }

// again runs words as a command.
func (c *call) again(words []value) {
	if len(words) > 0 {
		c.w.run(c.sc, words)
	}
}

// text runs words as the text of a command.
func (c *call) text(sc *scope, words ...value) {
	var all []string
	for _, v := range words {
		all = append(all, v.source())
	}
	c.w.script(sc, strings.Join(all, " "))
}

// run follows a simple command.
func (w *walker) run(sc *scope, args []value) {
	if len(args) == 0 || args[0].text == "" && !args[0].open {
		return
	}
	defer w.deeper()()
	name := args[0]
	if name.open {
		w.unknown("a program whose name is not known")
		return
	}
	if text, ok := sc.aliases[name.text]; ok {
		delete(sc.aliases, name.text) // it may contain itself
		w.script(sc, text+" "+shellWords(args[1:]))
		sc.aliases[name.text] = text
		return
	}
	if body, ok := sc.funcs[name.text]; ok {
		outer := sc.args
		sc.args = args[1:]
		delete(sc.funcs, name.text)
		w.stmt(sc, body)
		sc.funcs[name.text], sc.args = body, outer
		return
	}
	base, ok := w.program(name.text)
	if !ok {
		w.unknown(path.Base(base))
		return
	}
	if strings.Contains(base, " ") { // a quoted text is no program and its subcommand
		w.unknown(base)
		return
	}
	c := &call{w: w, sc: sc, name: base, args: args[1:]}
	if !c.special() && !c.byTable() {
		w.unknown(base)
	}
}

// program returns the name of a program without its directory and version, and whether it
// may be in the table: a program of the project is not, whatever its name is.
func (w *walker) program(name string) (string, bool) {
	name = strings.TrimSuffix(name, ".exe")
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	dir, base := path.Split(name)
	if dir == "" || dir[0] == '@' || slices.Contains([]string{"gradlew", "mvnw", "manage.py"}, base) || w.installed(dir, base) { // @ begins the scope of a package
		return base, true
	}
	return name, false
}

// installed reports whether a directory has the programs of the system or of a package, and
// not scripts of the project, which may have the name of another program.
func (w *walker) installed(dir, base string) bool {
	dir = path.Clean(dir)
	switch parent := path.Base(path.Dir(dir)); path.Base(dir) {
	case ".bin":
		return parent == "node_modules"
	case "bin", "sbin", "Scripts", "gnubin":
		return slices.Contains([]string{"vendor", "venv", ".venv"}, parent) ||
			slices.Contains([]string{"rails", "rake", "console", "rspec", "rubocop", "bundle"}, base) ||
			isAbs(dir) && !w.inProject(dir)
	}
	return false
}

// inProject reports whether dir is in the repository in which the command starts. Homebrew's is another one.
func (w *walker) inProject(dir string) bool {
	return w.env.Top != nil && w.env.Top(dir) != "" && w.env.Top(dir) == w.env.Top(w.env.Dir)
}

// shellWords returns words as the text of a command.
func shellWords(args []value) string {
	var all []string
	for _, a := range args {
		if s := a.source(); a.open {
			all = append(all, `"`+s+`"`)
		} else {
			all = append(all, "'"+strings.ReplaceAll(s, "'", `'\''`)+"'")
		}
	}
	return strings.Join(all, " ")
}
