package ttcmd

import (
	"context"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/identity"
)

// syncBefore updates installed skills before a daily command that a person runs.
// It prints nothing, and leaves errors to "tt install".
func syncBefore(ctx context.Context, c *cli.Invocation) {
	if !c.Cmd.Hidden && slices.Contains(daily, c.Cmd) && mayTakeLonger(c) {
		syncSkills(ctx, c.Env)
	}
}

// mayTakeLonger reports whether a person calls, and not for a prompt.
func mayTakeLonger(c *cli.Invocation) bool {
	if forPrompt(c) || c.Env.Lookup("TT_HARNESS_EXPORT") != "" {
		return false
	}
	_, harness := identity.HarnessByEnvironment(identity.Env{Lookup: c.Env.Lookup})
	return !harness
}

// syncSkills costs one failing open where nothing was ever installed, and reading
// one small file where all is up to date.
func syncSkills(ctx context.Context, env *cli.Env) {
	if machine, err := skillsEnvironment(env); err == nil {
		machine.Sync(ctx)
	}
}
