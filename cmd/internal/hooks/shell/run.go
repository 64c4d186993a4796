package shell

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// A call is one simple command.
type call struct {
	w    *walker
	sc   *scope
	name string
	args []value
	options
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

// arg returns an argument, "" if there are not as many.
func (c *call) arg(i int) string {
	if i < len(c.args) {
		return c.args[i].text
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
		all = append(all, v.source(sc, c.w))
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
	if strings.ContainsAny(name.text, " \t") && !isAbs(name.text) { // a whole command in quotes is none
		w.unknown("a program whose name has blanks")
		return
	}
	if text, ok := sc.aliases[name.text]; ok {
		delete(sc.aliases, name.text) // it may contain itself
		w.script(sc, text+" "+shellWords(args[1:], sc, w))
		sc.aliases[name.text] = text
		return
	}
	if body, ok := sc.funcs[name.text]; ok {
		outer := sc.args
		sc.args = args[1:]
		delete(sc.funcs, name.text)
		w.node(sc, body)
		sc.funcs[name.text], sc.args = body, outer
		return
	}
	base, ok := program(name.text)
	if !ok {
		w.unknown(path.Base(base))
		return
	}
	c := &call{w: w, sc: sc, name: base, args: args[1:]}
	if !c.special() && !c.byTable() {
		w.unknown(base)
	}
}

// program returns the name of a program without its directory, and whether it may be in
// the table: one in a directory of scripts is not, whatever its name is.
func program(name string) (string, bool) {
	name = strings.TrimSuffix(name, ".exe")
	dir, base := path.Split(name)
	if dir == "" || base == "gradlew" || base == "mvnw" {
		return base, true
	}
	switch path.Base(dir) {
	case "bin", ".bin", "sbin", "Scripts", "gnubin":
		return base, true
	}
	return name, false
}

// shellWords returns words as the text of a command.
func shellWords(args []value, sc *scope, w *walker) string {
	var all []string
	for _, a := range args {
		if s := a.source(sc, w); a.open {
			all = append(all, `"`+s+`"`)
		} else {
			all = append(all, "'"+strings.ReplaceAll(s, "'", `'\''`)+"'")
		}
	}
	return strings.Join(all, " ")
}

// A rule says what a program of the table writes.
type rule struct {
	which    string   // the words that it writes: all, first, second, last, rest (all but the first) or third (and those behind it)
	here     bool     // it writes its directory, if it has no such words
	given    bool     // only if it has words
	valued   []string // flags that have a value
	chdir    []string // flags that name its directory
	into     []string // flags that name what it writes, instead of words
	only     []string // it writes only with one of these arguments
	unless   []string // it writes nothing with one of these
	destroys []string // it destroys with one of these flags
	prefix   int      // it runs the command behind that many words; -1 if it is no prefix
	run      []string // flags whose value is a command as a text
	text     bool     // its words are a command as a text: each of those that are written, or all together
	reads    bool
	unknown  bool // what it does is not known, unless it writes
	dashes   bool // of a prefix: the command stands behind "--"
	index    bool // it changes the index or branches, but no file of the working tree
	private  bool // it writes only to an index that may be another one
	remote   bool // a word with a colon is on another host
	e        Effect
}

var known sync.Map // the rules of a program, by its name and those of its subcommands

// find returns the rule for a program, or for a program and its subcommand, such as
// "git stash drop". There is none but ok is true if only longer names have one.
func find(names string) (r *rule, ok bool) {
	program, _, _ := strings.Cut(names, " ")
	rules, done := known.Load(program)
	if !done {
		rules, _ = known.LoadOrStore(program, rulesOf(program))
	}
	r, ok = rules.(map[string]*rule)[names]
	return r, ok
}

// rulesOf reads the lines of the table for a program.
func rulesOf(program string) map[string]*rule {
	rules := map[string]*rule{}
	if slices.Contains(strings.Fields(readers), program) {
		rules[program] = &rule{reads: true, prefix: -1}
	}
	if program == "git" {
		output := parseRule([]string{"into=--output", "only=--output"})
		for sub := range strings.FieldsSeq(gitReaders) {
			rules["git "+sub] = output
		}
	}
	for line := range strings.Lines(table) {
		names, what, _ := strings.Cut(line, ":")
		first, subs, _ := strings.Cut(names, " ")
		if !strings.Contains("|"+first+"|", "|"+program+"|") {
			continue
		}
		r := parseRule(strings.Fields(what))
		keys := []string{program}
		for word := range strings.FieldsSeq(subs) {
			var longer []string
			for _, key := range keys {
				if _, ok := rules[key]; !ok {
					rules[key] = nil
				}
				for one := range strings.SplitSeq(word, "|") {
					longer = append(longer, key+" "+one)
				}
			}
			keys = longer
		}
		for _, key := range keys {
			rules[key] = r
		}
	}
	return rules
}

func parseRule(words []string) *rule {
	r := &rule{prefix: -1, reads: len(words) == 0}
	for _, word := range words {
		key, list, isList := strings.Cut(word, "=")
		values := strings.Split(list, ",")
		switch {
		case word[0] == '-':
			r.valued = append(r.valued, strings.TrimSuffix(word, ":"))
		case key == "only":
			r.only = values
		case key == "unless":
			r.unless = values
		case key == "into":
			r.into = values
			r.valued = append(r.valued, values...)
		case key == "run":
			r.run = values
			r.valued = append(r.valued, values...)
		case key == "chdir":
			r.chdir = values
			r.valued = append(r.valued, values...)
		case key == "destroys" && isList:
			r.destroys = values
		case key == "prefix":
			r.prefix = int(list[0] - '0')
		case word == "here":
			r.here = true
		case word == "git":
			r.e.Git, r.e.Below, r.here = true, true, true
		case word == "index":
			r.e.Git, r.index, r.here = true, true, true
		case word == "given":
			r.given = true
		case word == "dashes":
			r.dashes = true
		case word == "text":
			r.text = true
		case word == "unknown":
			r.unknown = true
		case word == "private":
			r.private = true
		case word == "below":
			r.e.Below = true
		case word == "destroys":
			r.e.Destroys = true
		case word == "remote":
			r.remote = true
		default:
			r.which = word
		}
	}
	return r
}

// byTable follows a program of the table, and reports whether it is in it. A rule for a
// subcommand goes before that for the program.
func (c *call) byTable() bool {
	r, _ := find(c.name)
	for key, args, sc := c.name, c.args, c.sc; ; {
		sub, rest, inner := subcommand(&call{w: c.w, sc: sc}, r, args)
		next, ok := find(key + " " + sub)
		if sub == "" || !ok {
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
	c.apply(r)
	return true
}

// subcommand returns the first word of args and what stands behind it. The flags before it
// are those of r; they may choose a directory.
func subcommand(c *call, r *rule, args []value) (sub string, rest []value, sc *scope) {
	sc = c.sc
	for i := 0; i < len(args); i++ {
		s := args[i].text
		switch {
		case r != nil && slices.Contains(r.chdir, s) && i+1 < len(args):
			i++
			sc = sc.at(c.w, args[i])
		case r != nil && slices.Contains(r.valued, s):
			i++
		case len(s) > 1 && (s[0] == '-' || s[0] == '+'):
			if flag, dir, ok := strings.Cut(s, "="); ok && r != nil && slices.Contains(r.chdir, flag) {
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
func (c *call) apply(r *rule) {
	if r.reads {
		return
	}
	c.options = parse(c.args, r.valued, r.prefix >= 0)
	if dir, ok := c.value(r.chdir...); ok {
		c.sc = c.sc.at(c.w, dir)
	}
	for _, o := range c.values {
		if slices.Contains(r.run, o.flag) {
			c.text(c.sc.clone(), o.value)
		}
	}
	if r.prefix >= 0 {
		targets, _ := c.targets(r)
		c.effect(Effect{Op: c.name}, targets...)
		if i := slices.IndexFunc(c.args, func(a value) bool { return a.text == "--" }); r.dashes && i >= 0 {
			c.again(c.args[i+1:])
		} else if rest := c.words[min(r.prefix, len(c.words)):]; len(rest) > 1 && rest[0].text == "-c" {
			c.text(c.sc.clone(), rest[1])
		} else if !c.has(r.unless...) {
			c.again(rest)
		}
		return
	}
	if c.has("--help", "--version") || c.says(r.unless) || r.only != nil && !c.says(r.only) || r.unknown && r.only == nil {
		if r.unknown {
			c.w.unknown(c.name)
		}
		return
	}
	if r.text {
		texts, _ := c.targets(r)
		if r.which == "" {
			c.text(c.sc, c.words...)
		}
		for _, text := range texts {
			c.text(c.sc.clone(), text)
		}
		return
	}
	e := r.e
	e.Op = c.name
	for _, flag := range append(append([]string(nil), r.only...), r.destroys...) {
		if c.says([]string{flag}) {
			e.Op += " " + flag
			break
		}
	}
	if c.says(r.destroys) {
		e.Below, e.Destroys = true, true
	}
	if c.into(r, e) {
		return
	}
	targets, stdin := c.targets(r)
	if len(targets) == 0 && r.here && !stdin && (!r.given || len(c.words) > 0) {
		targets = []value{here}
	}
	c.effect(e, targets...)
}

// into records what the flags name that say where the output goes.
func (c *call) into(r *rule, e Effect) (named bool) {
	for _, o := range c.values {
		if slices.Contains(r.into, o.flag) {
			named = true
			if o.value.text != "-" || o.value.open {
				c.effect(e, o.value)
			}
		}
	}
	return named
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
func (c *call) targets(r *rule) (targets []value, stdin bool) {
	words := c.words
	n := len(words)
	switch r.which {
	case "all":
	case "first":
		words = words[:min(n, 1)]
	case "second":
		words = words[min(n, 1):min(n, 2)]
	case "last":
		words = words[max(n-1, min(n, 1)):]
	case "final":
		words = words[max(n-1, 0):]
	case "rest":
		words = words[min(n, 1):]
	case "third":
		words = words[min(n, 2):]
	case "clone": // the directory, or else the name of the repository
		if n == 1 {
			name := strings.TrimSuffix(strings.TrimSuffix(words[0].text, "/"), ".git")
			return []value{{text: name[strings.LastIndexAny(name, "/:")+1:], open: words[0].open, names: true}}, false
		}
		words = words[min(n, 1):min(n, 2)]
	default:
		return nil, false
	}
	for _, v := range words {
		switch {
		case v.text == "-" && !v.open:
			stdin = true
		case !r.remote || !strings.Contains(v.text, ":"):
			targets = append(targets, v)
		}
	}
	return targets, stdin
}
