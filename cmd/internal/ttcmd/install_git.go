package ttcmd

import (
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/skills"
	"github.com/talking-stick/tt/skills/githook"
)

// gitName stands beside the harnesses on the command line.
const gitName = "git"

// planGit plans to add the check to the repository's pre-commit hook, or to take it
// out.
func planGit(c *cli.Invocation, env skills.Environment, out bool) (githook.Change, error) {
	dir := c.Env.Dir
	if c.Given("path") {
		path, err := nonEmpty(c, c.String("path"))
		if err != nil {
			return githook.Change{}, err
		}
		if dir = path; !filepath.IsAbs(dir) {
			dir = filepath.Join(c.Env.Dir, dir)
		}
	}
	repository := githook.Repository{Dir: dir, Writer: env.Writer()}
	if out {
		return repository.PlanUninstall()
	}
	return repository.PlanInstall()
}

// changeGit carries the plan out, unless it is only to be shown.
func changeGit(change githook.Change, dryRun bool) skills.Result {
	r := gitResult(change)
	if dryRun {
		return r
	}
	if err := change.Apply(); err != nil {
		r.Status, r.Message, r.Steps = skills.Failed, err.Error(), nil
		return r
	}
	for i := range r.Steps {
		r.Steps[i].Text = "" // it is on the disk now
	}
	return r
}

// gitResult tells of a change in the words used for harnesses.
func gitResult(change githook.Change) skills.Result {
	r := skills.Result{Harness: gitName, Status: skills.Status(change.State), Paths: []string{change.Hook}}
	r.Message = "pre-commit hook " + change.Hook
	if change.Aside != "" {
		r.Message += "; the hook that was there is " + change.Aside
		r.Paths = append(r.Paths, change.Aside)
	}
	if change.Note != "" {
		r.Message += "; " + change.Note
	}
	switch change.State {
	case githook.Added, githook.Updated:
		r.Steps = []skills.Step{{Action: skills.Write, Path: change.Hook, Text: change.Text}}
	case githook.Removed:
		step := skills.Step{Action: skills.Delete, Path: change.Hook}
		if change.Text != "" {
			step.Action, step.Text = skills.Write, change.Text
		}
		r.Steps = []skills.Step{step}
	}
	return r
}
