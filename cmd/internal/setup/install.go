// Package setup puts the skill, hooks and agent-bus into the harnesses of this machine, and takes
// them out again: the commands "tt install", "tt uninstall" and "tt migrate-mcp".
package setup

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills"
	"github.com/talking-stick/tt/skills/githook"
)

func installOptions(c *cli.Invocation) skills.Options {
	return skills.Options{DryRun: c.Bool("dry-run"), Replace: c.Bool("replace"), NoHooks: c.Bool("no-hooks"), NoBus: c.Bool("no-bus")}
}

func runInstall(ctx context.Context, c *cli.Invocation) error {
	opts := installOptions(c)
	opts.Hold = c.Bool("hold")
	return changeHarnesses(ctx, c, opts, false)
}

func runUninstall(ctx context.Context, c *cli.Invocation) error {
	return changeHarnesses(ctx, c, installOptions(c), true)
}

// An installResult lists the changes that were made, or in a dry run would be.
type installResult struct {
	DryRun  bool            `json:"dry_run"`
	Results []skills.Result `json:"results"`
	Trees   *treesLeft      `json:"trees,omitempty"` // what uninstall leaves of changes of work trees
	Auto    string          `json:"auto,omitempty"`  // on or off: whether sessions take the turn by themselves from now on

	home string
}

func changeHarnesses(ctx context.Context, c *cli.Invocation, opts skills.Options, out bool) error {
	env, err := environment(c)
	if err != nil {
		return err
	}
	names := slices.DeleteFunc(slices.Clone(c.Rest("harness")), func(name string) bool { return name == GitName })
	withGit := len(names) < len(c.Rest("harness"))
	if c.Given("path") && !withGit {
		return c.Usagef("--path is for git, which is not named")
	}
	if !out && c.Given("verified") {
		switch {
		case !withGit:
			return c.Usagef("--verified is for git, which is not named").WithHint("tt install git --verified NAME")
		case !locks.ValidName(c.String("verified")):
			return c.Usagef("--verified is the name of a job").
				WithHint("use lower-case letters and digits, and . _ - behind the first; 64 at most").With("flag", "verified")
		}
	}
	var changes []githook.Change
	if withGit { // first, because it may refuse
		if changes, err = planGit(c, env, out); err != nil {
			return err
		}
	}
	res := installResult{DryRun: opts.DryRun, Results: []skills.Result{}, home: c.Env.Home}
	if len(names) > 0 || c.Bool("all") || !withGit {
		if opts.Harnesses, err = env.Select(names, c.Bool("all"), out); err != nil {
			return suggest(err, names)
		}
		change := env.Install
		if out {
			change = env.Uninstall
		}
		results, err := change(ctx, opts)
		if err != nil {
			return err
		}
		res.Results = append(res.Results, results...)
	}
	if !out && !opts.DryRun && !opts.NoHooks && (len(res.Results) > 0 || c.Bool("no-auto") || c.Bool("auto")) {
		if res.Auto = "on"; c.Bool("no-auto") || !c.Bool("auto") && skills.Auto(env.DataDir) == "off" {
			res.Auto = "off"
		}
		if err := skills.SetAuto(env.DataDir, res.Auto); err != nil {
			return code.New(code.DataDirUnusable, "%s cannot be used: %v", env.DataDir, err).Because(err)
		}
	}
	for _, change := range changes {
		res.Results = append(res.Results, changeGit(change, opts.DryRun))
	}
	if out {
		res.Trees = treesOf(env.DataDir, c.Env.Home)
	}
	failed := slices.ContainsFunc(res.Results, func(r skills.Result) bool { return r.Status == skills.Failed })
	if err := c.Out.Result(res, func(t *cli.Text) { writeInstall(t, res, out) }); err != nil || !failed {
		return err
	}
	return cli.Exit(1)
}

// suggest adds to the error of an unknown harness the names that are near.
func suggest(err error, names []string) error {
	var e *code.Error
	if errors.As(err, &e) {
		for _, name := range names {
			known := append(harness.Names(), GitName)
			if near := cli.Nearest(name, known); near != nil && !slices.Contains(known, name) {
				return e.WithHint("did you mean %s? %s", near[0], e.Hint)
			}
		}
	}
	return err
}

// A treesLeft is what is recorded of changes of work trees, and how it is removed.
type treesLeft struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	Command string `json:"command"`
}

// treesOf returns what is recorded in a data directory, nil for nothing.
func treesOf(dataDir, home string) *treesLeft {
	t := &treesLeft{Path: filepath.Join(dataDir, ledger.Folder), Command: "tt doctor --prune-ledger --all"}
	stores := ledger.Stores(t.Path, ledger.Options{Home: home})
	if len(stores) == 0 {
		return nil
	}
	for _, l := range stores {
		t.Bytes += l.Size()
	}
	return t
}

// planGit plans to add the checks to the repository's hooks, or to remove them. A push is
// checked where an engine shares the workspace's room.
func planGit(c *cli.Invocation, env skills.Environment, out bool) (changes []githook.Change, err error) {
	dir := c.Env.Dir
	if c.Given("path") {
		dir = c.Env.Abs(c.String("path"))
	}
	verified := ""
	if !out {
		verified = c.String("verified")
	}
	engine, hasEngine := engineOf(c, dir)
	for _, hook := range []githook.Hook{githook.PreCommit, githook.PreRebase, githook.PrePush} {
		repository := githook.Repository{
			Dir: dir, Hook: hook, Writer: env.Writer(), Verified: verified,
			Engine: engine, Room: c.Env.Lookup(hosts.RoomVariable),
		}
		change, err := repository.PlanUninstall()
		there := err == nil && change.Status != skills.AlreadyAbsent
		if !out && (there || hook != githook.PrePush || hasEngine) {
			there = true
			change, err = repository.PlanInstall()
		}
		if err != nil {
			return nil, err
		}
		if there || hook != githook.PrePush {
			changes = append(changes, change)
		}
	}
	return changes, nil
}

// engineOf returns the name of the engine that shares the room of a directory, and whether there
// is one, also one that is not known here.
func engineOf(c *cli.Invocation, dir string) (name string, is bool) {
	s := session.Find(c.Env, dir, "")
	if s.Engine == nil {
		return c.Env.Lookup(hosts.EngineVariable), s.NoEngine != nil
	}
	return s.Engine.Name, true
}

// changeGit carries out the plan, except in a dry run.
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

// gitResult describes a change of the hook like one of a harness.
func gitResult(change githook.Change) skills.Result {
	r := skills.Result{Harness: GitName, Status: change.Status, Paths: []string{change.Hook}}
	r.Message = filepath.Base(change.Hook) + " hook " + change.Hook
	if change.Aside != "" {
		r.Message += "; the hook that was there is " + change.Aside
		r.Paths = append(r.Paths, change.Aside)
	}
	if change.Note != "" {
		r.Message += "; " + change.Note
	}
	switch change.Status {
	case skills.Added, skills.Updated:
		r.Steps = []skills.Step{{Action: skills.Write, Path: change.Hook, Text: change.Text}}
	case skills.Removed:
		step := skills.Step{Action: skills.Delete, Path: change.Hook}
		if change.Text != "" {
			step.Action, step.Text = skills.Write, change.Text
		}
		r.Steps = []skills.Step{step}
	}
	return r
}

// writeInstall writes the result for each harness. A dry run shows every step with
// the text that it would write.
func writeInstall(t *cli.Text, r installResult, out bool) {
	if r.Trees != nil {
		defer t.Line("What turns changed stays in %s (%d KiB). To remove it: %s", r.Trees.Path, (r.Trees.Bytes+1023)/1024, r.Trees.Command)
	}
	if len(r.Results) == 0 {
		t.Line("There is no harness on this machine: none of %s is on the PATH or has its directory in %s.",
			strings.Join(harness.Programs(), ", "), r.home)
		return
	}
	if r.DryRun {
		t.Line("Nothing is written. This would be done:")
	}
	changed := false
	for _, one := range r.Results {
		changed = changed || one.Harness != GitName && (one.Status == skills.Added || one.Status == skills.Updated)
		said := strings.Split(one.Message, "; ")
		t.Line("%s: %s: %s", t.Bold(string(one.Harness)), statusWord(t, one.Status), said[0])
		for _, more := range said[1:] {
			t.Line("    %s", more)
		}
		if !r.DryRun {
			writeBackups(t, one)
			continue
		}
		for _, step := range one.Steps {
			t.Block("    ", step.String())
		}
	}
	if changed && !r.DryRun && !out {
		t.Line("Restart the sessions that are open, and tell two agents: use the talking stick.")
		t.Line("House rules for your agents: tt instructions edit")
	}
	switch r.Auto {
	case "off":
		t.Line("Sessions take no turn by themselves. To switch that on: tt install --auto")
	case "on":
		t.Line("A session that writes beside another one takes the turn by itself, and hands it on when it stops. To switch that " +
			"off: tt install --no-auto")
	}
}

func statusWord(t *cli.Text, s skills.Status) cli.Styled {
	switch s {
	case skills.Failed:
		return t.Red(string(s))
	case skills.Added, skills.Updated, skills.Removed:
		return t.Green(string(s))
	case skills.Skipped:
		return t.Yellow(string(s))
	}
	return t.Dim(string(s))
}

// writeBackups writes where the old contents of files are kept.
func writeBackups(t *cli.Text, r skills.Result) {
	for _, step := range r.Steps {
		if strings.TrimSpace(step.Backup) != "" {
			t.Line("    the old %s is kept as %s", step.Path, step.Backup)
		}
	}
}

// environment describes this machine to package skills.
func environment(c *cli.Invocation) (skills.Environment, error) {
	dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	program, _ := c.Env.Executable() // "" is beside nothing
	return skills.Environment{
		Home:     c.Env.Home,
		DataDir:  dir,
		Version:  c.Program.BuildVersion(),
		Program:  program,
		Getenv:   c.Env.Lookup,
		LookPath: exec.LookPath,
		Now:      c.Env.Now,
	}, err
}

// RemoveOld removes the registrations of the MCP server of older versions.
func RemoveOld(c *cli.Invocation, reason string) error {
	env, err := environment(c)
	if err != nil || !env.MayMigrate() {
		return err
	}
	_, err = env.Migrate(reason, harness.IDs()...)
	return err
}

func runMigrate(_ context.Context, c *cli.Invocation) error {
	env, err := environment(c)
	if err != nil {
		return err
	}
	if !env.MayMigrate() {
		c.Notice("TALKING_STICK_DISABLE_MCP_MIGRATION is set, so nothing is removed")
		return nil
	}
	entries, err := env.Migrate(c.String("reason"), harness.IDs()...)
	if err != nil {
		return code.New(code.DataDirUnusable, "cannot write %s: %v", env.MigrationLog(), err).Because(err)
	}
	if !c.Bool("quiet") {
		if err := printEntries(c, entries); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if e.Status == skills.Failed {
			return cli.Exit(1)
		}
	}
	return nil
}

// printEntries prints the entries, in JSON mode as the lines of the log.
func printEntries(c *cli.Invocation, entries []skills.Migration) error {
	if c.JSON {
		return c.Out.Print(string(skills.MigrationLines(entries)))
	}
	return c.Out.Text(func(t *cli.Text) {
		for _, e := range entries {
			message := e.Message
			if message != "" {
				message = ": " + message
			}
			t.Line("%s: %s%s", t.Bold(string(e.Harness)), statusWord(t, e.Status), message)
		}
	})
}

// Sync updates the installed copies, see [skills.Environment.Sync].
func Sync(ctx context.Context, c *cli.Invocation) {
	if env, err := environment(c); err == nil {
		env.Sync(ctx)
	}
}

// HookHealth says of the harnesses on this machine whether their hooks can run.
func HookHealth(c *cli.Invocation) []skills.HookHealth {
	env, err := environment(c)
	if err != nil {
		return nil
	}
	return env.HookHealth()
}
