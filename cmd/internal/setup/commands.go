package setup

import (
	"github.com/talking-stick/tt/cmd/internal/cli"
)

// GitName is an argument of Install beside the names of harnesses.
const GitName = "git"

// Install is "tt install".
var Install = &cli.Command{
	Name:   "install",
	Traits: cli.Traits{NoSync: true, NoSubject: true},
	Args:   []cli.Arg{installArg},
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
	Exclusive: [][2]string{{"copy", "link"}, {"hold", "no-hooks"}, {"auto", "no-auto"}},
	Run:       runInstall,
}

// Uninstall is "tt uninstall".
var Uninstall = &cli.Command{
	Name:   "uninstall",
	Traits: cli.Traits{NoSync: true, NoSubject: true},
	Args:   []cli.Arg{installArg},
	Flags: func(f *cli.Flags) {
		f.Bool("all", "every harness")
		f.DryRun()
		f.Bool("replace", "also remove what you have edited; a backup is kept")
		f.Bool("no-hooks", "leave the hooks")
		f.Bool("no-bus", "leave agent-bus registered")
		repositoryFlag(f)
	},
	Run: runUninstall,
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
	Flags: func(f *cli.Flags) {
		f.Choice("reason", "WHY", []string{"manual", "install", "uninstall", "update", "first-run"}, "what to note in the log")
		f.Bool("quiet", "print nothing")
	},
	Run: runMigrate,
}
