package changes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
)

// A VerifiedCheck is whether the tree as it is now has a verdict of a name.
type VerifiedCheck struct {
	Verified bool              `json:"verified"`
	Verdict  *ledger.Verdict   `json:"verdict,omitempty"`  // on this tree, or else the last one of that name
	Differs  *ledger.Differing `json:"differs,omitempty"`  // from the tree of the verdict
	LeftOut  []ledger.LeftOut  `json:"left_out,omitempty"` // why the tree can have no verdict
}

// CheckVerified tells whether the tree as it is now has a verdict of a name, and with commit whether what is about to be
// committed, which the index has, is that tree. The index is "" for that of the repository.
func (p *Past) CheckVerified(ctx context.Context, name string, commit bool, index string) (res VerifiedCheck, err error) {
	now, err := p.Look(ctx)
	if err != nil {
		return res, err
	}
	defer now.Close()
	if commit && !now.InRepository() {
		return res, code.New(code.Usage, "%s is in no git repository: nothing is staged", p.Ledger.Root()).WithHint("ask without --commit")
	}
	isOfName := func(v *ledger.Verdict) bool { return v.Name == name }
	res.LeftOut = now.Now.LeftOut
	if of := p.Ledger.Verdicts(now.Now.State()); len(res.LeftOut) == 0 && slices.ContainsFunc(of, isOfName) {
		res.Verified, res.Verdict = true, of[slices.IndexFunc(of, isOfName)]
	} else if all := p.Ledger.AllVerdicts(); slices.ContainsFunc(all, isOfName) {
		res.Verdict = all[slices.IndexFunc(all, isOfName)]
		res.Differs, err = now.Differing(res.Verdict.State)
	}
	if err == nil && res.Verified && commit {
		res.Differs, err = now.Unstaged(ledger.Git{
			Index:      func(top string) (string, error) { return gitIn(top, index, "", "ls-files", "-t", "--stage", "-z") },
			ModuleHead: moduleHead,
			Staged:     func(paths []string) []string { return stagedAs(p.Ledger.Root(), paths) },
		})
		res.Verified = res.Differs == nil
	}
	return res, Explain(err)
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
