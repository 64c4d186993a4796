package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/identity"
)

// synced makes commands bring installed skills up to date before they run for a
// person. It is silent, and whatever goes wrong with it is left for "tt install".
func synced(commands ...*front.Command) []*front.Command {
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		run := c.Run
		c.Run = func(ctx context.Context, call *front.Call) error {
			if mayTakeLonger(call) {
				syncSkills(ctx, call.Env)
			}
			return run(ctx, call)
		}
	}
	return commands
}

// mayTakeLonger reports whether a person calls, and not for a prompt.
func mayTakeLonger(c *front.Call) bool {
	if c.Cmd.Name == "status" && c.Bool("prompt") || c.Env.Lookup("TT_HARNESS_EXPORT") != "" {
		return false
	}
	_, harness := identity.HarnessByEnvironment(identity.Env{Lookup: c.Env.Lookup})
	return !harness
}

// syncSkills costs one failing open where nothing was ever installed, and reading
// one small file where all is up to date.
func syncSkills(ctx context.Context, env *front.Env) {
	if machine, err := skillsEnvironment(env); err == nil {
		machine.Sync(ctx)
	}
}
