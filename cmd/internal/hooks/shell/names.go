package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// listers are programs that print names of files, or lines that are names if their input
// is. Of those of git, its subcommands.
const (
	listers    = " find gfind fd fdfind ls eza grep egrep fgrep rg ag ack cat head tail sed awk cut sort uniq comm tr xargs tac rev jq shuf column tee perl du file stat gofmt goimports gofumpt prettier shfmt "
	gitListers = " ls-files diff diff-tree diff-index ls-tree grep status show log "
)

// printed returns what is known of the output of a statement.
func (w *walker) printed(sc *scope, s *syntax.Stmt) input {
	last := func(list []*syntax.Stmt) input {
		if len(list) == 0 {
			return input{names: value{open: true}}
		}
		return w.printed(sc, list[len(list)-1])
	}
	switch c := s.Cmd.(type) {
	case *syntax.Block:
		return last(c.Stmts)
	case *syntax.Subshell:
		return last(c.Stmts)
	case *syntax.WhileClause:
		return last(c.Do)
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			return w.printed(sc, c.Y)
		}
		first := w.printed(sc, c.X)
		if in := w.printed(sc, c.Y); strings.Contains(in.names.text, " ") && !in.known { // commands
			return in
		}
		if next, ok := c.Y.Cmd.(*syntax.CallExpr); ok && len(next.Args) > 0 {
			switch name := next.Args[0].Lit(); {
			case strings.Contains(" sort uniq cat tee head tail tac shuf grep egrep fgrep rg ", " "+name+" "): // the same lines, or some
				return first
			case name == "xargs":
				return input{names: found}
			case first.known || first.names.text == "":
				return w.printed(sc, c.Y)
			}
		}
		return input{names: first.names}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return w.printed(sc, c.Stmt)
		}
	case *syntax.CallExpr:
		return w.printedBy(sc, s.Redirs, c)
	}
	return input{names: value{open: true}}
}

// printedBy is printed for a simple command. It evaluates the words once more, without
// following what is in them.
func (w *walker) printedBy(sc *scope, redirs []*syntax.Redirect, c *syntax.CallExpr) input {
	quiet := *w
	quiet.result = Result{}
	defer quiet.deeper()()
	own := sc.clone()
	quiet.spend(len(sc.vars) / 12)
	for _, r := range redirs {
		quiet.redirect(own, r)
	}
	args := quiet.words(own, c.Args)
	w.steps = quiet.steps
	if len(args) == 0 || args[0].open {
		return input{names: value{open: true}}
	}
	exactly := func(s string) input { return input{text: s, known: true} }
	for len(args) > 1 && strings.Contains(" command builtin npx ", " "+args[0].text+" ") {
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
		return echoed(name, rest)
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
			return listed(v)
		}
	case "date", "whoami", "hostname", "nproc", "uname", "id", "uuidgen", "seq":
		return exactly("0")
	case "git":
		return w.printedByGit(own, rest)
	case "sed", "awk":
		if v, ok := rewritten(o.words); ok {
			return input{names: v}
		}
	}
	if !strings.Contains(listers, " "+name+" ") {
		return input{names: value{open: true}}
	}
	switch name {
	case "find", "gfind", "ls", "eza", "fd", "fdfind", "grep", "egrep", "rg", "ag", "ack", "du", "stat":
		if names := foundBy(name, rest); len(names) > 0 {
			return listed(names...)
		}
	}
	if name != "cat" && len(o.words) == 0 || quiet.in.known {
		return quiet.in
	}
	return input{names: value{open: true, names: true}}
}

// rewritten is what sed 's/.*/rm &/' and awk '{print "rm " $1}' make of a line.
func rewritten(words []value) (value, bool) {
	if len(words) != 1 || len(words[0].text) < 4 {
		return value{}, false
	}
	text := words[0].text
	if _, printed, ok := strings.Cut(text, `print "`); ok {
		text, _, ok = strings.Cut(printed, `"`)
		return value{text: text}.plus(found), ok
	}
	parts := strings.Split(text[2:], text[1:2])
	if text[0] != 's' || len(parts) != 3 || strings.Contains(text, `\`+text[1:2]) || parts[0] != "^" && !strings.Contains(parts[0], ".*") {
		return value{}, false
	}
	to := strings.NewReplacer(`\1`, "&", `\2`, "&", `\3`, "&").Replace(parts[1])
	if parts[0] == "^" {
		to += "&"
	}
	return substitute(value{text: to}, "&", found), true
}

// listed is an output of names that begin with one of those.
func listed(names ...value) input {
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

func echoed(name string, words []value) input {
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
			v.text = strings.TrimSuffix(sc.dir, "/") + "/" + anyDepth + "/"
		}
		return input{names: v}
	}
	return input{names: value{open: true}}
}

// temporary is a name that mktemp makes.
func temporary(args []value) string {
	o := parse(args, []string{"-p", "--suffix"}, false)
	if len(o.words) > 0 && !o.has("-t", "-p", "--tmpdir") {
		return o.words[0].text
	}
	return "/tmp/tmp.x"
}

// output returns what $(…) stands for.
func (w *walker) output(sc *scope, list []*syntax.Stmt) []value {
	if len(list) == 0 {
		return nil
	}
	in := w.printed(sc, list[len(list)-1])
	if in.known {
		return []value{{text: strings.TrimRight(in.text, "\n")}}
	}
	return []value{in.names}
}
