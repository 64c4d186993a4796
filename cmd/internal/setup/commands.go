package setup

import (
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/skills"
)

// GitName is an argument of Install beside the names of harnesses.
const GitName = "git"

// Install is "tt install".
var Install = &cli.Command{
	Name:   "install",
	Traits: cli.Traits{NoSync: true, NoSubject: true},
	Args:   []cli.Arg{installArg},
	Short:  "teach harnesses to take turns: the skill, hooks, agent-bus",
	Long: "Puts the skill, and hooks, into the harnesses' own directories and settings, and registers the MCP server " +
		"agent-bus where it is installed. Some hooks are guards: they keep an agent from stopping while it holds the stick, and " +
		"from changing files while another one does. The others tell it when its turn comes and what others wrote to it. Only a harness " +
		"that is here gets anything; what you have edited stays as it is. \"git\" adds a check to the pre-commit and pre-rebase hooks of " +
		"the repository, and where an engine shares the room with other hosts to its pre-push hook.\n\n" +
		"Installing again does no harm. Installed copies follow the version of tt.",
	Examples: []cli.Example{
		{Line: "tt install --all --dry-run", What: "show everything that would be written, and write nothing"},
		{Line: "tt install claude-code codex"},
		{Line: "tt install git", What: "in a repository: refuse commits of those who do not hold the stick"},
		{Line: "tt install git --verified test", What: "and commits of a tree on which the job test has not passed"},
	},
	Flags: func(f *cli.Flags) {
		f.Bool("all", "every harness on this machine")
		f.DryRun()
		f.Bool("replace", "also replace what you have edited; a backup is kept")
		f.Bool("no-hooks", "without the hooks")
		f.Bool("no-bus", "without agent-bus")
		f.Bool("no-auto", "sessions do not take the turn by themselves, also after later installations")
		f.Bool("auto", "they do again, in rooms whose policy does not say otherwise (default, but after --no-auto)")
		f.Bool("hold", "for gemini and antigravity: a hook delays the end of each turn until there is news, 30 minutes at most")
		f.String("verified", "NAME", "for git: refuse also a commit of what no job of this name has passed on, see tt check --verified")
		repositoryFlag(f)
		f.Hidden(func(f *cli.Flags) { // they do nothing
			f.Bool("copy", "install the skill as a copy, which is the only way now")
			f.Bool("link", "the same; earlier versions made a link")
		})
	},
	Exits:     []cli.ExitStatus{{Status: 1, Meaning: "a harness failed; the others are done"}},
	Errors:    []code.Code{code.LockTimeout, code.DataDirUnusable},
	Exclusive: [][2]string{{"copy", "link"}, {"hold", "no-hooks"}, {"auto", "no-auto"}},
	Run:       runInstall,
}

// Uninstall is "tt uninstall".
var Uninstall = &cli.Command{
	Name:   "uninstall",
	Traits: cli.Traits{NoSync: true, NoSubject: true},
	Args:   []cli.Arg{installArg},
	Short:  "take the skill, the hooks and agent-bus out again",
	Long: "A settings file that nobody has changed since gets its own bytes back; from another one our entries go, and " +
		"everything else stays. Rooms and everything else in the data directory stay.",
	Flags: func(f *cli.Flags) {
		f.Bool("all", "every harness")
		f.DryRun()
		f.Bool("replace", "also remove what you have edited; a backup is kept")
		f.Bool("no-hooks", "leave the hooks")
		f.Bool("no-bus", "leave agent-bus registered")
		repositoryFlag(f)
	},
	Exits:  []cli.ExitStatus{{Status: 1, Meaning: "a harness failed; the others are done"}},
	Errors: []code.Code{code.LockTimeout, code.DataDirUnusable},
	Run:    runUninstall,
}

// installArg is the argument of both. Its usage has the names of all harnesses. It is a text, since each start of the program
// would put it together anew.
var installArg = cli.Arg{
	Name: "harness", Optional: true, Rest: true,
	Usage: "claude-code, codex, antigravity, gemini, opencode, copilot, qwen, cursor, grok; or git",
}

func repositoryFlag(f *cli.Flags) {
	f.Word("path", "DIR", "the repository for git, instead of the one here")
}

// Migrate is "tt migrate-mcp". Install and Uninstall do the same; this command is for
// packages and for people.
var Migrate = &cli.Command{
	Name:   "migrate-mcp",
	Hidden: true,
	Traits: cli.Traits{NoSync: true, NoSubject: true},
	Short:  "remove the MCP registrations of older versions",
	Long:   "What was done is appended to " + skills.MigrationLogName + " in the data directory.",
	Flags: func(f *cli.Flags) {
		f.Choice("reason", "WHY", []string{"manual", "install", "uninstall", "update", "first-run"}, "what to note in the log")
		f.Bool("quiet", "print nothing")
	},
	Exits:  []cli.ExitStatus{{Status: 1, Meaning: "a registration is there and could not be removed"}},
	Errors: []code.Code{code.DataDirUnusable},
	Run:    runMigrate,
}
