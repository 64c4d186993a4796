package shell

import (
	"path"
	"slices"
	"strings"
)

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
			if len(path.Ext(v.text)) > 1 ||
				slices.ContainsFunc(args, func(a value) bool { return strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "d") }) {
				names[len(names)-1] = v
			}
		}
		return names
	case "fd", "fdfind":
		o := parse(args, []string{"-e", "--extension", "-t", "--type", "-E", "--exclude", "-d", "--max-depth", "-c", "-S", "-j"}, false)
		name, roots := found, []value{{text: "."}}
		if ext, ok := o.value("-e", "--extension"); ok {
			name = value{text: "x." + ext.text}
		}
		if len(o.words) > 1 { // behind the pattern
			roots = o.words[1:]
		}
		var names []value
		for _, root := range roots {
			names = append(names, root.plus(value{text: "/"}).plus(name))
		}
		return names
	}
	var names []value // the words of grep behind the pattern, and what is below them
	o := parse(args, []string{"-e", "-f", "-g", "-t", "-T", "-A", "-B", "-C", "-m", "--glob", "--type", "--include", "--exclude", "--exclude-dir", "--regexp"}, false)
	words := o.words
	if !o.has("-e", "-f", "--regexp", "--files") && len(words) > 0 {
		words = words[1:]
	}
	for _, v := range words {
		names = append(names, value{text: strings.TrimSuffix(v.text, "/") + "/" + anyDepth + "/", open: true, names: true})
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
		if words = append(words, value{text: s}); len(words) == maxWords {
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
	if repl == "" || !slices.ContainsFunc(command, func(v value) bool { return strings.Contains(v.source(), repl) }) {
		c.w.run(c.sc.clone(), slices.Concat(command, names))
		return
	}
	for _, name := range names {
		sc := c.sc.clone()
		var words []value
		for _, v := range command {
			words = append(words, substitute(v, repl, name))
		}
		c.w.run(sc, words)
	}
}

// substitute returns v with name in the place of repl.
func substitute(v value, repl string, name value) value {
	before, after, ok := strings.Cut(v.source(), repl)
	if !ok {
		return v
	}
	head := value{text: before}
	if v.open && len(before) > len(v.text) {
		head = value{text: v.text, open: true, names: v.names, rest: before}
	}
	return head.plus(name).plus(substitute(value{text: after}, repl, name))
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
		if !strings.Contains(text.source(), "{}") {
			text = text.plus(value{text: " {}"})
		}
		c.text(sc, substitute(text, "{}", name))
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
	depth := anyDepth + "/"
	if i := slices.IndexFunc(s.actions, func(a value) bool { return a.text == "-maxdepth" }) + 1; i > 0 && i < len(s.actions) {
		if most := s.actions[i].text; most == "0" || most == "1" {
			depth = ""
		}
	}
	for _, root := range s.roots {
		if len(s.patterns) == 0 {
			names = append(names, root.plus(value{text: "/" + depth}).plus(value{open: true, names: true}))
		}
		for _, pattern := range s.patterns[:min(maxWords, len(s.patterns))] {
			if dir := strings.TrimRight(pattern, "*"); strings.Contains(dir, "/") && !strings.HasSuffix(dir, "/") {
				pattern = dir // what */dir* finds is likeliest that
			}
			name := depth + strings.NewReplacer("*", anyName, "?", anyLetter, "[", "", "]", "").Replace(pattern)
			if strings.Contains(pattern, "/") { // of the whole path
				name = strings.TrimPrefix(strings.TrimPrefix(name, depth), root.text)
			}
			names = append(names, root.plus(value{text: "/" + name}))
		}
	}
	return names
}

func (c *call) find() {
	s := parseFind(c.args)
	names := s.names()
	for i, a := range s.actions {
		rest := s.actions[i+1:]
		switch a.text {
		case "-delete":
			c.effect(Effect{Op: "find -delete", Below: true, Destroys: true}, names...)
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
			if slices.ContainsFunc(command, func(v value) bool { return strings.Contains(v.source(), "{}") }) {
				c.each(command, "{}", names)
			} else {
				c.w.run(c.sc.clone(), command)
			}
		}
	}
}
