package shell

import (
	"slices"
	"strings"
)

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

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

// escaped are the characters that a string has behind a backslash in what is a command.
var escaped = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, "'", `\n`, "\n", `\$`, "$")

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
			return token{kind: 's', text: escaped.Replace(s[len(quote):i]), begin: quote}, i + len(quote)
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
	perl   bool    // in Perl and PHP, functions of files are members of nothing
	vague  bool    // something is written whose place cannot be told
}

// modules are what functions of files are members of.
const modules = " os fs fsp fsPromises promises shutil File IO FileUtils Deno Bun io codecs gzip zipfile tarfile "

// follow records what a program writes. If the place of something that it writes cannot be
// told, every path in it counts; one that is relative, or none at all, means here.
func (c *call) follow(op, text string, args []value) {
	p := &code{c: c, op: op, tokens: tokens(text), args: args}
	p.perl = strings.HasPrefix(op, "perl") || strings.HasPrefix(op, "php")
	loose := p.perl || strings.HasPrefix(op, "ruby") // calls need no parentheses
	p.vague = p.perl && strings.Contains(text, "$^I")
	for i, t := range p.tokens {
		var next token
		if i+1 < len(p.tokens) {
			next = p.tokens[i+1]
		}
		switch {
		case loose && t.kind == 's' && t.begin == "`":
			p.c.w.script(p.c.sc.clone(), t.text)
		case t.kind != 'n':
		case next.kind == '(':
			p.called(i, t.text, arguments(first(p.tokens[i+2:])))
		case loose && (next.kind == 's' || next.kind == '<' ||
			next.kind == 'n' && (next.text == "my" || next.text == "glob" || next.text[0] < 'a')): // $x, FILE
			list := first(p.tokens[i+1:])
			if end := slices.IndexFunc(list, func(t token) bool { return t.kind == ';' || t.text == "or" }); end >= 0 {
				list = list[:end]
			}
			p.called(i, t.text, arguments(append(slices.Clone(list), token{kind: ')'})))
		}
	}
	if p.vague {
		p.everyPath()
	}
}

const maxTokens = 100 // of an expression

// first returns the first tokens of a list.
func first(list []token) []token { return list[:min(maxTokens, len(list))] }

// called follows a call of a function, whose name is the i-th token.
func (p *code) called(i int, name string, args [][]token) {
	p.c.w.spend(5)
	dot := strings.LastIndexByte(name, '.')
	owner, last := name[:max(dot, 0)], name[dot+1:]
	last, sync := strings.CutSuffix(last, "Sync")
	module := owner[strings.LastIndexByte(owner, '.')+1:]
	isModule := strings.Contains(modules, " "+module+" ") || dot < 0 && sync ||
		dot == 0 && i > 3 && p.tokens[i-4].text == "require" ||
		p.perl && (i == 0 || p.tokens[i-1].kind != '>') && strings.Contains(" unlink rename copy move rmdir touch symlink link truncate chdir ", " "+name+" ")
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
		} else if of := p.receiver(i); last == "rename" && dot == 0 && of != nil && of[0].text == "Path" {
			receiver()
		}
	case "copy", "copy2", "copyfile", "copytree", "copyFile", "cp", "cp_r", "symlink", "link", "ln", "ln_s", "ln_sf":
		if isModule {
			arg(1)
		}
	case "open", "fopen", "ZipFile":
		switch {
		case len(args) > 1 && strings.HasPrefix(strings.TrimLeft(args[1][0].text, " +"), ">"): // of Perl
			if arg(2); len(args) == 2 {
				p.write([]token{{kind: 's', text: strings.TrimLeft(args[1][0].text, " +>")}})
			}
		case dot < 0 || isModule:
			if len(args) > 1 && slices.ContainsFunc(args[1:], isWriting) && !strings.HasPrefix(p.op, "perl") {
				arg(0)
			}
		case slices.ContainsFunc(args, isWriting) && !strings.Contains(" webbrowser Image ", " "+module+" "):
			receiver()
		}
	case "extractall":
		if arg(0); len(args) == 0 {
			p.c.effect(Effect{Op: p.op}, here)
		}
	case "to_csv", "to_parquet", "to_json", "to_excel", "to_pickle", "to_feather", "to_html", "savefig", "save", "savez", "savetxt",
		"imsave", "imwrite": // which also write to what is no file
		if module == "torch" && len(args) > 1 {
			args = args[1:]
		}
		for n, a := range args {
			named := len(a) > 2 && a[1].kind == '='
			if named && strings.Contains(" path_or_buf path fname excel_writer buf file f fp filename ", " "+a[0].text+" ") {
				a = a[2:]
			} else if named || n > 0 {
				continue
			}
			isFile := last != "save" || strings.Contains(" np numpy torch ", " "+module+" ")
			if v, ok := p.place(a, 0); ok && (isFile || v.open || strings.ContainsAny(v.text, "./")) {
				p.c.effect(Effect{Op: p.op}, v)
			}
		}
	case "urlretrieve":
		arg(1)
	case "chdir":
		if len(args) > 0 && (isModule || module == "process" || module == "Dir") {
			dir, ok := p.place(args[0], 0)
			if !ok {
				dir = value{open: true}
			}
			p.c.sc = p.c.sc.at(p.c.w, dir)
		}
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
	if len(expr) > 2 && expr[0].kind == 'n' && expr[1].kind == '=' { // a named argument
		expr = expr[2:]
	}
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
		if t.kind != 's' || len(s) < 3 || len(s) > 200 ||
			strings.Trim(s, letters+"/.@+*~-") != "" || !strings.ContainsAny(s, "/.") || strings.Trim(s, "./*") == "" {
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
	for _, a := range args {
		if i := slices.IndexFunc(a, func(t token) bool { return t.text == "cwd" }); i >= 0 && i+2 < len(a) {
			dir, ok := p.place(a[i+2:], 0)
			if sc.dir = ""; ok {
				sc.dir, _ = p.c.w.locate(p.c.sc, dir)
			}
		}
	}
	if i := slices.IndexFunc(args[:min(2, len(args))], func(a []token) bool { return a[0].kind == '[' }); i >= 0 {
		var words []value
		for _, t := range slices.Concat(args[:i+1]...) {
			if t.kind == 's' {
				words = append(words, value{text: t.text})
			}
		}
		p.c.w.run(sc, words)
	} else if len(args) > 0 {
		if v, ok := p.place(args[0], 0); ok {
			p.c.w.script(sc, v.source())
		}
	}
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
