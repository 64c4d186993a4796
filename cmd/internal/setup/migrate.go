package setup

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills"
	"github.com/talking-stick/tt/skills/legacy"
	"github.com/talking-stick/tt/skills/probe"
)

// Migrate is "tt migrate-mcp": it removes the registrations of the MCP server of older
// versions. Install and Uninstall do the same; this command is for packages and for people.
func Migrate(ctx context.Context, c *cli.Invocation) error {
	env, err := environment(c)
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

// Sync is "tt sync-skills": it updates the installed copies, see [skills.Environment.Sync].
func Sync(ctx context.Context, c *cli.Invocation) error {
	if env, err := environment(c); err == nil {
		env.Sync(ctx)
	}
	return nil
}

// HookHealth is "tt-console hook-health".
func HookHealth(_ context.Context, c *cli.Invocation) error {
	env, err := environment(c)
	if err != nil {
		return err
	}
	res := struct {
		Hooks []probe.HookHealth `json:"hooks"`
	}{env.HookHealth()}
	return c.Out.Result(res, func(t *cli.Text) {
		for _, h := range res.Hooks {
			t.Line("%s: %d of %d hooks in %s %s", h.Harness, h.Installed, h.Wanted, h.File, h.Hint)
		}
	})
}
