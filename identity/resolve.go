package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// Resolve says who is calling. The first that applies decides: override (a
// given id, "" for none), TT_HARNESS_AGENT_ID, a harness by environment, with
// TT_HARNESS_EXPORT=1 a harness among the ancestors, the human. The process
// table is read for harnesses only.
//
// The error is a *code.Error with [code.InvalidAgentID], and only a given id
// can cause it.
func Resolve(env Env, table Table, override string) (Agent, error) {
	r := &resolver{env: env, table: table, agent: Agent{Host: env.Host}}
	if override != "" {
		return r.given(override, "--agent", SourceOverride)
	}
	if id := env.get("TT_HARNESS_AGENT_ID"); id != "" {
		return r.given(id, "TT_HARNESS_AGENT_ID", SourceExported)
	}
	if h, by, ok := harnessByMarks(env); ok {
		r.note(by.variable, by.value, RoleIdentity, "")
		r.noteOthers(h)
		return r.harness(h, SourceEnvironment, by.variable+"="+by.value), nil
	}
	if env.exportEnabled() {
		if name := nearestHarness(r.ancestors()); name != "" {
			r.note("TT_HARNESS_EXPORT", env.get("TT_HARNESS_EXPORT"), RoleIdentity, "asks to look among the ancestors")
			return r.harness(harnessNamed(name), SourceAncestry, "an ancestor process is "+name), nil
		}
	}
	return r.human(), nil
}

// A resolver is one run of Resolve. It looks at the ancestors at most once.
type resolver struct {
	env    Env
	table  Table
	agent  Agent
	chain  []Info
	looked bool
}

func (r *resolver) ancestors() []Info {
	if !r.looked {
		r.looked = true
		r.chain = ancestors(r.table, r.table.Self().PID, false)
	}
	return r.chain
}

// given takes an id as it was given.
func (r *resolver) given(id, from, source string) (Agent, error) {
	if err := ValidateAgentID(id); err != nil {
		return Agent{}, err.(*code.Error).With("source", source)
	}
	a := &r.agent
	a.ID, a.Source = id, source
	a.SessionKind, a.DisplayName = HumanCLI, nameOf(id)
	if source == SourceExported {
		a.SessionKind, a.DisplayName = HarnessCLI, beforeColon(id)
		a.Harness = a.DisplayName
	}
	a.Detail = "the id was given with " + from
	r.note(from, id, RoleIdentity, "")
	return *a, nil
}

func (r *resolver) human() Agent {
	user := r.env.user()
	a := &r.agent
	a.ID, a.Source, a.SessionKind = "human:"+user, SourceHuman, HumanCLI
	a.DisplayName = user
	a.Anchor = "user:" + user + "@" + r.env.Host
	a.Detail = "no harness was recognised, so it is the user"
	r.noteLone()
	r.note("user", user, RoleIdentity, "")
	return *a
}

func (r *resolver) harness(h harness, source, why string) Agent {
	a := &r.agent
	a.Source, a.SessionKind = source, HarnessCLI
	a.Harness, a.DisplayName = h.name, h.name
	anchor := r.anchor(h)
	a.Anchor, a.SessionExported = anchor.text, anchor.session
	a.ID = h.name + ":" + r.digest(h.name, anchor)
	a.Detail = why + "; the id hangs on " + anchor.why
	return *a
}

// digest makes two sessions differ and one session the same everywhere: eight
// hex digits over harness, host, anchor and user.
func (r *resolver) digest(name string, a anchor) string {
	parts := []string{name, r.env.Host, a.text, r.env.user()}
	if a.scope != "" {
		parts = append(parts, a.scope)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:4])
}
