package main

import (
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/identity"
)

// harnessName returns the agent id that tt gives the harness session of which
// this process is part, "" if there is none.
func harnessName(env *cli.Env) string {
	me, err := identity.Resolve(identityEnv(env), identity.System(), "")
	if err != nil || me.SessionKind != identity.HarnessCLI {
		return ""
	}
	return me.ID
}

// inHarness reports whether a harness runs this process.
func inHarness(env *cli.Env) bool {
	_, ok := identity.HarnessByEnvironment(identityEnv(env))
	return ok
}

func identityEnv(env *cli.Env) identity.Env {
	e := identity.SystemEnv()
	e.Lookup, e.Home = env.Lookup, env.Home
	return e
}
