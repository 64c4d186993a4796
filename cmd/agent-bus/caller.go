package main

import (
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/identity"
)

// callerName returns the name under which a command acts: that of --agent, else the
// id that tt whoami gives.
func callerName(c *cli.Invocation) (string, error) {
	if c.Given("agent") {
		return tools.ValidateAgentName(c.String("agent"))
	}
	me, err := identity.Resolve(session.IdentityEnv(c.Env, false), identity.System(), "")
	if err != nil {
		return "", err
	}
	return tools.ValidateAgentName(me.ID)
}

// harnessName returns the agent id that tt gives the harness session which this
// process belongs to, "" if it belongs to none.
func harnessName(env *cli.Env) string {
	me, err := identity.Resolve(session.IdentityEnv(env, false), identity.System(), "")
	if err != nil || me.SessionKind != identity.HarnessCLI {
		return ""
	}
	return me.ID
}
