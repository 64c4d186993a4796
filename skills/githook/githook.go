// Package githook adds checks to a repository's hooks, and removes them: those that refuse a
// commit and a rebase while another agent has the stick, and where hosts share the room by an engine one
// that refuses a push unless the engine confirms that the stick is the caller's.
//
// Git says where the hooks are. An existing hook is kept: a shell script gets a
// marked block after its first line, where an early exit cannot skip it. Any other
// hook, or one that is not executable, is moved aside; the hook that takes its place
// runs it if git would have run it.
package githook

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/skills"
	"github.com/talking-stick/tt/skills/rewrite"
)

// A Change is one change to a hook of a repository.
type Change struct {
	Status skills.Status
	Hook   string // the hook file
	Aside  string // where the hook is kept that ours runs; "" if there is none
	Text   string // the new content of the hook file; "" if it is removed or stays
	Note   string // what users should know, or ""

	hook   Hook
	check  string // that is added
	before []byte
	off    bool // the hook is not executable: git does not run it
	steps  func() error
}

func (c *Change) addNote(text string) {
	c.Note = strings.TrimPrefix(c.Note+"; "+text, "; ")
}

// A Hook is the name of one of git's hooks.
type Hook string

// The hooks that get a check.
const (
	PreCommit Hook = "pre-commit"
	PrePush   Hook = "pre-push"
	PreRebase Hook = "pre-rebase"
)

const shebang = "#!/bin/sh\n"

// aside returns the name of the hook that was there before.
func (h Hook) aside() string { return string(h) + ".before-talking-stick" }

// check returns the check that is added to the hook.
func (r Repository) check() string {
	switch r.Hook {
	case PrePush:
		check := strings.NewReplacer("-ENGINE}", "-"+quoted(r.Engine)+"}", "-ROOM}", "-"+quoted(r.Room)+"}").Replace(pushCheck)
		return ask(check, "TALKING_STICK_ENGINE=$tt_engine TALKING_STICK_ROOM=$tt_room tt", 10)
	case PreRebase:
		return ask(strings.NewReplacer("WHAT", "rebase", "UNLESS", rebaseUnless).Replace(stickCheck), "tt", 2)
	}
	check := ask(strings.NewReplacer("WHAT", "commit", "UNLESS", "").Replace(stickCheck), "tt", 2)
	if r.Verified != "" {
		check += ask(strings.ReplaceAll(verifiedCheck, "NAME", r.Verified), "tt", 30)
	}
	return check
}

// ask returns the check with a command substitution for each ASK: what "tt check" answers with
// the flag that follows. One that hangs is killed after some seconds, since git waits for its
// hooks for ever; a machine that is slow may name more of them. What tt has started and left
// running may keep its output open, so the answer ends with a line of ours. The timer is killed for
// good, lest it ends another process later, and what is left of it is a second of sleep.
func ask(check, tt string, seconds int) string {
	return strings.NewReplacer("ASK ", `$({
  `+tt+" check ", " END", fmt.Sprintf(` 2>&1 </dev/null & tt_asked=$!
  exec 2>/dev/null
  (cd / && tt_left=${TT_HOOK_SECONDS:-%d} && until [ "$tt_left" -le 0 ]; do
    sleep 1 && tt_left=$((tt_left - 1)) || exit
  done && kill -9 $tt_asked) </dev/null >/dev/null &
  wait $tt_asked && tt_code=0 || tt_code=$?
  kill -9 $! || :
  printf '\ntt_code=%%s\n' $tt_code
} | while IFS= read -r tt_line; do
  case $tt_line in (tt_code=*) exit "${tt_line#*=}" ;; esac
  printf '%%s\n' "$tt_line"
done)`, seconds)).Replace(check)
}

// quoted returns the text as a word of the shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// pushCheck permits a push if the engine says that the stick is the caller's, or that no
// room is shared here. It refuses it also when that is not known, unless there is no engine: engine
// and room of the installation count where the environment names none, as in an editor. tt is asked once.
// What git says on standard input is left to the script around it.
//
//go:embed push.sh
var pushCheck string

// rebaseUnless lets a rebase pass once git has put uncommitted work aside: it does not bring it
// back when it is refused (before 2.47).
const rebaseUnless = ` && ! [ -e "$(git rev-parse --git-path rebase-merge/autostash)" ] &&
  ! [ -e "$(git rev-parse --git-path rebase-apply/autostash)" ]`

// stickCheck refuses a commit or a rebase only if tt says that the caller does not have the
// stick. If tt fails or does not know the command, or if there is no room, it permits it. It
// must work under "set -e" and "set -u" of the script around it.
//
//go:embed stick.sh
var stickCheck string

// verifiedCheck refuses a commit unless a job of that name has passed on exactly the tree that would be
// committed. It refuses it also where that is not known, unless there is no tt.
//
//go:embed verified.sh
var verifiedCheck string

const verifiedMark = "--verified "

// verifiedIn returns the name of the job by which the check in a hook verifies commits, "" for none.
func verifiedIn(hook []byte) string {
	_, after, found := strings.Cut(string(hook), verifiedMark)
	name, _, ok := strings.Cut(after, " --commit")
	if !found || !ok || strings.ContainsAny(name, " \n'\"") {
		return ""
	}
	return name
}

// chain runs the hook that was moved aside, if git would run it.
func (h Hook) chain() string {
	return `tt_chained="$(dirname -- "$0")/` + h.aside() + `"
[ ! -x "$tt_chained" ] || exec "$tt_chained" "$@"
`
}

// A Repository is a git repository of which one hook is to be changed.
type Repository struct {
	Dir  string // a directory in its working tree
	Hook Hook
	// Engine and Room are for the check of pushes: what the environment of the installation
	// names, "" for nothing.
	Engine, Room string
	// Verified is the name of the job that must have passed on what is committed; "" leaves that as it
	// is. It is a word of the shell.
	Verified string
	Writer   *rewrite.Writer
}

// PlanInstall returns the change that adds the check. It writes nothing.
func (r Repository) PlanInstall() (Change, error) {
	w := r.Writer
	c, err := r.look()
	if err != nil {
		return c, err
	}
	if _, err := os.Stat(c.Aside); err == nil {
		if !isShell(c.before) {
			return c, code.New(code.Usage, "there are two hooks: %s, and %s from an earlier installation", c.Hook, c.Aside).
				WithHint("remove one of them")
		}
		return c.chained(w, c.before)
	}
	_, had := withoutBlock(c.before)
	switch {
	case c.off && !had:
		c.addNote("that hook is not executable, so git has ignored it and goes on doing so")
		return c.chained(w, nil)
	case c.before != nil && !isShell(c.before):
		return c.chained(w, nil)
	case c.off:
		c.addNote("it was not executable, so git has ignored it; now it runs")
	}
	c.Aside = ""
	text := c.before
	if text == nil {
		text = []byte(shebang)
	}
	return c.write(w, withBlock(text, c.check))
}

// chained makes c the change that moves the hook aside and puts a script of ours in
// its place. current is our script if it is already there, else nil.
func (c Change) chained(w *rewrite.Writer, current []byte) (Change, error) {
	text := []byte(shebang + c.hook.chain())
	if current != nil {
		text = current
	}
	next, err := c.write(w, withBlock(text, c.check))
	if current != nil || c.before == nil {
		return next, err
	}
	next.Status = skills.Added
	next.steps = func() error {
		if err := os.Rename(c.Hook, c.Aside); err != nil {
			return err
		}
		if err := create(c.Hook, []byte(next.Text)); err != nil {
			return errors.Join(err, os.Rename(c.Aside, c.Hook))
		}
		return nil
	}
	return next, err
}

// write makes c the change that gives the hook the content text.
func (c Change) write(w *rewrite.Writer, text []byte) (Change, error) {
	c.Text, c.Status = string(text), skills.Updated
	switch {
	case c.before == nil:
		c.Status = skills.Added
		c.steps = func() error { return create(c.Hook, text) }
		return c, nil
	case string(c.before) == c.Text && !c.off:
		c.Status, c.Text = skills.AlreadyPresent, ""
		return c, nil
	}
	if _, had := withoutBlock(c.before); !had {
		c.Status = skills.Added
	}
	c.steps = func() error {
		if _, err := w.Replace(c.Hook, c.before, text); err != nil {
			return err
		}
		return makeExecutable(c.Hook)
	}
	return c, nil
}

// PlanUninstall returns the change that removes the check and restores the hook that
// was there before. It writes nothing.
func (r Repository) PlanUninstall() (Change, error) {
	c, err := r.look()
	if err != nil {
		return c, err
	}
	rest, had := withoutBlock(c.before)
	if !had {
		c.Status, c.Aside = skills.AlreadyAbsent, ""
		return c, nil
	}
	c.Status = skills.Removed
	_, err = os.Stat(c.Aside)
	_, noLink := os.Readlink(c.Hook)
	switch {
	case err == nil && string(rest) == shebang+c.hook.chain():
		c.steps = func() error { return os.Rename(c.Aside, c.Hook) }
	case string(rest) == shebang && noLink != nil:
		c.Aside = ""
		c.steps = func() error { _, err := r.Writer.Remove(c.Hook, c.before); return err }
	default:
		c.Aside, c.Text = "", string(rest)
		c.steps = func() error { _, err := r.Writer.Replace(c.Hook, c.before, rest); return err }
	}
	return c, nil
}

// Apply carries the change out.
func (c Change) Apply() error {
	if c.steps == nil {
		return nil
	}
	return c.steps()
}

// look finds the repository's hook.
func (r Repository) look() (Change, error) {
	hooks, note, err := hooksDir(r.Dir)
	if err != nil {
		return Change{}, err
	}
	c := Change{Hook: filepath.Join(hooks, string(r.Hook)), Aside: filepath.Join(hooks, r.Hook.aside()), Note: note, hook: r.Hook}
	c.before, err = rewrite.Read(c.Hook)
	r.Verified = cmp.Or(r.Verified, verifiedIn(c.before))
	c.check = r.check()
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	info, err := os.Stat(c.Hook)
	c.off = err == nil && info.Mode()&0o111 == 0
	return c, err
}

// isShell reports whether a script is for a shell of the Bourne family. A script
// without an interpreter line is, because git runs it with sh.
func isShell(script []byte) bool {
	line, _, _ := strings.Cut(string(script), "\n")
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return !strings.ContainsRune(line, 0)
	}
	for _, word := range strings.Fields(rest) {
		switch filepath.Base(word) {
		case "sh", "bash", "dash", "ksh", "zsh", "ash", "mksh":
			return true
		}
	}
	return false
}

func create(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o777)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func makeExecutable(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&0o100 != 0 {
		return err
	}
	if err := os.Chmod(path, info.Mode().Perm()|0o100); err != nil {
		return fmt.Errorf("%s is not executable, so git ignores it: %w", path, err)
	}
	return nil
}

// hooksDir returns the directory in which git looks for the hooks of the repository
// that contains dir, and a note if it is not the usual one. A directory that is
// configured outside the repository is an error: other repositories use it, too.
func hooksDir(dir string) (hooks, note string, err error) {
	// Hooks run at the top of the working tree, and relative paths start there.
	top, err := git(dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", "", err
	}
	hooks, err = git(top, "rev-parse", "--git-path", "hooks")
	if err != nil {
		return "", "", err
	}
	if !filepath.IsAbs(hooks) {
		hooks = filepath.Join(top, hooks)
	}
	scope, err := git(top, "config", "--show-scope", "--get", "core.hooksPath")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // it is not set
		return hooks, "", nil
	}
	if err != nil {
		return "", "", err
	}
	if scope, _, _ = strings.Cut(scope, "\t"); scope != "local" && scope != "worktree" {
		return "", "", code.New(code.Usage, "git looks for the hooks of other repositories, too, in %s", hooks).
			WithHint("\"git config --show-origin core.hooksPath\" says who set it; run \"tt check\" from the hook there, or set " +
				"core.hooksPath for this repository")
	}
	return hooks, "core.hooksPath of this repository is " + hooks, nil
}

// git runs git in dir and returns what it prints, without the line end.
func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	said, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	switch {
	case err == nil:
		return strings.TrimRight(string(out), "\r\n"), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", code.New(code.Usage, "there is no git on the PATH").WithHint("install git").Because(err)
	case strings.Contains(said, "not a git repository"):
		return "", code.New(code.Usage, "%s is in no git repository", dir).
			WithHint("run it inside the repository whose commits are to be checked").Because(err)
	}
	return "", code.New(code.Usage, "git %s: %s", strings.Join(args, " "), said).
		WithHint("git says so in %s; put that right first", dir).Because(err)
}
