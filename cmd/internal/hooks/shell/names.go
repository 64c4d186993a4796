package shell

import (
	"path"
	"slices"
	"strings"
)

// listers are programs that print names of files, or lines that are names if their input
// is. Of those of git, its subcommands.
const (
	listers    = " find gfind fd fdfind ls eza grep egrep fgrep rg ag ack cat head tail sed awk cut sort uniq comm tr xargs tac rev jq shuf column tee perl du file stat "
	gitListers = " ls-files diff diff-tree diff-index ls-tree grep status show log "
)

// printed returns what is known of the output of a command.
func (w *walker) printed(sc *scope, n *node) input {
	switch n.kind {
	case both, either, subshell:
		if list := n.lists[len(n.lists)-1]; len(list) > 0 {
			return w.printed(sc, list[len(list)-1])
		}
	case pipes:
		first, next := w.printed(sc, n.lists[0][0]), n.lists[1][0]
		if len(next.words) > 0 {
			switch name := next.words[0].literal(); {
			case name == "sort" || name == "uniq" || name == "cat" || name == "tee": // the same lines
				return first
			case name == "xargs":
				return input{names: found}
			case first.known || first.names.text == "":
				return w.printed(sc, next)
			}
		}
		return input{names: first.names}
	case simple:
		return w.printedBy(sc, n)
	}
	return input{names: value{open: true}}
}

// printedBy is printed for a simple command. It evaluates the words once more, without
// following what is in them.
func (w *walker) printedBy(sc *scope, n *node) input {
	quiet := &walker{env: w.env, steps: w.steps, depth: w.depth, in: w.in}
	defer quiet.deeper()()
	own := sc.clone()
	for _, r := range n.redirs {
		quiet.redirect(own, r)
	}
	args := quiet.words(own, n.words)
	w.steps = max(w.steps, quiet.steps)
	if len(args) == 0 || args[0].open {
		return input{names: value{open: true}}
	}
	exactly := func(s string) input { return input{text: s, known: true} }
	for len(args) > 1 && (args[0].text == "command" || args[0].text == "builtin") {
		args = args[1:]
	}
	name, rest := path.Base(args[0].text), args[1:]
	o := parse(rest, nil, false)
	word := func(i int) (value, bool) {
		if i < len(o.words) {
			return o.words[i], true
		}
		return value{}, false
	}
	switch name {
	case "echo", "printf":
		return w.echoed(own, name, rest)
	case "cat", "tee":
		if len(o.words) == 0 || name == "tee" {
			return quiet.in
		}
	case "pwd":
		return exactly(sc.dir)
	case "mktemp":
		return exactly(temporary(rest))
	case "dirname", "basename":
		v, ok := word(0)
		switch {
		case !ok || v.open && name == "basename":
		case v.open:
			return input{names: v}
		case name == "dirname":
			return exactly(path.Dir(v.text))
		default:
			base := path.Base(v.text)
			if suffix, ok := word(1); ok {
				base = strings.TrimSuffix(base, suffix.text)
			}
			return exactly(base)
		}
	case "realpath", "readlink":
		if v, ok := word(len(o.words) - 1); ok && len(o.words) > 0 {
			return w.listed(own, v)
		}
	case "date", "whoami", "hostname", "nproc", "uname", "id", "uuidgen", "seq":
		return exactly("0")
	case "git":
		return w.printedByGit(own, rest)
	}
	if !strings.Contains(listers, " "+name+" ") {
		return input{names: value{open: true}}
	}
	switch name {
	case "find", "gfind", "ls", "eza", "fd", "fdfind", "grep", "egrep", "rg", "ag", "ack", "du", "stat":
		if names := foundBy(name, rest); len(names) > 0 {
			return w.listed(own, names...)
		}
	}
	if name != "cat" && len(o.words) == 0 || quiet.in.known {
		return quiet.in
	}
	return input{names: value{open: true, names: true}}
}

// listed is an output of names that begin with one of those.
func (w *walker) listed(sc *scope, names ...value) input {
	all := []value{names[0]}
	for _, v := range names[1:] {
		all = common(all, []value{v})
	}
	v := all[0]
	if !v.open {
		return input{text: v.text, known: true}
	}
	return input{names: value{text: v.text, open: true, names: v.names}}
}

func (w *walker) echoed(sc *scope, name string, words []value) input {
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") && len(words[0].text) < 4 {
		words = words[1:]
	}
	sep := " "
	if name == "printf" && len(words) > 1 && strings.Contains(words[0].text, "%s") {
		words, sep = words[1:], "\n"
	}
	if len(words) == 1 && words[0].open {
		return input{names: words[0]}
	}
	var all []string
	for _, v := range words {
		if v.open {
			return input{names: value{open: true, names: v.names}}
		}
		all = append(all, v.text)
	}
	return input{text: strings.ReplaceAll(strings.Join(all, sep), `\n`, "\n"), known: true}
}

func (w *walker) printedByGit(sc *scope, args []value) input {
	sub, rest, sc := subcommand(&call{w: w, sc: sc}, rule{"chdir=-C", "-c:"}, args)
	o := parse(rest, nil, false)
	switch {
	case sub == "rev-parse" && o.has("--show-toplevel"):
		top := sc.dir
		if w.env.Top != nil && sc.dir != "" {
			top = w.env.Top(sc.dir)
		}
		return input{text: top, known: top != "", names: value{open: true}}
	case sub == "rev-parse" && o.has("--git-dir", "--git-common-dir"):
		return input{text: ".git", known: true}
	case strings.Contains(gitListers, " "+sub+" "):
		v := value{open: true, names: true}
		if sc.dir != "" {
			v.text = strings.TrimSuffix(sc.dir, "/") + "/"
		}
		return input{names: v}
	}
	return input{names: value{open: true}}
}

// temporary is a name that mktemp makes.
func temporary(args []value) string {
	o := parse(args, []string{"-p", "--tmpdir", "--suffix"}, false)
	name := "tmp.x"
	if len(o.words) > 0 {
		name = o.words[0].text
	}
	switch dir, ok := o.value("-p", "--tmpdir"); {
	case ok:
		return path.Join(dir.text, name)
	case len(o.words) > 0 && !o.has("-t", "--tmpdir"):
		return name
	}
	return path.Join("/tmp", name)
}

// output returns what $(…) stands for.
func (w *walker) output(sc *scope, list []*node) []value {
	if len(list) == 0 {
		return nil
	}
	in := w.printed(sc, list[len(list)-1])
	if in.known {
		return []value{{text: strings.TrimRight(in.text, "\n")}}
	}
	v := in.names
	v.rest = ""
	return []value{v}
}

// foundBy returns the names that a program prints that looks for files, by its words: one
// for each place and pattern.
func foundBy(name string, args []value) []value {
	switch name {
	case "find", "gfind":
		return parseFind(args).names()
	case "ls", "eza", "du", "stat":
		var names []value
		places := parse(args, []string{"-I", "-w"}, false).words
		if len(places) == 0 {
			places = []value{{text: "./"}}
		}
		for _, v := range places {
			names = append(names, value{text: strings.TrimSuffix(v.text, "/") + "/", open: true, names: true})
			if len(path.Ext(v.text)) > 1 || slices.ContainsFunc(args, func(a value) bool { return strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "d") }) {
				names[len(names)-1] = v
			}
		}
		return names
	case "fd", "fdfind":
		o := parse(args, []string{"-e", "--extension", "-t", "--type", "-E", "--exclude", "-d", "--max-depth", "-c", "-S", "-j"}, true)
		base := "x"
		if ext, ok := o.value("-e", "--extension"); ok {
			base = "x." + ext.text
		}
		if len(o.words) < 2 {
			if base == "x" {
				return []value{{open: true, names: true}}
			}
			return []value{{text: base}}
		}
		var names []value
		for _, root := range o.words[1:] {
			names = append(names, value{text: path.Join(root.text, base), open: root.open, names: root.names})
		}
		return names
	}
	var names []value // the words of grep behind the pattern
	o := parse(args, []string{"-e", "-f", "-g", "-t", "-T", "-A", "-B", "-C", "-m", "--glob", "--type", "--include", "--exclude", "--exclude-dir", "--regexp"}, false)
	words := o.words
	if !o.has("-e", "-f", "--regexp", "--files") && len(words) > 0 {
		words = words[1:]
	}
	for _, v := range words {
		names = append(names, value{text: strings.TrimSuffix(v.text, "/") + "/", open: true, names: true})
	}
	return names
}

// xargs runs a command with names from its input.
func (c *call) xargs() {
	o := parse(c.args, []string{"-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E", "-J", "-R", "-S", "--max-args", "--max-procs", "--max-lines", "--delimiter", "--replace", "--arg-file"}, true)
	repl := ""
	if v, ok := o.value("-I", "-J", "--replace"); ok {
		repl = v.text
	} else if o.has("-i", "--replace") {
		repl = "{}"
	}
	names := c.w.in.words()
	if o.has("-a", "--arg-file") {
		names = []value{{open: true, names: true}}
	}
	c.each(o.words, repl, names)
}

// words is what is known of the words of the input.
func (in input) words() (words []value) {
	if !in.known {
		return []value{in.names}
	}
	for _, s := range strings.Fields(in.text) {
		if words = append(words, value{text: s}); len(words) == 24 {
			break
		}
	}
	return words
}

// each runs a command with names in the place of repl, or behind it if repl is "" or does not stand in it.
func (c *call) each(command []value, repl string, names []value) {
	if len(command) == 0 {
		return
	}
	if repl == "" || !slices.ContainsFunc(command, func(v value) bool { return strings.Contains(v.all(), repl) }) {
		c.w.run(c.sc.clone(), slices.Concat(command, names))
		return
	}
	for _, name := range names {
		sc := c.sc.clone()
		var words []value
		for _, v := range command {
			words = append(words, substitute(c.w, sc, v, repl, name))
		}
		c.w.run(sc, words)
	}
}

// substitute returns v with name in the place of repl.
func substitute(w *walker, sc *scope, v value, repl string, name value) value {
	before, after, ok := strings.Cut(v.all(), repl)
	if !ok {
		return v
	}
	if name.open && name.rest == "" {
		name = w.named(sc, name)
	}
	head := value{text: before}
	if v.open && len(before) > len(v.text) {
		head = value{text: v.text, open: true, names: v.names, rest: before}
	}
	return head.plus(name).plus(substitute(w, sc, value{text: after}, repl, name))
}

func (c *call) parallel() {
	o := parse(c.args, []string{"-j", "--jobs", "-n", "-N", "-a", "-I", "--colsep"}, true)
	words, names := o.words, c.w.in.words()
	for i, v := range words {
		if v.text == ":::" || v.text == "::::" {
			words, names = words[:i], words[i+1:]
			break
		}
	}
	if len(words) != 1 {
		c.each(words, "{}", names)
		return
	}
	for _, name := range names {
		sc := c.sc.clone()
		text := words[0]
		if !strings.Contains(text.all(), "{}") {
			text = text.plus(value{text: " {}"})
		}
		c.text(sc, substitute(c.w, sc, text, "{}", name))
	}
}

// A search is what find was asked for.
type search struct {
	roots    []value
	patterns []string
	actions  []value // and everything behind them
}

func parseFind(args []value) (s search) {
	i := 0
	for ; i < len(args); i++ {
		t := args[i].text
		if t == "(" || t == "!" || len(t) > 1 && t[0] == '-' {
			if t == "-L" || t == "-H" || t == "-P" || t == "-E" {
				continue
			}
			break
		}
		s.roots = append(s.roots, args[i])
	}
	if len(s.roots) == 0 {
		s.roots = []value{here}
	}
	s.actions = args[i:]
	not := false
	for j, a := range s.actions {
		switch a.text {
		case "!", "-not":
			not = true
			continue
		case "-name", "-iname", "-path", "-wholename", "-ipath":
			pruned := j+3 < len(s.actions) && s.actions[j+2].text == "-prune" && strings.HasPrefix(s.actions[j+3].text, "-o")
			if j+1 < len(s.actions) && !not && !pruned {
				s.patterns = append(s.patterns, s.actions[j+1].text)
			}
		}
		not = false
	}
	return s
}

// names returns a name that the search may find, for each root and pattern.
func (s search) names() []value {
	var names []value
	for _, root := range s.roots {
		if len(s.patterns) == 0 {
			names = append(names, root.plus(value{text: "/"}).plus(value{open: true, names: true}))
		}
		for _, pattern := range s.patterns {
			name := strings.NewReplacer("*", "x", "?", "x", "[", "", "]", "").Replace(pattern)
			if strings.Contains(pattern, "/") { // of the whole path
				if dir := strings.Trim(strings.TrimPrefix(pattern, "./"), "*"); path.IsAbs(dir) && strings.HasPrefix(pattern, "*/") {
					name = strings.Trim(dir, "/")
				} else {
					name = strings.TrimPrefix(strings.TrimPrefix(name, root.text), "./")
				}
			}
			names = append(names, root.plus(value{text: "/" + strings.TrimPrefix(name, "/")}))
		}
	}
	for i := range names {
		if names[i].open {
			names[i].rest = ""
		}
	}
	return names
}

func (c *call) find() {
	s := parseFind(c.args)
	for i, a := range s.actions {
		rest := s.actions[i+1:]
		switch a.text {
		case "-delete":
			c.effect(Effect{Op: "find -delete", Below: true, Destroys: true}, s.names()...)
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if len(rest) > 0 {
				c.effect(Effect{Op: "find " + a.text}, rest[0])
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := slices.IndexFunc(rest, func(v value) bool { return v.text == ";" || v.text == "+" })
			if end < 0 {
				end = len(rest)
			}
			command := rest[:end]
			if slices.ContainsFunc(command, func(v value) bool { return strings.Contains(v.all(), "{}") }) {
				c.each(command, "{}", s.names())
			} else {
				c.w.run(c.sc.clone(), command)
			}
		}
	}
}
