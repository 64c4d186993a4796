package ttcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/skills"
	"github.com/talking-stick/tt/skills/githook"
	"github.com/talking-stick/tt/skills/harness"
)

var installCommand = &cli.Command{
	Name:  "install",
	Group: groupUpkeep,
	Args:  []cli.Arg{installArg()},
	Short: "teach harnesses to take turns: the skill, and guards",
	Long: "Puts the skill, and guards that keep an agent from stopping while it holds the stick and from editing while it does not, into the " +
		"harnesses' own directories and settings. Only a harness that is here gets anything; what you have edited stays as it is. " +
		`"git" adds a check to the pre-commit hook of the repository.` + "\n\n" +
		"Installing again does no harm. Installed copies follow the version of tt.",
	Examples: []cli.Example{
		{Line: "tt install --all --print", What: "show everything that would be written, and write nothing"},
		{Line: "tt install claude-code codex"},
		{Line: "tt install git", What: "in a repository: refuse commits of those who do not hold the stick"},
	},
	Flags: func(f *cli.Flags) {
		f.Bool("all", "every harness on this machine")
		f.Bool("print", "only show what would be done")
		f.Bool("copy", "install the skill as a copy (the default for a new one)")
		f.Bool("link", "install the skill as a link into the data directory")
		f.Bool("replace", "also replace what you have edited; a backup is kept")
		f.Bool("no-hooks", "the skill alone, without guards")
		repositoryFlag(f)
	},
	Exits:  []cli.ExitStatus{{Status: 1, Meaning: "a harness failed; the others are done"}},
	Errors: []code.Code{code.LockTimeout, code.DataDirUnusable},
	Run:    runInstall,
}

var uninstallCommand = &cli.Command{
	Name:  "uninstall",
	Group: groupUpkeep,
	Args:  []cli.Arg{installArg()},
	Short: "take the skill and the guards out again",
	Long: "A settings file that nobody has changed since gets its own bytes back; from another one our entries go, and everything else stays. " +
		"Rooms and everything else in the data directory stay.",
	Flags: func(f *cli.Flags) {
		f.Bool("all", "every harness")
		f.Bool("print", "only show what would be done")
		f.Bool("replace", "also remove what you have edited; a backup is kept")
		f.Bool("no-hooks", "the skill alone; leave the guards")
		repositoryFlag(f)
	},
	Exits:  []cli.ExitStatus{{Status: 1, Meaning: "a harness failed; the others are done"}},
	Errors: []code.Code{code.LockTimeout, code.DataDirUnusable},
	Run:    runUninstall,
}

func installArg() cli.Arg {
	return cli.Arg{
		Name: "harness", Optional: true, Rest: true,
		Usage: strings.Join(harness.Names(), ", ") + "; or git",
	}
}

func repositoryFlag(f *cli.Flags) {
	f.String("path", "DIR", "the repository for git, instead of the one here")
}

func runInstall(ctx context.Context, c *cli.Invocation) error {
	if c.Bool("copy") && c.Bool("link") {
		return c.Usagef("--copy and --link exclude each other")
	}
	opts := skills.Options{DryRun: c.Bool("print"), Replace: c.Bool("replace"), NoHooks: c.Bool("no-hooks")}
	switch {
	case c.Bool("copy"):
		opts.Mode = skills.CopyMode
	case c.Bool("link"):
		opts.Mode = skills.LinkMode
	}
	return changeHarnesses(ctx, c, opts, false)
}

func runUninstall(ctx context.Context, c *cli.Invocation) error {
	opts := skills.Options{DryRun: c.Bool("print"), Replace: c.Bool("replace"), NoHooks: c.Bool("no-hooks")}
	return changeHarnesses(ctx, c, opts, true)
}

// An installResult says what was done, or in a dry run what would be.
type installResult struct {
	DryRun  bool            `json:"dry_run"`
	Results []skills.Result `json:"results"`
}

func changeHarnesses(ctx context.Context, c *cli.Invocation, opts skills.Options, out bool) error {
	env, err := skillsEnvironment(c.Env)
	if err != nil {
		return err
	}
	names, withGit := withoutGit(c.Rest("harness"))
	if c.Given("path") && !withGit {
		return c.Usagef("--path is for git, which is not named")
	}
	var change githook.Change
	if withGit { // first, because it may refuse
		if change, err = planGit(c, env, out); err != nil {
			return err
		}
	}
	res := installResult{DryRun: opts.DryRun, Results: []skills.Result{}}
	if len(names) > 0 || c.Bool("all") || !withGit {
		if opts.Harnesses, err = env.Select(names, c.Bool("all"), out); err != nil {
			return err
		}
		if res.Results, err = carryOut(ctx, env, opts, out); err != nil {
			return err
		}
	}
	if withGit {
		res.Results = append(res.Results, changeGit(change, opts.DryRun))
	}
	return reportInstall(c, res, out)
}

func carryOut(ctx context.Context, env skills.Environment, opts skills.Options, out bool) ([]skills.Result, error) {
	if out {
		return env.Uninstall(ctx, opts)
	}
	return env.Install(ctx, opts)
}

func reportInstall(c *cli.Invocation, res installResult, out bool) error {
	if err := c.Out.Result(res, func(t *cli.Text) { writeInstall(t, res, out) }); err != nil || !skills.AnyFailed(res.Results) {
		return err
	}
	return cli.Exit(1)
}

// withoutGit are the names of harnesses among names, and whether git is there too.
func withoutGit(names []string) (harnesses []string, git bool) {
	isGit := func(name string) bool { return name == gitName }
	return slices.DeleteFunc(slices.Clone(names), isGit), slices.ContainsFunc(names, isGit)
}
