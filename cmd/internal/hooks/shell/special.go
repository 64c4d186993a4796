package shell

import (
	"path"
	"slices"
	"strings"
	"sync"
)

var (
	specialOnce sync.Once
	specials    map[string]func(*call)
)

// special returns the programs for which a line of the table is not enough.
func special() map[string]func(*call) {
	specialOnce.Do(func() { specials = makeSpecials() })
	return specials
}

func makeSpecials() map[string]func(*call) {
	all := map[string]func(*call){}
	for names, run := range map[string]func(*call){
		"cd chdir":                           func(c *call) { c.cd() },
		"pushd":                              func(c *call) { c.sc.stack = append(c.sc.stack, c.sc.dir); c.cd() },
		"popd":                               popd,
		"read mapfile readarray":             read,
		"set":                                set,
		"shift":                              shift,
		"alias":                              alias,
		"eval":                               func(c *call) { c.text(c.sc, c.args...) },
		"trap":                               trap,
		"source .":                           source,
		"command":                            command,
		"env cross-env cross-env-shell":      env,
		"chmod gchmod":                       chmod,
		"watch":                              watch,
		"hyperfine":                          hyperfine,
		"flock":                              flock,
		"script":                             script,
		"sh bash zsh dash ksh ash fish mksh": shell,
		"su":                                 su,
		"xargs gxargs":                       xargs,
		"parallel":                           parallel,
		"find gfind":                         findFiles,
		"fd fdfind":                          fd,
		"rm grm":                             remove,
		"dd":                                 dd,
		"sed gsed":                           sed,
		"awk gawk mawk nawk":                 awk,
		"tar gtar bsdtar":                    tar,
		"apply_patch applypatch":             applyPatch,
		"git hub":                            git,
		"npm pnpm yarn bun":                  npm,
		"gh":                                 gh,
		"npx bunx pnpx uvx pipx":             npx,
		"go":                                 golang,
		"mvn mvnw gradle gradlew sbt":        buildTool,
		"python python2 python3 pypy3 ipython node nodejs ruby php perl deno tsx ts-node osascript": interpreter,
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = run
		}
	}
	return all
}

// cd changes the directory of the shell.
func (c *call) cd() {
	to := value{text: c.w.env.Home}
	if words := parse(c.args, nil, false).words; len(words) > 0 {
		to = words[0]
	} else if c.arg(0) == "-" {
		to = value{text: c.sc.before}
	}
	if to.text == "-" {
		to = value{text: c.sc.before}
	}
	c.sc.chdir(c.w, to)
}

func popd(c *call) {
	n := len(c.sc.stack)
	if n == 0 {
		c.sc.dir = ""
		return
	}
	c.sc.dir, c.sc.stack = c.sc.stack[n-1], c.sc.stack[:n-1]
}

// read sets variables to what the input says.
func read(c *call) {
	words := parse(c.args, []string{"-d", "-n", "-N", "-p", "-t", "-u", "-i"}, false).words
	if len(words) == 0 {
		words = []value{{text: "REPLY"}}
	}
	v := c.w.in.line()
	for _, name := range words {
		c.sc.vars[name.text] = []value{v}
	}
}

// line is what is known of all lines of the input.
func (in input) line() value {
	if !in.known {
		return value{text: in.names.text, open: in.names.open, names: in.names.names}
	}
	var all []value
	for s := range strings.Lines(in.text) {
		if s = strings.TrimSpace(s); s != "" {
			if v := (value{text: s}); all == nil {
				all = []value{v}
			} else {
				all = common(all, []value{v})
			}
		}
	}
	if all == nil {
		return value{open: true}
	}
	return all[0]
}

func set(c *call) {
	for i, a := range c.args {
		if a.text == "--" {
			c.sc.args = c.args[i+1:]
			return
		}
	}
}

func shift(c *call) {
	if len(c.sc.args) > 0 {
		c.sc.args = c.sc.args[1:]
	}
}

func alias(c *call) {
	for _, a := range c.args {
		if name, text, ok := strings.Cut(a.text, "="); ok {
			c.sc.aliases[name] = text
		}
	}
}

func trap(c *call) {
	if words := parse(c.args, nil, true).words; len(words) > 1 {
		c.text(c.sc.clone(), words[0])
	}
}

// source runs a file, which is not read. Files that prepare an environment are known.
func source(c *call) {
	switch s := c.arg(0); {
	case strings.HasSuffix(s, "/activate"), strings.HasSuffix(s, "rc"), strings.HasSuffix(s, "profile"), strings.HasSuffix(s, "env"):
	default:
		c.w.unknown(path.Base(s))
	}
}

func command(c *call) {
	if o := parse(c.args, nil, true); !o.has("-v", "-V") {
		c.again(o.words)
	}
}

func env(c *call) {
	o := parse(c.args, []string{"-u", "--unset", "-C", "--chdir", "-S", "--split-string"}, true)
	sc := c.sc.clone()
	if dir, ok := o.value("-C", "--chdir"); ok {
		sc.chdir(c.w, dir)
	}
	words := o.words
	for len(words) > 0 && strings.Contains(words[0].text, "=") {
		name, v, _ := strings.Cut(words[0].text, "=")
		sc.vars[name] = []value{{text: v, open: words[0].open, names: words[0].names}}
		words = words[1:]
	}
	if text, ok := o.value("-S", "--split-string"); ok {
		(&call{w: c.w}).text(sc, append([]value{text}, words...)...)
		return
	}
	c.w.run(sc, words)
}

func watch(c *call) {
	c.text(c.sc.clone(), parse(c.args, []string{"-n", "--interval"}, true).words...)
}

// hyperfine runs each of its words, and some of its flags.
func hyperfine(c *call) {
	runs := []string{"-p", "--prepare", "-s", "--setup", "-c", "--cleanup"}
	o := parse(c.args, append([]string{"-w", "--warmup", "-r", "--runs", "-n", "-L", "-m", "-M"}, runs...), false)
	for _, v := range o.values {
		if slices.Contains(runs, v.flag) {
			c.text(c.sc.clone(), v.value)
		}
	}
	for _, word := range o.words {
		c.text(c.sc.clone(), word)
	}
}

func flock(c *call) {
	o := parse(c.args, []string{"-w", "--timeout", "-E", "--conflict-exit-code"}, true)
	if len(o.words) < 2 {
		return
	}
	if rest := o.words[1:]; rest[0].text == "-c" && len(rest) > 1 {
		c.text(c.sc.clone(), rest[1])
	} else {
		c.again(rest)
	}
}

func script(c *call) {
	o := parse(c.args, []string{"-c", "--command", "-t", "-m", "-o"}, false)
	if text, ok := o.value("-c", "--command"); ok {
		c.text(c.sc.clone(), text)
	}
	if len(o.words) > 0 {
		c.effect(Effect{Op: "script"}, o.words[0])
	}
	if len(o.words) > 1 && !o.has("-c") { // as on macOS
		c.again(o.words[1:])
	}
}

func su(c *call) {
	if text, ok := parse(c.args, []string{"-c", "-s", "-g"}, false).value("-c"); ok {
		c.text(c.sc.clone(), text)
	}
}

// shell runs a shell: a text behind -c, a file, or what it reads.
func shell(c *call) {
	o := parse(c.args, []string{"-c", "-o", "+o", "-O", "--rcfile", "--init-file"}, true)
	words, sc := o.words, c.sc.clone()
	text, ok := o.value("-c")
	for i, a := range c.args { // in -cx, unlike elsewhere, x is another flag
		if s := a.text; len(s) > 2 && s[0] == '-' && s[1] != '-' && strings.Contains(s, "c") {
			o = parse(c.args[i+1:], nil, true)
			if ok = len(o.words) > 0; ok {
				text, words = o.words[0], o.words[1:]
			}
			break
		}
	}
	switch {
	case o.has("--version", "--help", "-n"):
	case ok:
		if sc.args = nil; len(words) > 0 {
			sc.vars["0"], sc.args = words[:1], words[1:]
		}
		c.text(sc, text)
	case len(words) > 0 && words[0].text != "-" && !o.has("-s") && !strings.HasPrefix(words[0].text, "/dev/"):
		c.w.unknown(path.Base(words[0].text))
	case c.w.in.known:
		c.w.script(sc, c.w.in.text)
	default:
		c.w.unknown(c.name)
	}
}

// chmod has a mode that may look like a flag.
func chmod(c *call) {
	words := parse(c.args, []string{"--reference"}, false).words
	mode := slices.ContainsFunc(c.args, func(a value) bool {
		return len(a.text) > 1 && a.text[0] == '-' && strings.Trim(a.text[1:], "rwxXst") == ""
	})
	if !mode {
		words = words[min(1, len(words)):]
	}
	c.effect(Effect{Op: "chmod", Below: true}, words...)
}

func remove(c *call) {
	o := parse(c.args, nil, false)
	e := Effect{Op: "rm", Destroys: true}
	if o.has("-r", "-R", "--recursive") {
		e.Op, e.Below = "rm -r", true
	}
	c.effect(e, o.words...)
}

func dd(c *call) {
	for _, a := range c.args {
		if file, ok := strings.CutPrefix(a.text, "of="); ok {
			c.effect(Effect{Op: "dd", Destroys: true}, value{text: file, open: a.open, names: a.names})
		}
	}
}

var sedWrites = pattern{expr: `(?:^|[;{}/\d$!]\s*)[wW][ \t]+([^\s;}]+)|/[gpiImMe0-9]*w[ \t]+([^\s;}]+)`}

func sed(c *call) {
	var files, programs []value
	inPlace, given, op := false, false, "sed -i"
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		s := a.text
		switch {
		case strings.HasPrefix(s, "--in-place"):
			inPlace = true
		case s == "--expression" || s == "--file":
			given = true
			i++
			programs = append(programs, c.args[min(i, len(c.args)-1)])
		case strings.HasPrefix(s, "--expression="), strings.HasPrefix(s, "--file="):
			given = true
			programs = append(programs, value{text: s[strings.IndexByte(s, '=')+1:]})
		case strings.HasPrefix(s, "--"):
		case len(s) > 1 && s[0] == '-':
			at := strings.IndexAny(s, "ief")
			switch {
			case at < 0:
			case s[at] == 'i':
				inPlace = true
				if at+1 == len(s) && i+1 < len(c.args) && c.args[i+1].text == "" && !c.args[i+1].open {
					i++ // as on macOS: the suffix of the backup
				}
			case at+1 < len(s):
				given = true
				programs = append(programs, value{text: s[at+1:]})
			default:
				given = true
				if i++; i < len(c.args) {
					programs = append(programs, c.args[i])
				}
			}
		case !given:
			given = true
			programs = append(programs, a)
		default:
			files = append(files, a)
		}
	}
	if inPlace {
		c.effect(Effect{Op: op}, files...)
		return
	}
	for _, p := range programs {
		for _, m := range sedWrites.get().FindAllStringSubmatch(p.all(), 100) {
			if file := m[1] + m[2]; strings.ContainsAny(file, "./") {
				c.effect(Effect{Op: "sed w"}, value{text: file})
			}
		}
	}
}

var (
	awkWrites = pattern{expr: `printf?[^;}|"]*(?:"[^"]*"[^;}|"]*)*>>?\s*"([^"]+)"`}
	awkRuns   = pattern{expr: `system\(\s*"([^"]+)"\s*\)`}
)

func awk(c *call) {
	o := parse(c.args, []string{"-i", "--include", "-v", "-F", "-f", "--assign", "--field-separator", "--file"}, true)
	if v, _ := o.value("-i", "--include"); v.text == "inplace" {
		c.effect(Effect{Op: "awk -i inplace"}, o.words[min(1, len(o.words)):]...)
		return
	}
	if len(o.words) == 0 || o.has("-f", "--file") {
		return
	}
	program := o.words[0].all()
	for _, m := range awkWrites.get().FindAllStringSubmatch(program, 100) {
		c.effect(Effect{Op: "awk >"}, value{text: m[1]})
	}
	for _, m := range awkRuns.get().FindAllStringSubmatch(program, 100) {
		c.w.script(c.sc.clone(), m[1])
	}
}

// tar is called with its operation as a flag, or without the dash.
func tar(c *call) {
	args := slices.Clone(c.args)
	if len(args) > 0 && args[0].text != "" && args[0].text[0] != '-' {
		args[0].text = "-" + args[0].text
	}
	o := parse(args, []string{"-f", "--file", "-C", "--directory", "--exclude", "-T", "-X", "--strip-components", "--transform", "-b", "--one-top-level", "-I", "-s"}, false)
	file, named := o.value("-f", "--file")
	dir, elsewhere := o.value("-C", "--directory", "--one-top-level")
	switch {
	case o.has("-t", "--list", "--help", "--version", "-d", "--diff", "--compare"):
	case o.has("-x", "--extract", "--get"):
		if o.has("-O", "--to-stdout") {
			return
		}
		if !elsewhere {
			dir = here
		}
		c.effect(Effect{Op: "tar -x", Below: true}, dir)
	case o.has("-c", "-r", "-u", "-A", "--create", "--append", "--update") && named && file.text != "-":
		c.effect(Effect{Op: "tar -c"}, file)
	}
}

var patched = pattern{expr: `(?m)^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$`}

func applyPatch(c *call) {
	text := c.w.in.text
	for _, a := range c.args {
		text += "\n" + a.all()
	}
	e := Effect{Op: "apply_patch"}
	files := patched.get().FindAllStringSubmatch(text, 100)
	for _, m := range files {
		c.effect(e, value{text: strings.TrimSpace(m[1])})
	}
	if files == nil {
		c.effect(e, here)
	}
}

// npm follows npm and those like it. What is in no table is a script of the package.
func npm(c *call) {
	own, _ := find(c.name)
	sub, rest, sc := subcommand(c, own, c.args)
	_, inTable := find(c.name + " " + sub)
	script, args := sub, rest
	switch {
	case sub == "" && c.name == "yarn" && !parse(c.args, nil, false).has("--version", "-v", "--help", "-h", "--frozen-lockfile", "--immutable"):
		c.w.effect(sc, Effect{Op: "yarn install"}, here)
		return
	case sub == "":
		return
	case sub == "run" || sub == "run-script":
		o := parse(rest, nil, true)
		if len(o.words) == 0 {
			return
		}
		script, args = o.words[0].text, o.words[1:]
	case sub == "workspace" && len(rest) > 1:
		c.args = rest[1:]
		npm(c)
		return
	case inTable:
		if !c.byTable() {
			c.w.unknown(c.name + " " + sub)
		}
		return
	case c.name == "bun" && strings.ContainsAny(sub, "./"):
		c.w.unknown(path.Base(sub))
		return
	case c.name != "npm" && isProgram(sub) && sub != "test":
		c.w.run(sc, append([]value{{text: sub}}, rest...)) // yarn prettier --write
		return
	}
	op := c.name + " run " + script
	if writesByName(script) || slices.ContainsFunc(args, func(a value) bool { return a.text == "--fix" || a.text == "--write" }) {
		c.w.effect(sc, Effect{Op: op}, here)
		return
	}
	c.w.unknown(op)
}

// isProgram reports whether something is known of a program.
func isProgram(name string) bool {
	_, ok := find(name)
	return ok || special()[name] != nil
}

// writesByName reports whether a script of a package is there to change files.
func writesByName(script string) bool {
	parts := strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(":-._", r) })
	has := func(names ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(names, p) })
	}
	return has("fix", "format", "fmt", "prettify", "autofix") && !has("check", "test", "verify", "ci", "diff", "dry", "list", "build", "watch", "start")
}

// npx runs a program of a package, whose name may have a version.
func npx(c *call) {
	if c.name == "pipx" && c.arg(0) != "run" {
		return
	}
	o := parse(c.args, []string{"-p", "--package", "--from", "--with", "--python", "--spec", "-c", "--call"}, true)
	if text, ok := o.value("-c", "--call"); ok {
		c.text(c.sc.clone(), text)
		return
	}
	words := o.words
	if c.name == "pipx" && len(words) > 0 {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	name := strings.TrimPrefix(words[0].text, "@biomejs/")
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	c.again(append([]value{{text: name, open: words[0].open}}, words[1:]...))
}

// golang follows go. A program that it builds and runs may be in the table.
func golang(c *call) {
	own, _ := find("go")
	sub, rest, sc := subcommand(c, own, c.args)
	if sub != "run" && sub != "tool" {
		if !c.byTable() {
			c.w.unknown("go")
		}
		return
	}
	o := parse(rest, []string{"-C", "-tags", "-mod", "-modfile", "-ldflags", "-exec", "-p"}, true)
	if len(o.words) == 0 {
		return
	}
	name, _, _ := strings.Cut(o.words[0].text, "@")
	if base := path.Base(name); isProgram(base) && (sub == "tool" || strings.Contains(name, ".") && base != name) {
		c.w.run(sc, append([]value{{text: base}}, o.words[1:]...))
		return
	}
	c.w.unknown("go " + sub)
}

// buildTool follows tools for which each word is a task.
func buildTool(c *call) {
	for _, a := range c.args {
		for _, task := range []string{"spotlessApply", "spotless:apply", "ktlintFormat", "formatter:format", "fmt:format", "formatKotlin", "googleJavaFormat", "versions:set", "scalafmtAll", "scalafmt", "detektFix", "rewriteRun"} {
			if strings.TrimPrefix(path.Ext("x"+strings.ReplaceAll(a.text, ":"+task, "."+task)), ".") == task || a.text == task {
				c.effect(Effect{Op: c.name + " " + task}, here)
			}
		}
	}
	c.w.unknown(c.name)
}

// gh follows the client of a forge. Only what it does to the working tree counts.
func gh(c *call) {
	if c.arg(1) == "clone" && (c.arg(0) == "repo" || c.arg(0) == "gist") {
		words := parse(c.args[2:], []string{"-u", "--upstream-remote-name"}, false).words
		cloned(c, words[:min(2, len(words))])
		return
	}
	c.byTable()
}
