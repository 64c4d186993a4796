package main

import (
	"context"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/identity"
)

// syncBefore brings installed skills up to date before a command of every day that
// a person runs. It is silent, and whatever goes wrong with it is left for "tt
// install".
func syncBefore(ctx context.Context, c *front.Call) {
	if !c.Cmd.Hidden && slices.Contains(daily, c.Cmd) && mayTakeLonger(c) {
		syncSkills(ctx, c.Env)
	}
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
