package shell

import (
	"path"
	"slices"
	"strings"
)

// git follows a command of git: its own flags choose the repository, and the table says
// what its subcommands do.
func (c *call) git() {
	c.name = "git"
	c.gitEnvironment()
	aliases := map[string]string{}
	c.args = c.gitFlags(aliases)
	switch sub := c.first(); {
	case len(c.args) == 0:
	case c.args[0].open:
		c.w.unknown("a command of git that is not known")
	case sub == "config":
		c.options = parse(c.args[1:], nil, false)
		c.gitConfig()
	case sub == "init":
		c.options = parse(c.args[1:], []string{"-b", "--initial-branch", "--template"}, false)
		c.gitInit()
	case !c.byTable():
		c.gitAlias(aliases[sub])
	}
}

// gitEnvironment applies the variables that choose the repository and its index.
func (c *call) gitEnvironment() {
	variable := func(name string) (value, bool) {
		values, ok := c.w.variable(c.sc, name)
		if !ok || len(values) == 0 || values[0].text == "" {
			return value{}, false
		}
		return values[0], true
	}
	if dir, ok := variable("GIT_DIR"); ok {
		c.gitDir(dir)
	}
	if dir, ok := variable("GIT_WORK_TREE"); ok {
		c.sc = c.sc.at(c.w, dir)
	}
	if file, ok := variable("GIT_INDEX_FILE"); ok {
		at, known := c.w.locate(c.sc, file)
		c.private = !known || !strings.HasSuffix(at, "/.git/index")
	}
}

// gitDir sets the directory of the repository. Where it is that of a working tree, the
// command works there unless another flag says otherwise.
func (c *call) gitDir(dir value) {
	at, ok := c.w.locate(c.sc, dir)
	if !ok || path.Base(at) != ".git" {
		c.elsewhere = true
	} else if path.Dir(at) != c.sc.dir {
		c.sc = c.sc.at(c.w, value{text: path.Dir(at)})
	}
}

// gitFlags applies the flags before the subcommand, and returns what follows them.
func (c *call) gitFlags(aliases map[string]string) []value {
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		flag, v, joined := strings.Cut(args[0].text, "=")
		dir := value{text: v, open: args[0].open, names: args[0].names}
		if !joined && slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"}, flag) {
			if args = args[1:]; len(args) == 0 {
				return nil
			}
			dir = args[0]
		}
		switch flag {
		case "-C", "--work-tree":
			c.sc = c.sc.at(c.w, dir)
		case "--git-dir":
			c.gitDir(dir)
		case "-c":
			if name, text, ok := strings.Cut(dir.source(), "="); ok && strings.HasPrefix(name, "alias.") {
				aliases[name[len("alias."):]] = text
			}
		case "--version", "--help", "-h", "-v", "--html-path", "--man-path", "--info-path":
			return nil
		}
		args = args[1:]
	}
	return args
}

// gitAlias follows an alias of git, which stands for text if that is known. Only what is no
// command of git can be one.
func (c *call) gitAlias(text string) {
	if text == "" && c.w.env.Alias != nil {
		c.w.spend(maxSteps / 8) // it takes a process
		text = c.w.env.Alias(c.first())
	}
	if text == "" {
		c.w.unknown("git " + c.first())
		return
	}
	command, ok := strings.CutPrefix(text, "!")
	if !ok {
		command = "git " + text
	}
	c.w.script(c.sc.clone(), command+" "+shellWords(c.args[1:]))
}

// namesCommit reports whether the last word is the hash of a commit, or something that is not known. A stash
// that is pushed has no such word.
func (c *call) namesCommit() bool {
	if c.name == "git stash" || len(c.words) == 0 {
		return false
	}
	last := c.words[len(c.words)-1]
	if last.open {
		return last.text == ""
	}
	return len(last.text) >= 7 && len(last.text) <= 64 && strings.Trim(last.text, "0123456789abcdef") == ""
}

// names reports whether an argument is one of refs, or an entry of its history.
func (c *call) names(refs []string) bool {
	return slices.ContainsFunc(c.args, func(a value) bool {
		ref, _, _ := strings.Cut(a.text, "@{")
		return slices.Contains(refs, ref)
	})
}

// gitConfig follows git config, which changes nothing in the tree, but may switch off hooks, or
// move the tree.
func (c *call) gitConfig() {
	words := c.words
	if len(words) > 0 && (words[0].text == "set" || words[0].text == "unset") {
		words = words[1:]
	} else if len(words) < 2 && !c.has("--unset", "--unset-all") {
		return
	}
	if len(words) == 0 || words[0].text == "get" || c.has("--get", "--get-all", "--global", "--system") {
		return
	}
	switch name := strings.ToLower(words[0].text); {
	case name == "core.hookspath", name == "core.worktree", name == "core.bare", strings.HasPrefix(name, "hook."):
		c.effect(Effect{Op: "git config " + words[0].text, Git: true}, here)
	}
}

// gitInit follows git init, which makes a repository; where one is, it changes nothing.
func (c *call) gitInit() {
	if len(c.words) == 0 || c.words[0].text == "." {
		return
	}
	if at, ok := c.w.locate(c.sc, c.words[0]); ok && c.w.env.Top != nil && c.w.env.Top(at) == at {
		return
	}
	c.effect(Effect{Op: "git init"}, c.words[0])
}
