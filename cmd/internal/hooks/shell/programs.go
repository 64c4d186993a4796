package shell

import (
	"path"
	"slices"
	"strings"
)

// special follows a program for which a line of the table is not enough, and reports whether
// it is one.
func (c *call) special() bool {
	if s := c.first(); c.name == "deno" && s == "eval" || c.name == "bun" && (s == "-e" || s == "--eval") {
		c.follow(c.name+" "+s, c.args[len(c.args)-1].source(), nil)
		return true
	}
	switch c.name {
	case "cd", "chdir":
		c.cd()
	case "pushd":
		c.sc.stack = append(c.sc.stack, c.sc.dir)
		c.cd()
	case "popd":
		if n := len(c.sc.stack); n > 0 {
			c.sc.dir, c.sc.stack = c.sc.stack[n-1], c.sc.stack[:n-1]
		} else {
			c.sc.dir = ""
		}
	case "read", "mapfile", "readarray":
		words := parse(c.args, []string{"-d", "-n", "-N", "-p", "-t", "-u", "-i"}, false).words
		if len(words) == 0 {
			words = []value{{text: "REPLY"}}
		}
		for _, name := range words {
			c.sc.vars[name.text] = []value{c.w.in.line()}
		}
	case "set":
		if i := slices.IndexFunc(c.args, func(a value) bool { return a.text == "--" }); i >= 0 {
			c.sc.args = c.args[i+1:]
		}
	case "shift":
		c.sc.args = c.sc.args[min(1, len(c.sc.args)):]
	case "alias":
		for _, a := range c.args {
			if name, text, ok := strings.Cut(a.text, "="); ok {
				c.sc.aliases[name] = text
			}
		}
	case "source", ".": // a file, which is not read
		c.w.unknown(path.Base(c.first()))
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh":
		c.shell()
	case "xargs", "gxargs":
		c.xargs()
	case "parallel":
		c.parallel()
	case "find", "gfind":
		c.find()
	case "fd", "fdfind":
		if i := slices.IndexFunc(c.args, func(a value) bool { return slices.Contains([]string{"-x", "-X", "--exec", "--exec-batch"}, a.text) }); i >= 0 {
			c.each(c.args[i+1:], "{}", foundBy("fd", c.args[:i]))
		}
	case "dd":
		for _, a := range c.args {
			if file, ok := strings.CutPrefix(a.text, "of="); ok {
				c.effect(Effect{Op: "dd", Destroys: true}, value{text: file, open: a.open, names: a.names})
			}
		}
	case "sed", "gsed":
		c.sed()
	case "awk", "gawk", "mawk", "nawk":
		c.awk()
	case "tar", "gtar", "bsdtar":
		c.tar()
	case "apply_patch", "applypatch":
		text := c.w.in.text
		for _, a := range c.args {
			text += "\n" + a.source()
		}
		targets := []value{}
		for _, file := range Patched(text) {
			targets = append(targets, value{text: file})
		}
		if len(targets) == 0 && !strings.HasPrefix(c.first(), "-") {
			targets = []value{here}
		}
		c.effect(Effect{Op: "apply_patch"}, targets...)
	case "git", "hub":
		c.git()
	case "docker", "podman", "nerdctl":
		if c.first() != "run" {
			return false
		}
		c.container()
	case "sqlite3":
		c.sqlite()
	case "npm", "pnpm", "yarn", "bun":
		c.npm()
	case "python", "python2", "python3", "pypy3", "ipython", "node", "nodejs", "ruby", "php", "perl", "tsx", "ts-node", "osascript", "lua":
		c.interpreter()
	default:
		return false
	}
	return true
}

// cd changes the directory of the shell.
func (c *call) cd() {
	to := value{text: c.w.env.Home}
	if words := parse(c.args, nil, false).words; len(words) > 0 {
		to = words[0]
	}
	if to.text == "-" {
		to = value{text: c.sc.before}
	}
	c.sc.chdir(c.w, to)
}

// line is what is known of all lines of the input.
func (in input) line() value {
	if !in.known {
		return value{text: in.names.text, open: in.names.open, names: in.names.names}
	}
	var all []value
	for s := range strings.Lines(in.text) {
		if s = strings.TrimSpace(s); s != "" {
			all = common(all, []value{{text: s}})
		}
	}
	if all == nil {
		return value{open: true}
	}
	return all[0]
}

// shell runs a shell: a text behind -c, a file, or what it reads.
func (c *call) shell() {
	args := slices.Clone(c.args)
	for i, a := range args { // in -cx, unlike elsewhere, x is another flag
		if s := a.text; len(s) > 2 && s[0] == '-' && s[1] != '-' && strings.Contains(s, "c") {
			args[i].text = "-c"
		}
	}
	o := parse(args, []string{"-c", "-o", "+o", "-O", "--rcfile", "--init-file"}, true)
	words, sc := o.words, c.sc.clone()
	text, ok := o.value("-c")
	switch {
	case o.has("--version", "--help", "-n"):
	case ok:
		if sc.args = nil; len(words) > 0 {
			sc.vars["0"], sc.args = words[:1], words[1:]
		}
		c.text(sc, text)
	case len(words) > 0 && words[0].text != "-" && !o.has("-s") && !isDevice(words[0].text):
		c.w.unknown(path.Base(words[0].text))
	case c.w.in.known:
		c.w.script(sc, c.w.in.text)
	case strings.Contains(c.w.in.names.text, " "): // lines that begin with a program
		c.w.script(sc, c.w.in.names.source())
	default:
		c.w.unknown(c.name)
	}
}

// sqlite follows statements that change a database, which is a file.
func (c *call) sqlite() {
	o := parse(c.args, []string{"-cmd", "-init", "-separator", "-newline", "-nullvalue", "-vfs"}, true)
	if len(o.words) == 0 || o.words[0].text == ":memory:" || slices.Contains(o.flags, "-readonly") {
		return
	}
	text := c.w.in.text
	for _, v := range o.words[1:] {
		text += ";" + v.source()
	}
	for statement := range strings.SplitSeq(text, ";") {
		verb := strings.Fields(strings.ToLower(statement) + " x")[0]
		if strings.Contains(" insert update delete create drop alter replace vacuum reindex .import .restore ", " "+verb+" ") {
			c.effect(Effect{Op: "sqlite3 " + verb}, o.words[0])
			return
		}
	}
}

func (c *call) sed() {
	o := parse(c.args, []string{"-e", "--expression", "-f", "--file"}, false)
	files := o.words
	if len(files) > 0 && files[0].text == "" && !files[0].open { // as on macOS: the suffix of the backup
		files = files[1:]
	}
	program, given := o.value("-e", "--expression")
	if !given && !o.has("-f", "--file") && len(files) > 0 {
		program, files = files[0], files[1:]
	}
	if o.has("-i", "--in-place") {
		c.effect(Effect{Op: "sed -i"}, files...)
		return
	}
	for line := range strings.FieldsFuncSeq(program.source(), func(r rune) bool { return strings.ContainsRune("\n;{}", r) }) {
		i := strings.LastIndex(line, "w ")
		if i < 0 {
			continue
		}
		before, file := strings.TrimRight(line[:i], "gpiImMe0123456789"), strings.TrimSpace(line[i+2:])
		isText := strings.Contains(before, "s/") && strings.Count(before, "/") < 3 // of s/a/w b/
		if (strings.TrimSpace(before) == "" || strings.HasSuffix(before, "/")) && !isText && !strings.HasSuffix(file, "/") {
			c.effect(Effect{Op: "sed w"}, value{text: file})
		}
	}
}

func (c *call) awk() {
	o := parse(c.args, []string{"-i", "--include", "-v", "-F", "-f", "--assign", "--field-separator", "--file"}, true)
	if v, _ := o.value("-i", "--include"); v.text == "inplace" {
		c.effect(Effect{Op: "awk -i inplace"}, o.words[min(1, len(o.words)):]...)
		return
	}
	if len(o.words) == 0 || o.has("-f", "--file") {
		return
	}
	for line := range strings.FieldsFuncSeq(o.words[0].source(), func(r rune) bool { return strings.ContainsRune("\n;{}", r) }) {
		if what, file, ok := strings.Cut(line, ">"); ok && strings.HasPrefix(strings.TrimSpace(what), "print") && strings.Count(what, `"`)%2 == 0 {
			if file, ok = strings.CutPrefix(strings.TrimLeft(file, "> "), `"`); ok {
				c.effect(Effect{Op: "awk >"}, value{text: strings.Trim(file, `" `)})
			}
		}
		if _, text, ok := strings.Cut(line, `system("`); ok {
			text, _, _ = strings.Cut(text, `"`)
			c.w.script(c.sc.clone(), text)
		}
	}
}

// tar is called with its operation as a flag, or without the dash.
func (c *call) tar() {
	args := slices.Clone(c.args)
	if len(args) > 0 && args[0].text != "" && args[0].text[0] != '-' {
		args[0].text = "-" + args[0].text
	}
	o := parse(args, []string{"-f", "--file", "-C", "--directory", "--exclude", "-T", "-X", "--strip-components", "--transform", "-b", "--one-top-level", "-I", "-s"}, false)
	file, named := o.value("-f", "--file")
	dir, elsewhere := o.value("-C", "--directory", "--one-top-level")
	switch {
	case o.has("-t", "--list", "--help", "--version", "-d", "--diff", "--compare", "-O", "--to-stdout"):
	case o.has("-x", "--extract", "--get"):
		if !elsewhere {
			dir = here
		}
		c.effect(Effect{Op: "tar -x", Below: true}, dir)
	case o.has("-c", "-r", "-u", "-A", "--create", "--append", "--update") && named && file.text != "-":
		c.effect(Effect{Op: "tar -c"}, file)
	}
}

// Patched returns the files that a patch in the format of apply_patch touches.
func Patched(patch string) (paths []string) {
	for line := range strings.Lines(patch) {
		for _, prefix := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if path, ok := strings.CutPrefix(line, prefix); ok {
				paths = append(paths, strings.TrimSpace(path))
			}
		}
	}
	return paths
}

// npm follows npm and those like it. What is in no table is a script of the package.
func (c *call) npm() {
	own, _ := find(c.name)
	sub, rest, sc := subcommand(c, own, c.args)
	_, inTable := find(c.name + " " + sub)
	script, args := sub, rest
	switch {
	case sub == "":
		if c.name == "yarn" && !parse(c.args, nil, false).has("--version", "-v", "--help", "-h", "--frozen-lockfile", "--immutable") {
			c.w.effect(sc, Effect{Op: "yarn install"}, here)
		}
		return
	case sub == "run" || sub == "run-script":
		o := parse(rest, nil, true)
		if len(o.words) == 0 {
			return
		}
		script, args = o.words[0].text, o.words[1:]
	case sub == "workspace" && len(rest) > 1:
		c.args = rest[1:]
		c.npm()
		return
	case inTable:
		c.byTable()
		return
	case c.name != "npm" && isProgram(sub) && sub != "test":
		c.w.run(sc, append([]value{{text: sub}}, rest...)) // yarn prettier --write
		return
	}
	op := c.name + " run " + script
	checks := slices.ContainsFunc(args, func(a value) bool { return a.text == "--check" || a.text == "--diff" || a.text == "--dry-run" })
	if writesByName(script) && !checks || slices.ContainsFunc(args, func(a value) bool { return a.text == "--fix" || a.text == "--write" }) {
		c.w.effect(sc, Effect{Op: op}, here)
		return
	}
	c.w.unknown(op)
}

// isProgram reports whether the table has a program.
func isProgram(name string) bool {
	_, ok := find(name)
	return ok
}

// writesByName reports whether a script of a package is there to change files.
func writesByName(script string) bool {
	parts := strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(":-._", r) })
	has := func(names string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(names, " "+p+" ") })
	}
	return has(" fix format fmt prettify autofix ") && !has(" check test verify ci diff dry list build watch start ")
}

// fetched runs words as a command of a package. There, unlike elsewhere, create-x begins a
// project, cli is the program of the package's scope, and the path of a Go package has a domain.
func (c *call) fetched(words []value) {
	if len(words) == 0 {
		return
	}
	name, known := c.w.program(words[0].text)
	inner := &call{w: c.w, sc: c.sc, name: name, args: words[1:]}
	writes := slices.ContainsFunc(inner.args, func(a value) bool { return a.text == "-w" || a.text == "-write" || a.text == "--write" })
	switch {
	case c.name == "go run" && !known && strings.HasPrefix(name, ".") && writes: // a formatter of the project
		c.effect(Effect{Op: "go run " + name}, here)
	case name == "cli" && words[0].text[0] == '@':
		if inner.name = "@cli"; !inner.byTable() {
			c.w.unknown(words[0].text)
		}
	case strings.HasPrefix(name, "create-"):
		r, _ := find("create-*")
		inner.apply(r)
	default:
		if domain, _, _ := strings.Cut(words[0].text, "/"); strings.Contains(strings.Trim(domain, "."), ".") && domain != words[0].text {
			path, _, _ := strings.Cut(words[0].text, "@")
			words = append([]value{{text: path[strings.LastIndexByte(path, '/')+1:]}}, words[1:]...)
		}
		c.again(words)
	}
}
