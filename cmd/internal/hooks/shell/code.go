package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// A token is a part of a program in another language.
type token struct {
	kind  byte // n: a name, with those that it is a member of; s: a string; or the character itself
	text  string
	begin string // of a string: what it may begin with up to its quote, such as f"
}

// tokens splits a program. A name that is a member of an expression begins with a dot.
func tokens(s string) (all []token) {
	isName := func(c byte) bool { return c == '$' || strings.IndexByte(letters, c) >= 0 }
	for i := 0; i < len(s) && len(all) < 20000; {
		c, from := s[i], i
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case isName(c) || c == '.' && i+1 < len(s) && isName(s[i+1]):
			for i++; i < len(s) && (isName(s[i]) || s[i] == '.' && i+1 < len(s) && isName(s[i+1])); i++ {
			}
			if name := s[from:i]; i < len(s) && strings.IndexByte("'\"", s[i]) >= 0 && strings.Trim(name, "rbufRBUF") == "" {
				t, n := stringAt(s[i:])
				t.begin = name + t.begin
				all, i = append(all, t), i+n
			} else {
				all = append(all, token{kind: 'n', text: name})
			}
		default:
			t, n := stringAt(s[i:])
			all, i = append(all, t), i+n
		}
	}
	return all
}

// stringAt returns the string that s begins with, or its first character.
func stringAt(s string) (t token, n int) {
	quote := s[:1]
	switch {
	case strings.HasPrefix(s, `"""`), strings.HasPrefix(s, "'''"):
		quote = s[:3]
	case quote != "'" && quote != `"` && quote != "`":
		return token{kind: s[0], text: quote}, 1
	}
	for i := len(quote); i < len(s) && (s[i] != '\n' || len(quote) == 3 || quote == "`"); i++ {
		if s[i] == '\\' {
			i++
		} else if strings.HasPrefix(s[i:], quote) {
			return token{kind: 's', text: s[len(quote):i], begin: quote}, i + len(quote)
		}
	}
	return token{kind: s[0], text: s[:1]}, 1
}

// A code is a program in another language, which is searched and not parsed.
type code struct {
	c      *call
	op     string
	tokens []token
	args   []value // of the program
	vague  bool    // something is written whose place cannot be told
}

// modules are what functions of files are members of.
const modules = " os fs fsp fsPromises promises shutil File IO FileUtils Deno Bun io codecs "

// follow records what a program writes. If the place of something that it writes cannot be
// told, every path in it counts; one that is relative, or none at all, means here.
func (c *call) follow(op, text string, args []value) {
	p := &code{c: c, op: op, tokens: tokens(text), args: args}
	for i, t := range p.tokens {
		if t.kind != 'n' || i+1 == len(p.tokens) {
			continue
		}
		if next := p.tokens[i+1]; next.kind == '(' {
			p.called(i, t.text, arguments(p.tokens[i+2:]))
		} else if t.text == "unlink" && next.kind != '=' && next.kind != ',' { // of Perl
			p.vague = true
		}
	}
	if p.vague {
		p.everyPath()
	}
}

// called follows a call of a function, whose name is the i-th token.
func (p *code) called(i int, name string, args [][]token) {
	dot := strings.LastIndexByte(name, '.')
	owner, last := name[:max(dot, 0)], name[dot+1:]
	last, sync := strings.CutSuffix(last, "Sync")
	module := owner[strings.LastIndexByte(owner, '.')+1:]
	isModule := strings.Contains(modules, " "+module+" ") || dot < 0 && sync ||
		dot == 0 && i > 3 && p.tokens[i-4].text == "require"
	arg := func(n int) {
		if n < len(args) {
			p.write(args[n])
		}
	}
	receiver := func() {
		switch {
		case dot > 0:
			p.write([]token{{kind: 'n', text: owner}})
		case dot == 0:
			p.write(p.receiver(i))
		}
	}
	switch last {
	case "writeFile", "appendFile", "outputFile", "writeJson", "writeJSON", "createWriteStream", "file_put_contents", "writeTextFile",
		"rmtree", "removedirs", "binwrite", "rm_rf", "rm_r", "rm_f", "remove_dir", "remove_entry":
		arg(0)
	case "write", "remove", "truncate", "chmod", "rm", "delete":
		if isModule && (last != "write" || module == "File" || module == "IO" || module == "Bun") {
			arg(0)
		}
	case "unlink", "rmdir", "touch":
		if isModule {
			arg(0)
		} else {
			receiver()
		}
	case "write_text", "write_bytes", "hardlink_to", "symlink_to":
		receiver()
	case "rename", "renames", "replace", "move", "mv":
		if isModule {
			arg(0)
			arg(1)
		}
	case "copy", "copy2", "copyfile", "copytree", "copyFile", "cp", "cp_r", "symlink", "link", "ln", "ln_s", "ln_sf":
		if isModule {
			arg(1)
		}
	case "open", "fopen":
		switch {
		case len(args) > 1 && strings.HasPrefix(strings.TrimLeft(args[1][0].text, " +"), ">"): // of Perl
			arg(2)
			p.vague = len(args) == 2
		case dot < 0 || isModule:
			if len(args) > 1 && slices.ContainsFunc(args[1:], isWriting) {
				arg(0)
			}
		case slices.ContainsFunc(args, isWriting) && !strings.Contains(" webbrowser Image gzip zipfile tarfile ", " "+module+" "):
			receiver()
		}
	case "extractall":
		p.vague = true
	case "input":
		p.vague = p.vague || module == "fileinput" && slices.ContainsFunc(args, func(a []token) bool { return a[0].text == "inplace" })
	case "system", "popen", "execFile", "exec", "spawn", "run", "call", "check_call", "check_output", "Popen", "getoutput":
		if sync || last == "system" || dot < 0 && last != "run" && last != "call" || module == "subprocess" || module == "os" || module == "child_process" ||
			dot == 0 && isModule {
			p.runs(args)
		}
	}
}

// isWriting reports whether an argument is the mode of a file that is opened for writing.
func isWriting(arg []token) bool {
	if len(arg) == 3 && arg[0].text == "mode" {
		arg = arg[2:]
	}
	return len(arg) == 1 && arg[0].kind == 's' && len(arg[0].text) < 5 && strings.IndexAny(strings.TrimLeft(arg[0].text, "rbt"), "wax+") == 0
}

// write records that what an expression names is written.
func (p *code) write(expr []token) {
	if v, ok := p.place(expr, 0); ok {
		p.c.effect(Effect{Op: p.op}, v)
	} else {
		p.vague = true
	}
}

func (p *code) everyPath() {
	var found []value
	for _, t := range p.tokens {
		s := t.text
		if t.kind != 's' || len(s) < 3 || len(s) > 200 || strings.Trim(s, letters+"/.@+*~-") != "" || !strings.ContainsAny(s, "/.") || strings.Trim(s, "./*") == "" {
			continue
		}
		if !isAbs(s) {
			found = nil
			break
		}
		found = append(found, value{text: s})
	}
	if found == nil {
		found = []value{here}
	}
	p.c.effect(Effect{Op: p.op}, found...)
}

// runs follows a command that the program runs.
func (p *code) runs(args [][]token) {
	sc := p.c.sc.clone()
	var words []value
	for _, a := range args {
		if i := slices.IndexFunc(a, func(t token) bool { return t.text == "cwd" }); i >= 0 && i+2 < len(a) {
			dir, ok := p.place(a[i+2:], 0)
			if sc.dir = ""; ok {
				sc.dir, _ = p.c.w.locate(p.c.sc, dir)
			}
		}
	}
	for i, a := range args[:min(2, len(args))] {
		switch {
		case i == 0 && a[0].kind == 's' && len(args) > 1 && args[1][0].kind == '[', a[0].kind == '[':
			for _, t := range a {
				if t.kind == 's' {
					words = append(words, value{text: t.text})
				}
			}
		case i == 0:
			if v, ok := p.place(a, 0); ok {
				p.c.w.script(sc, v.source(sc, p.c.w))
			}
			return
		}
	}
	p.c.w.run(sc, words)
}

// arguments splits what stands behind an open parenthesis, up to the one that closes it.
func arguments(list []token) (args [][]token) {
	depth, from := 0, 0
	for i, t := range list {
		switch t.kind {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if depth < 0 || depth == 0 && t.kind == ',' {
			if i > from {
				args = append(args, list[from:i])
			}
			if from = i + 1; depth < 0 {
				break
			}
		}
	}
	for i := range args {
		for len(args[i]) > 1 && args[i][0].kind == '\n' {
			args[i] = args[i][1:]
		}
	}
	return args
}

// receiver returns the expression that ends before the i-th token.
func (p *code) receiver(i int) []token {
	for end, depth := i, 0; i > 0; {
		switch i--; p.tokens[i].kind {
		case ')', ']':
			depth++
			continue
		case '(', '[':
			depth--
		}
		if depth > 0 {
			continue
		}
		if i > 0 && p.tokens[i-1].kind == 'n' {
			if i--; p.tokens[i].text[0] == '.' {
				continue
			}
		}
		return p.tokens[i:end]
	}
	return nil
}

// builders are functions that make a path of their arguments.
const builders = " Path PurePath str join resolve abspath expanduser realpath normpath glob iglob rglob walk listdir sorted list readdir URL String open joinpath globSync readdirSync "

// place returns what an expression stands for, as far as its beginning tells.
func (p *code) place(expr []token, depth int) (v value, ok bool) {
	for i, t := range expr {
		rest := expr[i+1:]
		switch {
		case t.kind == '(' || t.kind == '[' || t.kind == '\n':
			continue
		case t.kind == 's':
			v, ok = value{text: t.text}, t.text != ""
			if at := strings.IndexAny(t.text, "{$"); at >= 0 && (strings.ContainsAny(t.begin, "fF`")) {
				return value{text: t.text[:at], open: true, names: true}, at > 0
			}
		case t.kind != 'n' || depth > 5:
			return v, false
		default:
			dot := strings.LastIndexByte(t.text, '.')
			owner, last := t.text[:max(dot, 0)], t.text[dot+1:]
			first, _, _ := strings.Cut(t.text, ".")
			switch {
			case last == "argv" || last == "args" && owner == "Deno" || last == "ARGV":
				if v, ok = p.argument(last, rest); !ok {
					return v, false
				}
				rest = rest[min(3, len(rest)):]
			case last == "cwd" || last == "getcwd" || first == "__dirname" || first == "__file__":
				v, ok = here, true
			case owner == "tempfile" || last == "tmpdir" || last == "mkdtemp" || last == "mkdtempSync" || last == "gettempdir":
				return value{text: "/tmp/x"}, true
			default:
				if v, ok = p.named(first, depth); ok && first != t.text {
					v.text, v.open, v.names = v.text+"/", true, true
				}
				if !ok && len(rest) > 0 && rest[0].kind == '(' && strings.Contains(builders, " "+last+" ") {
					continue
				}
			}
		}
		for len(rest) > 0 && strings.IndexByte("()]\n", rest[0].kind) >= 0 {
			rest = rest[1:]
		}
		if len(rest) > 0 && ok && !v.open {
			if v.open, v.names = true, true; rest[0].kind != '+' {
				v.text += "/"
			}
		}
		return v, ok
	}
	return v, false
}

// argument returns an argument of the program, whose number follows.
func (p *code) argument(list string, index []token) (value, bool) {
	if len(index) < 2 || index[0].kind != '[' {
		return value{}, false
	}
	n, err := strconv.Atoi(index[1].text)
	if list == "argv" {
		n--
	}
	if err != nil || n < 0 || n >= len(p.args) {
		return value{}, false
	}
	return p.args[n], true
}

// named returns the value of a variable: what is assigned to it, or what it goes through.
func (p *code) named(name string, depth int) (value, bool) {
	for i, t := range p.tokens {
		if t.kind != 'n' || t.text != name || i+2 >= len(p.tokens) {
			continue
		}
		ends := ""
		switch at := i + 1; {
		case i > 0 && p.tokens[i-1].text == "as":
			from := i - 1
			for from > 0 && p.tokens[from-1].text != "with" && p.tokens[from-1].kind != '\n' {
				from--
			}
			return p.place(p.tokens[from:i-1], depth+1)
		case p.tokens[at].kind == '=' && p.tokens[at+1].kind != '=' && p.tokens[at+1].kind != '>':
			ends = "\n;"
		default:
			for at+1 < len(p.tokens) && (p.tokens[at].kind == ',' && p.tokens[at+1].kind == 'n') {
				at += 2
			}
			if at+1 >= len(p.tokens) || p.tokens[at].text != "in" && p.tokens[at].text != "of" {
				continue
			}
			i, ends = at-1, "\n:"
		}
		rhs := p.tokens[i+2:]
		nested := 0
		for j, t := range rhs {
			if t.kind == '(' || t.kind == '[' {
				nested++
			} else if t.kind == ')' || t.kind == ']' {
				nested--
			}
			if nested < 0 || nested == 0 && strings.IndexByte(ends, t.kind) >= 0 {
				rhs = rhs[:j]
				break
			}
		}
		return p.place(rhs, depth+1)
	}
	return value{}, false
}

// interpreter follows python, node and the like: a text behind -c or -e, or what they read.
func (c *call) interpreter() {
	letter, edits, joins := "e", c.name == "perl" || c.name == "ruby", true
	switch {
	case strings.HasPrefix(c.name, "python"), c.name == "pypy3", c.name == "ipython":
		letter = "c"
	case c.name == "php":
		letter = "r"
	case !edits:
		joins = false
	}
	inPlace := false
	for i, a := range c.args {
		s := a.text
		switch {
		case len(s) < 2 || s[0] != '-':
			switch {
			case inPlace:
				c.effect(Effect{Op: c.name + " -i"}, c.args[i:]...)
			case s == "-":
				c.reads(c.args[i+1:])
			default:
				c.w.unknown(path.Base(s))
			}
			return
		case s == "--version" || s == "-V" || s == "--help" || s == "-v" && !edits || s == "--check" || s == "--test":
			return
		case s == "-m" && letter == "c":
			c.module(c.args[i+1:])
			return
		}
		switches, _, _ := strings.Cut(s[1:], ".")
		if s[1] == '-' || s[1] == 'M' || s[1] == 'I' {
			switches = ""
		}
		at := strings.Index(switches, letter)
		if n := strings.IndexByte(switches, 'i'); edits && n >= 0 && (at < 0 || n < at) {
			inPlace = true
		}
		if at < 0 && (joins || s != "--eval" && s != "--print" && s != "-p") {
			continue
		}
		text, behind := value{}, c.args[i+1:]
		if joins && at+1 < len(switches) {
			text.text = s[at+2:]
		} else if len(behind) > 0 {
			text, behind = behind[0], behind[1:]
		}
		if !inPlace {
			c.follow(c.name+" "+s, text.all(), behind)
			return
		}
		for len(behind) > 1 && behind[0].text == "-e" {
			behind = behind[2:]
		}
		c.effect(Effect{Op: c.name + " -i"}, parse(behind, nil, true).words...)
		return
	}
	if !inPlace { // else find -exec names the files
		c.reads(nil)
	}
}

// reads follows the program that an interpreter reads.
func (c *call) reads(args []value) {
	if !c.w.in.known {
		c.w.unknown(c.name)
		return
	}
	c.follow(c.name+" -", c.w.in.text, args)
}

// module follows python -m. A program of the table is what it is without that.
func (c *call) module(args []value) {
	if len(args) == 0 {
		return
	}
	if r, _ := find(args[0].text); len(r) > 0 {
		c.again(args)
	} else {
		c.w.unknown(c.name + " -m " + args[0].text)
	}
}
