package shell

import (
	"path"
	"slices"
	"strings"
)

// git follows a command of git: its own flags choose the repository, and the table says
// what its subcommands do.
func (c *call) git() {
	g := gitCall{c: c, aliases: map[string]string{}}
	g.environment()
	args := g.flags(c.args)
	if len(args) == 0 {
		return
	}
	if args[0].open {
		c.w.unknown("a command of git that is not known")
		return
	}
	sub := args[0].text
	rest := &call{w: c.w, sc: c.sc, name: "git", args: args[1:]}
	rest.options = parse(rest.args, nil, false)
	if rest.has("--help") || len(rest.args) == 1 && rest.has("-h") {
		return
	}
	switch sub {
	case "config":
		g.config(rest)
	case "init":
		rest.options = parse(rest.args, []string{"-b", "--initial-branch", "--template"}, false)
		g.init(rest)
	default:
		g.byTable(sub, rest)
	}
}

// A gitCall is a command of git and the repository that its flags choose.
type gitCall struct {
	c         *call
	elsewhere bool // its index and branches are not those of the working tree
	private   bool // its index is a file of its own
	aliases   map[string]string
}

func (g *gitCall) variable(name string) (value, bool) {
	if values, ok := g.c.w.variable(g.c.sc, name); ok && len(values) > 0 {
		return values[0], values[0].text != ""
	}
	return value{}, false
}

func (g *gitCall) environment() {
	if dir, ok := g.variable("GIT_DIR"); ok {
		g.gitDir(dir)
	}
	if dir, ok := g.variable("GIT_WORK_TREE"); ok {
		g.c.sc = g.c.sc.at(g.c.w, dir)
	}
	if file, ok := g.variable("GIT_INDEX_FILE"); ok {
		at, known := g.c.w.locate(g.c.sc, file)
		g.private = !known || !strings.HasSuffix(at, "/.git/index")
	}
}

// gitDir sets the directory of the repository. Where it is that of a working tree, the
// command works there unless another flag says otherwise.
func (g *gitCall) gitDir(dir value) {
	at, ok := g.c.w.locate(g.c.sc, dir)
	switch {
	case !ok:
		g.elsewhere = true
	case path.Base(at) == ".git":
		if path.Dir(at) != g.c.sc.dir {
			g.c.sc = g.c.sc.at(g.c.w, value{text: path.Dir(at)})
		}
	default:
		g.elsewhere = true
	}
}

// flags applies the flags before the subcommand, and returns what follows them.
func (g *gitCall) flags(args []value) []value {
	c := g.c
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		flag, v, joined := strings.Cut(args[0].text, "=")
		dir := value{text: v, open: args[0].open, names: args[0].names}
		takes := slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"}, flag)
		if takes && !joined && flag != "--exec-path" {
			if args = args[1:]; len(args) == 0 {
				return nil
			}
			dir = args[0]
		}
		switch flag {
		case "-C", "--work-tree":
			c.sc = c.sc.at(c.w, dir)
		case "--git-dir":
			g.gitDir(dir)
		case "-c":
			if name, text, ok := strings.Cut(dir.all(), "="); ok && strings.HasPrefix(name, "alias.") {
				g.aliases[name[len("alias."):]] = text
			}
		case "--version", "--help", "-h", "-v", "--html-path", "--man-path", "--info-path":
			return nil
		}
		args = args[1:]
	}
	return args
}

// byTable applies the rule of a subcommand. One of its flags may have a rule of its own.
func (g *gitCall) byTable(sub string, rest *call) {
	key := "git " + sub
	r, ok := find(key)
	if !ok {
		g.alias(sub, rest)
		return
	}
	if longer, ok := find(key + " " + rest.arg(0)); ok && rest.arg(0) != "" && rest.arg(0)[0] != '-' {
		r, key, rest.args = longer, key+" "+rest.arg(0), rest.args[1:]
	}
	if r == nil {
		g.c.w.unknown(key)
		return
	}
	for _, a := range rest.args {
		if a.text == "--" {
			break
		}
		if !strings.HasPrefix(a.text, "-") {
			continue
		}
		if v, _ := find(key + " " + a.text); v != nil && (rest.name == "git" || v.is("destroys")) {
			r = v
			rest.name = key + " " + a.text
		}
	}
	if r.is("index") && (g.elsewhere || g.private && r.is("private")) {
		return
	}
	if rest.name == "git" {
		rest.name = key
	}
	rest.apply(r)
}

// alias follows an alias of git. Only what is no command of git can be one.
func (g *gitCall) alias(name string, rest *call) {
	text := g.aliases[name]
	if text == "" && g.c.w.env.Alias != nil {
		text = g.c.w.alias(name)
	}
	if text == "" {
		g.c.w.unknown("git " + name)
		return
	}
	behind := " " + shellWords(rest.args, g.c.sc, g.c.w)
	if command, ok := strings.CutPrefix(text, "!"); ok {
		g.c.w.script(g.c.sc.clone(), command+behind)
	} else {
		g.c.w.script(g.c.sc.clone(), "git "+text+behind)
	}
}

// alias asks for an alias of git, which takes a process.
func (w *walker) alias(name string) string {
	text, ok := w.aliases[name]
	if !ok {
		w.spend(maxSteps / 8)
		text = w.env.Alias(name)
		w.aliases[name] = text
	}
	return text
}

// config changes nothing in the tree, but may switch off hooks, or move the tree.
func (g *gitCall) config(c *call) {
	if c.has("--get", "--get-all", "-l", "--list", "--global", "--system") || c.arg(0) == "get" || c.arg(0) == "list" {
		return
	}
	words := c.words
	if len(words) > 0 && (words[0].text == "set" || words[0].text == "unset") {
		words = words[1:]
	} else if len(words) < 2 && !c.has("--unset", "--unset-all") {
		return
	}
	if len(words) == 0 {
		return
	}
	switch name := strings.ToLower(words[0].text); {
	case name == "core.hookspath", name == "core.worktree", name == "core.bare", strings.HasPrefix(name, "hook."):
		c.effect(Effect{Op: "git config " + words[0].text, Git: true}, here)
	}
}

// init makes a repository; where one is, it changes nothing.
func (g *gitCall) init(c *call) {
	if len(c.words) == 0 || c.words[0].text == "." {
		return
	}
	if at, ok := c.w.locate(c.sc, c.words[0]); ok && c.w.env.Top != nil && c.w.env.Top(at) == at {
		return
	}
	c.effect(Effect{Op: "git init"}, c.words[0])
}
