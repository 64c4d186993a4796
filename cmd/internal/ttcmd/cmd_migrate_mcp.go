package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills"
	"github.com/talking-stick/tt/skills/legacy"
)

// migrateCommand removes the registrations of the MCP server of older versions.
// install and uninstall do the same; this command is for packages and for people.
var migrateCommand = &cli.Command{
	Name:   "migrate-mcp",
	Hidden: true,
	Short:  "remove the MCP registrations of older versions",
	Long:   "Uses the harnesses' own \"mcp remove\". What was done is appended to " + legacy.LogName + " in the data directory.",
	Flags: func(f *cli.Flags) {
		f.Choice("reason", "WHY", []string{"manual", "install", "uninstall", "update", "first-run"}, "what to note in the log")
		f.Bool("quiet", "print nothing")
	},
	Exits:  []cli.ExitStatus{{Status: 1, Meaning: "a registration is there and could not be removed"}},
	Errors: []code.Code{code.DataDirUnusable},
	Run:    runMigrate,
}

func runMigrate(ctx context.Context, c *cli.Invocation) error {
	env, err := skillsEnvironment(c.Env)
	if err != nil {
		return err
	}
	if !env.MayMigrate() {
		c.Notice("TALKING_STICK_DISABLE_MCP_MIGRATION is set, so nothing is removed")
		return nil
	}
	entries, err := env.Migrate(ctx, c.String("reason"), harness.IDs()...)
	if err != nil {
		return code.New(code.DataDirUnusable, "cannot write %s: %v", env.MigrationLog(), err).Because(err)
	}
	if !c.Bool("quiet") {
		if err := printEntries(c, entries); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if e.Status == legacy.Failed {
			return cli.Exit(1)
		}
	}
	return nil
}

// printEntries prints the entries, in JSON mode as the lines of the log.
func printEntries(c *cli.Invocation, entries []legacy.Entry) error {
	if c.JSON {
		return c.Out.Print(string(legacy.Lines(entries)))
	}
	return c.Out.Text(func(t *cli.Text) {
		for _, e := range entries {
			message := e.Message
			if message != "" {
				message = ": " + message
			}
			t.Line("%s: %s%s", t.Bold(string(e.Harness)), statusWord(t, skills.Status(e.Status)), message)
		}
	})
}
