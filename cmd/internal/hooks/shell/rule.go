package shell

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// A rule is what a line of the table says of a program.
type rule []string

func (r rule) is(word string) bool { return slices.Contains(r, word) }

// list returns the values behind a key, nil if it is not there.
func (r rule) list(key string) []string {
	for _, word := range r {
		if values, ok := strings.CutPrefix(word, key+"="); ok {
			return strings.Split(values, ",")
		}
	}
	return nil
}

// valued returns the flags that have a value.
func (r rule) valued() []string {
	flags := slices.Concat(r.list("into"), r.list("run"), r.list("chdir"))
	for _, word := range r {
		if word[0] == '-' {
			flags = append(flags, strings.TrimSuffix(word, ":"))
		}
	}
	return flags
}

var known sync.Map // the lines of the table for a program

// linesOf returns the lines of the table for a program.
func linesOf(program string) []string {
	if lines, ok := known.Load(program); ok {
		return lines.([]string)
	}
	var lines []string
	for line := range strings.Lines(table) {
		if !strings.Contains(line, program) {
			continue
		}
		line = strings.TrimSpace(line) + " "
		if names, _, _ := strings.Cut(line[:strings.Index(line, ": ")+1], " "); isOf(strings.TrimSuffix(names, ":"), program) {
			lines = append(lines, line)
		}
	}
	known.Store(program, lines)
	return lines
}

// isOf reports whether a word is one of the names of a line.
func isOf(names, word string) bool { return strings.Contains("|"+names+"|", "|"+word+"|") }

// find returns the rule for a program, or for a program and its subcommand, such as
// "git stash drop". There is none but ok is true if only longer names have one.
func find(name string) (r rule, ok bool) {
	words := strings.Split(name, " ")
	for _, line := range linesOf(words[0]) {
		names, what, _ := strings.Cut(line, ": ")
		list := strings.Fields(names)
		if len(list) < len(words) || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "|") }) {
			continue
		}
		same := true
		for i, word := range words {
			same = same && isOf(list[i], word)
		}
		if ok = ok || same; same && len(list) == len(words) {
			r = rule(strings.Fields(what))
		}
	}
	return r, ok
}

// byTable follows a program of the table, and reports whether it is in it. A rule for a
// subcommand goes before that for the program, and one for a flag before both.
func (c *call) byTable() bool {
	c.w.spend(5)
	r, _ := find(c.name)
	key := c.name
	for args, sc := c.args, c.sc; ; {
		sub, rest, inner := subcommand(&call{w: c.w, sc: sc}, r, args)
		next, ok := find(key + " " + sub)
		if sub == "" || strings.Contains(sub, " ") || !ok {
			break
		}
		key, args, sc = key+" "+sub, rest, inner
		if next != nil {
			r, c.name, c.args, c.sc = next, key, args, sc
		}
	}
	if r == nil {
		return false
	}
	for _, a := range c.args {
		if a.text == "--" {
			break
		} else if !strings.HasPrefix(a.text, "-") {
			continue
		}
		if v, _ := find(key + " " + a.text); v != nil && (c.name == key || v.is("destroys")) {
			r, c.name = v, key+" "+a.text
		}
	}
	if !r.is("index") || !c.elsewhere && !(c.private && r.is("private")) {
		c.apply(r)
	}
	return true
}

// subcommand returns the first word of args and what stands behind it. The flags before it
// are those of r; they may choose a directory.
func subcommand(c *call, r rule, args []value) (sub string, rest []value, sc *scope) {
	sc = c.sc
	valued, chdir := r.valued(), r.list("chdir")
	for i := 0; i < len(args); i++ {
		s := args[i].text
		switch flag, dir, joined := strings.Cut(s, "="); {
		case slices.Contains(valued, s) && i+1 < len(args):
			if i++; slices.Contains(chdir, s) {
				sc = sc.at(c.w, args[i])
			}
		case len(s) > 1 && (s[0] == '-' || s[0] == '+'):
			if joined && slices.Contains(chdir, flag) {
				sc = sc.at(c.w, value{text: dir, open: args[i].open})
			}
		case args[i].open:
			return "", nil, sc
		default:
			return s, args[i+1:], sc
		}
	}
	return "", nil, sc
}

// apply does what the rule of a program says.
func (c *call) apply(r rule) {
	if len(r) == 0 {
		return
	}
	if r.is("long") {
		c.args = slices.Clone(c.args)
		for i, a := range c.args {
			if len(a.text) > 2 && a.text[0] == '-' && a.text[1] != '-' {
				c.args[i].text = "-" + a.text
			}
		}
	}
	prefix := r.list("prefix")
	c.options = parse(c.args, r.valued(), prefix != nil || r.is("text") && !r.is("all"))
	if dir, ok := c.value(r.list("chdir")...); ok {
		c.sc = c.sc.at(c.w, dir)
	}
	e := Effect{Op: c.name, Git: r.is("git") || r.is("index"), Below: r.is("git") || r.is("below"), Destroys: r.is("destroys"),
		Stash: r.is("stash") && !c.namesCommit() || c.names(r.list("stash")), reach: c.paths(r)}
	e.Own = r.is("own") || e.Git && !r.is("nested") && !c.has("--recurse-submodules") && !(c.name == "git clean" && c.forcedTwice())
	targets, stdin := c.targets(r)
	into, isInto := []value{}, false
	for _, o := range c.values {
		switch {
		case slices.Contains(r.list("run"), o.flag):
			c.text(c.sc.clone(), o.value)
		case slices.Contains(r.list("into"), o.flag):
			if isInto = true; o.value.text != "-" || o.value.open {
				into = append(into, o.value)
			}
		}
	}
	only, unless, destroys := r.list("only"), r.list("unless"), r.list("destroys")
	switch {
	case prefix != nil:
		c.effect(e, append(targets, into...)...)
		rest := c.words[min(int(prefix[0][0]-'0'), len(c.words)):]
		for inner := c.sc.clone(); len(rest) > 0 && strings.Contains(rest[0].text, "="); rest = rest[1:] { // as of env and sudo
			name, v, _ := strings.Cut(rest[0].text, "=")
			inner.vars[name] = []value{{text: v, open: rest[0].open, names: rest[0].names}}
			c.sc = inner
		}
		if i := slices.IndexFunc(c.args, func(a value) bool { return a.text == "--" }); r.is("dashes") && i >= 0 {
			c.again(c.args[i+1:])
		} else if len(rest) > 1 && rest[0].text == "-c" {
			c.text(c.sc.clone(), rest[1])
		} else if r.is("fetched") {
			c.fetched(rest)
		} else if !c.has(unless...) {
			c.again(rest)
		}
		return
	case c.has("--help", "--version") || len(c.args) == 1 && c.first() == "-h" || c.says(unless) || only != nil && !c.says(only) || r.is("unknown") && only == nil:
		if r.is("unknown") {
			c.w.unknown(c.name)
		}
		return
	case r.is("text"):
		if n := len(c.w.result.Effects); r.is("nested") {
			defer func() {
				for i := range c.w.result.Effects[n:] {
					c.w.result.Effects[n+i].Own = false
				}
			}()
		}
		if targets == nil {
			c.text(c.sc, c.words...)
		}
		for _, text := range targets {
			c.text(c.sc.clone(), text)
		}
		return
	}
	if i := slices.IndexFunc(append(only, destroys...), func(flag string) bool { return c.says([]string{flag}) }); i >= 0 {
		e.Op += " " + append(only, destroys...)[i]
	}
	if c.says(destroys) {
		e.Below, e.Destroys = true, true
	}
	switch {
	case isInto && r.is("moves"): // what it moves is gone from where it was
		targets = append(targets, into...)
	case isInto:
		targets = into
	case len(targets) == 0 && (r.is("here") || e.Git) && !stdin && (!r.is("given") || len(c.words) > 0):
		targets = []value{here}
	}
	if n := len(targets) - 1; r.is("moves") && n > 0 { // to which the others come
		c.effect(Effect{Op: e.Op}, targets[n])
		targets = targets[:n]
	}
	c.effect(e, targets...)
}

// says reports whether one of the arguments is given, wherever it stands.
func (c *call) says(any []string) bool {
	for _, s := range any {
		if c.has(s) {
			return true
		}
		for _, a := range c.args {
			if a.text == s || s[0] == '-' && len(s) > 2 && strings.HasPrefix(a.text, s+"=") {
				return true
			}
		}
	}
	return false
}

// targets returns the words that a rule says are written, and whether "-" was one of them.
func (c *call) targets(r rule) (targets []value, stdin bool) {
	words := c.words
	n := len(words)
	switch {
	case r.is("all"):
	case r.is("first"):
		words = words[:min(n, 1)]
	case r.is("clone") && n == 1: // the name of the repository
		name := strings.TrimSuffix(strings.TrimSuffix(words[0].text, "/"), ".git")
		return []value{{text: name[strings.LastIndexAny(name, "/:")+1:], open: words[0].open, names: true}}, false
	case r.is("second"), r.is("clone"):
		words = words[min(n, 1):min(n, 2)]
	case r.is("last"):
		words = words[max(n-1, min(n, 1)):]
	case r.is("final"):
		words = words[max(n-1, 0):]
	case r.is("rest"):
		words = words[min(n, 1):]
	case r.list("output") != nil:
		isFlag := func(i int) bool { return i >= 0 && len(c.args[i].text) > 1 && c.args[i].text[0] == '-' }
		i := len(c.args) - 1
		for i >= 0 && (isFlag(i) || isFlag(i-1) && !slices.Contains(r.list("output"), c.args[i-1].text)) {
			i--
		}
		words = c.args[max(i, 0) : i+1]
	case r.is("third"):
		words = words[min(n, 2):]
	default:
		return nil, false
	}
	for _, v := range words {
		switch {
		case v.text == "-" && !v.open:
			stdin = true
		case v.open && v.text == "" && r.is("known"):
		case !r.is("remote") || !strings.Contains(v.text, ":"):
			targets = append(targets, v)
		}
	}
	return targets, stdin
}

// table says what programs write. A line has the names of a program, or of a program and
// its subcommand, and a colon. Behind it are:
//
//	all first second last rest third final   which of the words are written; last only if there are two
//	output=…      the last argument that stands behind no flag but those is written
//	here          the directory of the command, if no such words are given; given: only with words
//	-x:           a flag that has a value
//	into=…        flags that name what is written, instead of the words
//	chdir=…       flags that name the directory
//	only=…        nothing is written without one of these arguments
//	unless=…      nothing is written with one of these arguments
//	below         everything below is written, too
//	moves         the words are gone then; where they come to, nothing that is below is written
//	destroys      what is taken away may be nowhere else; destroys=… with one of these flags
//	git, index    of git: the whole repository; its index and branches only
//	stash         of git: the stash of the repository, unless the last word is the hash of a commit; stash=… if it is named so
//	nested        of git: also what is in repositories and working trees below; own: of others, not that
//	paths=N       of git: words that are paths, if there are N of them or they stand behind "--"; else it is the whole tree,
//	              or for N=0 the directory
//	whole=…       of git: the whole tree only with one of these flags
//	private       of git: nothing is written if the index is another one
//	remote        words with a colon are on other hosts, or no files
//	known         words of which nothing is known do not count
//	long          -name is --name, and not some flags of one letter
//	prefix=N      what stands behind N words is a command
//	dashes        of a prefix: the command stands behind "--"
//	fetched       of a prefix: that command is the program of a package
//	unknown       what it does is not known, unless it writes
//
//	text          the words are a command as a text: each of those, or else all together
//	run=…         flags whose value is a command as a text
//	clone         the second word, or the name of the repository in the first
//
// Without anything, nothing is written. Of several lines, the last one counts.
//
//go:embed table.txt
var table string
