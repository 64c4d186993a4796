package ttcmd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/fsroom/ledger"
)

// A verifiedCheck is the answer of check --verified.
type verifiedCheck struct {
	Verified bool              `json:"verified"`
	Verdict  *ledger.Verdict   `json:"verdict,omitempty"`  // on this tree, or else the last one of that name
	Differs  *ledger.Differing `json:"differs,omitempty"`  // from the tree of the verdict
	LeftOut  []ledger.LeftOut  `json:"left_out,omitempty"` // why the tree can have no verdict
}

// runCheckVerified tells whether the tree as it is now has a verdict of a name, and with --commit whether
// what is about to be committed is that tree.
func runCheckVerified(ctx context.Context, c *cli.Invocation) error {
	name := c.String("verified")
	if !locks.ValidName(name) {
		return c.Usagef("%q cannot be the name of a job", shortened(name)).
			WithHint("use lower-case letters and digits, and . _ - behind the first; 64 at most").With("flag", "verified")
	}
	if c.Given("command") {
		return c.Usagef("--verified and --command are two questions").WithHint("ask one of them")
	}
	tree, err := openTree(ctx, c)
	if err != nil {
		return err
	}
	now, err := tree.lookNow(ctx)
	if err != nil {
		return err
	}
	defer now.Close()
	res := verifiedCheck{LeftOut: now.Now.LeftOut}
	isOfName := func(v *ledger.Verdict) bool { return v.Name == name }
	if of := tree.Tree.Ledger.Verdicts(now.Now.State()); len(res.LeftOut) == 0 && slices.ContainsFunc(of, isOfName) {
		res.Verified, res.Verdict = true, of[slices.IndexFunc(of, isOfName)]
	} else if all := tree.Tree.Ledger.AllVerdicts(); slices.ContainsFunc(all, isOfName) {
		res.Verdict = all[slices.IndexFunc(all, isOfName)]
		if res.Differs, err = now.Differing(res.Verdict.State); err != nil {
			return explainTree(err)
		}
	}
	if res.Verified && c.Bool("commit") {
		staged, err := now.Unstaged(ledger.Git{
			Index: func(top string) (string, error) {
				return gitIn(top, c.Env.Lookup("GIT_INDEX_FILE"), "", "ls-files", "-t", "--stage", "-z")
			},
			ModuleHead: moduleHead,
			Staged:     func(paths []string) []string { return stagedAs(tree.Tree.Ledger.Root(), paths) },
		})
		if err != nil {
			return explainTree(err)
		}
		if res.Verified = staged == nil; staged != nil {
			res.Differs = staged
		}
	}
	err = c.Out.Result(res, func(t *cli.Text) { writeCheckVerified(t, name, &res) })
	if err != nil || res.Verified {
		return err
	}
	return cli.Exit(1)
}

func writeCheckVerified(t *cli.Text, name string, r *verifiedCheck) {
	switch v := r.Verdict; {
	case r.Verified:
		t.Line("%s %s.", t.Green("Yes."), verdictWords(t, v))
		return
	case v == nil:
		t.Line("%s No job %s has passed on a tree that is known here.", t.Yellow("No."), name)
	case r.Differs == nil:
		t.Line("%s %s. What has changed since is not known.", t.Yellow("No."), verdictWords(t, v))
	case r.Differs.Commit:
		t.Line("%s What would be committed is not the tree that was tested: %s.", t.Yellow("No."), differWords(r.Differs.Differences))
	default:
		t.Line("%s %s. Since then: %s.", t.Yellow("No."), verdictWords(t, v), differWords(r.Differs.Differences))
	}
	if r.Differs != nil {
		for _, p := range r.Differs.Paths {
			t.Line("    %s  %s", p.Path, p.Status)
		}
		if r.Differs.Commit {
			t.Line("Stage it with git add, or ignore what is no part of it, and ask again.")
			return
		}
	}
	if len(r.LeftOut) > 0 {
		t.Line("The tree is not recorded whole, so it can have no verdict.")
		writeLeftOut(t, r.LeftOut)
		return
	}
	t.Line("Test it: tt job run %s --once -- COMMAND", name)
}

// stagedAs returns the objects as which git would stage files, whose paths are relative to dir; nil if it cannot tell.
func stagedAs(dir string, paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	ids, _ := gitIn(dir, "", strings.Join(paths, "\n")+"\n", "hash-object", "--stdin-paths")
	return strings.Fields(ids)
}

// gitIn runs git in a directory with an index, "" for that of the repository, whatever repository git itself has named
// for this process.
func gitIn(dir, index, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	if index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index)
	}
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// moduleHead returns the commit of a submodule, "" if something in it differs from that commit.
func moduleHead(dir string) string {
	top, err := gitIn(dir, "", "", "rev-parse", "--show-toplevel", "HEAD")
	changed, changedErr := gitIn(dir, "", "", "status", "--porcelain", "--untracked-files=all")
	where, head, _ := strings.Cut(top, "\n")
	if real, realErr := filepath.EvalSymlinks(dir); err != nil || changedErr != nil || realErr != nil || changed != "" || where != real {
		return ""
	}
	return head
}
