package setup

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills"
)

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
