package shell

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A pattern is a regular expression that is compiled when it is first used.
type pattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

// Calls that change files, in the languages of interpreters. What stands behind the match
// are their arguments.
var (
	// with the file as the receiver
	codeMethods = pattern{expr: `([\w.\])"']+)\s*\.\s*(?:write_text|write_bytes|unlink|rmdir|touch|hardlink_to|symlink_to|open)\s*\(`}
	// with the file as the first argument
	codeFirst = pattern{expr: `\b(?:os\.(?:remove|unlink|rmdir|truncate|removedirs|chmod)|shutil\.rmtree|(?:fs\w*\.)?(?:promises\.)?(?:writeFile|appendFile|outputFile|writeJson|writeJSON|truncate|unlink|rm|rmdir)Sync|(?:fs\w*|fs\.promises|promises|require\(['"](?:node:)?fs(?:/promises)?['"]\)(?:\.promises)?)\.(?:writeFile|appendFile|unlink|rm|rmdir|truncate|outputFile)(?:Sync)?|writeFile|appendFile|(?:fs\.)?createWriteStream|File\.(?:write|binwrite|delete|unlink|truncate)|IO\.write|FileUtils\.(?:rm\w*|touch|remove\w*)|Deno\.(?:writeTextFile|writeFile|remove|truncate)(?:Sync)?|Bun\.write|file_put_contents)\s*\(\s*`}
	// with two files, of which the second one is written
	codeSecond = pattern{expr: `\b(os\.(?:rename|replace|symlink|link|renames)|shutil\.(?:move|copy\w*)|(?:fs\w*\.)?(?:promises\.)?(?:rename|copyFile|cp|symlink|link)(?:Sync)?|File\.(?:rename|symlink)|FileUtils\.(?:mv|cp\w*|move|copy\w*|ln\w*))\s*\(\s*`}
	// with a mode as the second argument
	codeOpens = pattern{expr: `(?:^|[^.\w])(?:io\.|codecs\.|File\.|fs\.)?(?:open|openSync|fopen)\s*\(\s*`}
	// whose place cannot be told
	codeWrites = pattern{expr: `\.extractall\s*\(|inplace\s*=\s*(?:True|1)\b[^)]*\)\s*(?::|as)|fileinput\.input\([^)]*inplace|\bunlink\s+[\w$"']|open\s*\(?\s*(?:my\s+)?\$?\w+\s*,\s*['"]\s*[+]?>`}
	codeMode   = pattern{expr: `^(?:mode\s*=\s*)?[rbu]?['"](?:[rbt]*[wax+])`}

	codeRuns   = pattern{expr: `(?:os\.system|os\.popen|subprocess\.(?:run|call|check_call|check_output|Popen|getoutput)|execSync|execFileSync|spawnSync|child_process\.exec|\bexec|\bspawn|\bsystem)\s*\(\s*`}
	codeCwd    = pattern{expr: `\bcwd\s*[=:]\s*([^,)}]+)`}
	codeString = pattern{expr: `'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"`}
	codePath   = pattern{expr: `^(~|\.{0,2}/|/)?[\w.@+*-]+(/[\w.@+*-]+)*/?$`}
)

// A code is a program in another language, which is searched and not parsed.
type code struct {
	c    *call
	op   string
	text string
	args []value // of the program
}

// follow records what the program writes. If the place of something that it writes cannot
// be told, every path in it counts; one that is relative, or none at all, means here.
func (p code) follow() {
	p.runs()
	all := true
	write := func(v value, ok bool) {
		if !ok {
			all = false
			return
		}
		p.c.effect(Effect{Op: p.op}, v)
	}
	for _, m := range codeOpens.get().FindAllStringIndex(p.text, 100) {
		args := arguments(p.text[m[1]:])
		if len(args) > 1 && codeMode.get().MatchString(args[1]) {
			write(p.value(args[0], 0))
		}
	}
	for _, m := range codeMethods.get().FindAllStringSubmatchIndex(p.text, 100) {
		receiver := p.text[m[2]:m[3]]
		args := arguments(p.text[m[1]:])
		opens := strings.HasSuffix(strings.TrimRight(p.text[:m[1]], "( "), "open")
		switch {
		case slices.Contains([]string{"fs", "fsp", "os", "io", "codecs", "File", "Deno", "promises", "fs.promises", "fsPromises", "webbrowser", "Image", "gzip", "zipfile", "tarfile"}, receiver):
		case opens && (len(args) == 0 || !codeMode.get().MatchString(args[0])):
		default:
			write(p.value(p.receiver(m[2], m[3]), 0))
		}
	}
	for _, m := range codeFirst.get().FindAllStringIndex(p.text, 100) {
		if args := arguments(p.text[m[1]:]); len(args) > 0 {
			write(p.value(args[0], 0))
		}
	}
	for _, m := range codeSecond.get().FindAllStringSubmatchIndex(p.text, 100) {
		args := arguments(p.text[m[1]:])
		if len(args) < 2 {
			continue
		}
		if name := p.text[m[2]:m[3]]; strings.Contains(name, "rename") || strings.Contains(name, "move") || strings.HasSuffix(name, "replace") || strings.HasSuffix(name, ".mv") {
			write(p.value(args[0], 0))
		}
		write(p.value(args[1], 0))
	}
	if all && !codeWrites.get().MatchString(p.text) {
		return
	}
	p.everyPath()
}

func (p code) everyPath() {
	var found []value
	for _, m := range codeString.get().FindAllStringSubmatch(p.text, 100) {
		s := m[1] + m[2]
		if len(s) < 3 || len(s) > 200 || !codePath.get().MatchString(s) || !strings.ContainsAny(s, "/.") || strings.Trim(s, "./*") == "" {
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

// runs follows the commands that the program runs.
func (p code) runs() {
	for _, m := range codeRuns.get().FindAllStringIndex(p.text, 20) {
		if m[0] > 0 && p.text[m[0]-1] == '.' && strings.HasPrefix(p.text[m[0]:], "exec(") { // of a regular expression
			continue
		}
		args := arguments(p.text[m[1]:])
		if len(args) == 0 {
			continue
		}
		sc := p.c.sc.clone()
		for _, a := range args[1:] {
			if cwd := codeCwd.get().FindStringSubmatch(a); cwd != nil {
				dir, ok := p.value(cwd[1], 0)
				if sc.dir = ""; ok {
					sc.dir, _ = p.c.w.locate(p.c.sc, dir)
				}
			}
		}
		first := args[0]
		var words []value
		if list := first; strings.HasPrefix(list, "[") || len(args) > 1 && strings.HasPrefix(args[1], "[") {
			if !strings.HasPrefix(list, "[") {
				list += "," + args[1]
			}
			for _, s := range codeString.get().FindAllStringSubmatch(list, 100) {
				words = append(words, value{text: s[1] + s[2]})
			}
			p.c.w.run(sc, words)
		} else if v, ok := p.value(first, 0); ok {
			p.c.w.script(sc, v.source(sc, p.c.w))
		}
	}
}

// arguments splits what stands behind an open parenthesis, up to the one that closes it.
func arguments(text string) (args []string) {
	depth, start := 0, 0
	var quote byte
	for i := 0; i < len(text) && i < 4000; i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case (c == ')' || c == ']' || c == '}') && depth > 0:
			depth--
		case c == ')' || c == ';' || c == '\n' && depth == 0 && len(args) == 0 && strings.TrimSpace(text[start:i]) != "":
			if s := strings.TrimSpace(text[start:i]); s != "" {
				args = append(args, s)
			}
			return args
		case c == ',' && depth == 0:
			args = append(args, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return args
}

// receiver returns the expression that ends at end: a name, or a call whose parenthesis
// closes there.
func (p code) receiver(start, end int) string {
	if p.text[end-1] != ')' {
		return p.text[start:end]
	}
	depth := 0
	for i := end - 1; i >= 0; i-- {
		switch p.text[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				for i > 0 && (p.text[i-1] == '.' || p.text[i-1] == '_' || isLetter(p.text[i-1])) {
					i--
				}
				return p.text[i:end]
			}
		}
	}
	return ""
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

var (
	codeLiteral = pattern{expr: "(?s)^([rbuRBUfF]{0,2})(?:'([^']*)'|\"([^\"]*)\"|`([^`]*)`)$"}
	codeArgv    = pattern{expr: `^(?:sys\.argv|process\.argv|ARGV|\$argv|Deno\.args)\[(\d+)\]$`}
	codeCall    = pattern{expr: `^((?:new\s+)?[\w.]+)\(`}
	codeName    = pattern{expr: `^[A-Za-z_$]\w*$`}
	codeOwner   = pattern{expr: `^([A-Za-z_$]\w*)[.\[]`}
)

// value returns what an expression stands for, as far as the text tells it.
func (p code) value(expr string, depth int) (value, bool) {
	expr = strings.TrimSpace(expr)
	if depth > 5 || expr == "" {
		return value{}, false
	}
	if m := codeLiteral.get().FindStringSubmatch(expr); m != nil {
		s := m[2] + m[3] + m[4]
		if strings.ContainsAny(m[1], "fF") || m[4] != "" {
			if i := strings.IndexAny(s, "{$"); i >= 0 {
				return value{text: s[:i], open: true, names: i > 0}, i > 0
			}
		}
		return value{text: s}, s != ""
	}
	if inner, ok := strings.CutPrefix(expr, "("); ok && strings.HasSuffix(expr, ")") {
		return p.value(strings.TrimSuffix(inner, ")"), depth+1)
	}
	if left, right, ok := operands(expr); ok {
		v, ok := p.value(left, depth+1)
		if next, known := p.value(right, depth+1); ok && known && !v.open {
			return v.plus(value{text: "/"}).plus(next), true
		}
		return value{text: v.text + "/", open: true, names: true}, ok && v.text != ""
	}
	if m := codeArgv.get().FindStringSubmatch(expr); m != nil {
		n, _ := strconv.Atoi(m[1])
		if !strings.HasPrefix(expr, "ARGV") && !strings.HasPrefix(expr, "Deno") {
			n--
		}
		if n >= 0 && n < len(p.args) {
			return p.args[n], true
		}
		return value{}, false
	}
	if strings.Contains(expr, "tempfile.") || strings.Contains(expr, "tmpdir()") || strings.Contains(expr, "gettempdir()") || strings.Contains(expr, "mkdtemp") {
		return value{text: "/tmp/x"}, true
	}
	if m := codeCall.get().FindStringSubmatchIndex(expr); m != nil {
		return p.callValue(expr[m[2]:m[3]], arguments(expr[m[1]:]), depth)
	}
	if codeName.get().MatchString(expr) {
		return p.named(expr, depth)
	}
	if m := codeOwner.get().FindStringSubmatch(expr); m != nil {
		v, ok := p.named(m[1], depth)
		return value{text: v.text, open: true, names: true}, ok
	}
	return value{}, false
}

// operands splits what joins paths, as "a / b" of Python, or texts.
func operands(expr string) (left, right string, ok bool) {
	depth := 0
	var quote byte
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case (c == '/' || c == '+') && depth == 0 && i > 0:
			return expr[:i], expr[i+1:], true
		}
	}
	return "", "", false
}

// callValue returns what a call stands for that makes a path of its arguments.
func (p code) callValue(name string, args []string, depth int) (value, bool) {
	switch last := name[strings.LastIndexAny(name, ". ")+1:]; last {
	case "cwd", "getcwd":
		return here, true
	case "Path", "PurePath", "str", "join", "resolve", "abspath", "expanduser", "realpath", "normpath", "glob", "iglob", "rglob", "walk", "listdir", "sorted", "list", "globSync", "readdirSync", "URL", "String", "open":
		if owner := name[:max(0, strings.LastIndexByte(name, '.'))]; (last == "rglob" || last == "glob") && owner != "glob" && owner != "" {
			v, ok := p.value(owner, depth+1)
			return value{text: v.text + "/", open: true, names: true}, ok
		}
		if len(args) == 0 {
			return here, last == "Path"
		}
		v, ok := p.value(args[0], depth+1)
		if !ok || last != "join" && last != "resolve" && last != "Path" {
			if v.names = true; last == "walk" || last == "listdir" || last == "readdirSync" {
				v.text, v.open = v.text+"/", true
			}
			return v, ok
		}
		for _, a := range args[1:] {
			next, known := p.value(a, depth+1)
			if v = v.plus(value{text: "/"}); !known {
				return value{text: v.text, open: true, names: true}, true
			}
			v = v.plus(next)
		}
		return v, true
	}
	return value{}, false
}

// named returns the value of a variable: what is assigned to it, or what it goes through.
func (p code) named(name string, depth int) (value, bool) {
	if name == "__dirname" {
		return here, true
	}
	q := regexp.QuoteMeta(name)
	assigned := regexp.MustCompile(`(?m)(?:^|[^.\w=!<>])` + q + `\s*=\s*([^=\n;][^\n;]*)|\b(?:for|for await)\s*\(?\s*(?:const |let |var )?` + q + `(?:\s*,\s*\w+)*\s+(?:in|of)\s+([^\n:]+)|([^\n]+?)\s+as\s+` + q + `\b`)
	m := assigned.FindStringSubmatch(p.text)
	if m == nil {
		return value{}, false
	}
	rhs := strings.TrimSpace(m[1] + m[2])
	switch {
	case m[3] != "":
		rhs = m[3]
	case strings.HasPrefix(rhs, "[") || strings.HasPrefix(rhs, "("):
		var all []value
		for _, s := range codeString.get().FindAllStringSubmatch(rhs, 100) {
			if v := []value{{text: s[1] + s[2]}}; all == nil {
				all = v
			} else {
				all = common(all, v)
			}
		}
		if all == nil {
			return value{}, false
		}
		return all[0], true
	}
	if i := strings.IndexByte(rhs, ')'); m[2] != "" && strings.Count(rhs, "(") < strings.Count(rhs, ")") && i >= 0 {
		rhs = rhs[:strings.LastIndexByte(rhs, ')')]
	}
	return p.value(rhs, depth+1)
}

// interpreter follows python, node and the like: a text behind -c or -e, or what they read.
func interpreter(c *call) {
	if c.name == "deno" {
		if c.arg(0) == "eval" {
			code{c, "deno eval", c.args[len(c.args)-1].all(), nil}.follow()
		} else {
			c.byTable()
		}
		return
	}
	perl := c.name == "perl" || c.name == "ruby"
	inPlace := false
	for i, a := range c.args {
		s := a.text
		letter, long := byte('e'), false
		switch {
		case strings.HasPrefix(c.name, "python") || c.name == "pypy3" || c.name == "ipython":
			letter = 'c'
		case c.name == "php":
			letter = 'r'
		default:
			long = s == "--eval" || s == "--print" || s == "-p" || s == "-pe"
		}
		switch {
		case len(s) < 2 || s[0] != '-':
			switch {
			case inPlace:
				c.effect(Effect{Op: c.name + " -i"}, c.args[i:]...)
			case s == "-":
				c.input(c.args[i+1:])
			default:
				c.w.unknown(path.Base(s))
			}
			return
		case s == "--version" || s == "-V" || s == "--help" || s == "-v" && c.name == "node" || s == "--check" || s == "--test":
			return
		case s == "-m" && letter == 'c':
			c.module(c.args[i+1:])
			return
		}
		switches := s[1:]
		at := -1
		if s[1] != '-' && s[1] != 'M' && s[1] != 'I' {
			at = strings.IndexByte(switches, letter)
		}
		if perl && s[1] != '-' && s[1] != 'M' && s[1] != 'I' {
			n := strings.IndexByte(switches, 'i')
			inPlace = inPlace || n >= 0 && (at < 0 || n < at)
		}
		if at < 0 && !(long && !perl) {
			continue
		}
		text, behind := value{}, c.args[i+1:]
		if at >= 0 && at+1 < len(switches) && (perl || letter == 'c') && switches != "pe" && switches != "pie" {
			text.text = switches[at+1:]
		} else if len(behind) > 0 {
			text, behind = behind[0], behind[1:]
		}
		if inPlace {
			for len(behind) > 1 && behind[0].text == "-e" {
				behind = behind[2:]
			}
			if len(behind) > 0 && behind[0].text == "--" {
				behind = behind[1:]
			}
			c.effect(Effect{Op: c.name + " -i"}, behind...)
			return
		}
		code{c, c.name + " " + s, text.all(), behind}.follow()
		return
	}
	if inPlace { // find -exec has no files to name
		return
	}
	c.input(nil)
}

// input follows the program that an interpreter reads.
func (c *call) input(args []value) {
	if !c.w.in.known {
		c.w.unknown(c.name)
		return
	}
	code{c, c.name + " -", c.w.in.text, args}.follow()
}

// module follows python -m.
func (c *call) module(args []value) {
	if len(args) == 0 {
		return
	}
	name := args[0].text
	switch {
	case name == "json.tool":
		if words := parse(args[1:], []string{"--indent"}, false).words; len(words) > 1 {
			c.effect(Effect{Op: "json.tool"}, words[1])
		}
	default:
		if r, _ := find(name); r != nil && !r.reads {
			c.again(args)
		} else {
			c.w.unknown(c.name + " -m " + name)
		}
	}
}
