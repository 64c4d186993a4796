package identity

import "time"

// The sources of an agent's identity, in the order in which they are tried.
const (
	SourceOverride    = "agent_override"      // --agent
	SourceExported    = "exported_agent_id"   // TT_HARNESS_AGENT_ID
	SourceEnvironment = "harness_environment" // a harness by its own variables
	SourceAncestry    = "harness_ancestry"    // a harness among the ancestors, with TT_HARNESS_EXPORT
	SourceHuman       = "human_default"       // the user
)

// The kinds of session.
const (
	HumanCLI   = "human_cli"
	HarnessCLI = "harness_cli"
)

// An Agent is a caller.
type Agent struct {
	ID              string    // passes [ValidateAgentID]
	DisplayName     string    // the harness, the user, or a part of a given id
	Source          string    // one of the Source constants
	Anchor          string    // what the id is derived from: "session:…", "process:PID@START", "terminal:VAR=…", "parent:PID@START", "user:U@H"; empty for a given id
	SessionKind     string    // HumanCLI or HarnessCLI
	Harness         string    // "claude", "codex", …; empty for a human
	Host            string    // the host name
	Root            *Process  // the harness's root process where one was found, alive when it was found; else nil
	RootStartedAt   time.Time // wall clock, approximate; zero without Root
	SessionExported bool      // the anchor is a session id, which outlives its process: gone needs silence too
	Detail          string    // one sentence: why this id
	Signals         []string  // what was seen, in order; values are as they were: print them with care
}
