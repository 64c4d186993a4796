package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
)

// Resolve returns the agent that is calling. The first of these that applies
// decides: override, unless it is ""; TT_HARNESS_AGENT_ID; a harness that the
// environment identifies; with TT_HARNESS_EXPORT=1 a harness among the ancestors;
// the user. The process table is read for harnesses only.
//
// The error is a *code.Error with [code.InvalidAgentID]. Only override and
// TT_HARNESS_AGENT_ID can cause it.
func Resolve(env Env, table Table, override string) (Agent, error) {
	r := &resolver{env: env, table: table, agent: Agent{Host: env.Host}}
	if override != "" {
		return r.given(override, "--agent", SourceOverride)
	}
	if id := env.get("TT_HARNESS_AGENT_ID"); id != "" {
		return r.given(id, "TT_HARNESS_AGENT_ID", SourceExported)
	}
	if h, by := harnessByMarkers(env); h != nil {
		r.note(by.Var, by.Value, roleIdentity, "")
		return r.harness(h, SourceEnvironment, by.Var+"="+by.Value), nil
	}
	if env.exportEnabled() {
		if h := nearestHarness(r.ancestors()); h != nil {
			r.note("TT_HARNESS_EXPORT", env.get("TT_HARNESS_EXPORT"), roleIdentity, "asks to look among the ancestors")
			return r.harness(h, SourceAncestry, "an ancestor process is "+h.Agent), nil
		}
	}
	return r.human(), nil
}

// A resolver is one run of Resolve. It inspects the ancestors at most once.
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
		r.chain = ancestors(r.table, r.table.Self().PID)
	}
	return r.chain
}

// given returns the agent whose id the caller has given.
func (r *resolver) given(id, from, source string) (Agent, error) {
	if err := ValidateAgentID(id); err != nil {
		return Agent{}, err.(*code.Error).With("source", source)
	}
	a := &r.agent
	a.ID, a.Source = id, source
	a.SessionKind, a.DisplayName = HumanCLI, displayName(id)
	if source == SourceExported && !isHuman(id) {
		a.SessionKind, a.DisplayName = HarnessCLI, beforeColon(id)
		a.Harness = a.DisplayName
	}
	a.Detail = "the id was given with " + from
	r.note(from, id, roleIdentity, "")
	return *a, nil
}

func (r *resolver) human() Agent {
	user := r.env.user()
	a := &r.agent
	a.ID, a.Source, a.SessionKind = humanID(user), SourceHuman, HumanCLI
	a.DisplayName = user
	a.Anchor = "user:" + user + "@" + r.env.Host
	a.Detail = "no harness was recognised, so it is the user"
	r.note("user", user, roleIdentity, "")
	return *a
}

func (r *resolver) harness(h *harness.Harness, source, why string) Agent {
	a := &r.agent
	a.Source, a.SessionKind = source, HarnessCLI
	a.Harness, a.DisplayName = h.Agent, h.Agent
	anchor := r.anchor(h)
	a.Anchor, a.SessionExported = anchor.text, anchor.session
	a.ID = h.Agent + ":" + r.digest(h.Agent, anchor)
	a.Detail = why + "; the id hangs on " + anchor.why
	return *a
}

// digest returns eight hex digits over harness, host, anchor and user: the same
// for every call of one session, and others for another session.
func (r *resolver) digest(name string, a anchor) string {
	parts := []string{name, r.env.Host, a.text, r.env.user()}
	if a.scope != "" {
		parts = append(parts, a.scope)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:4])
}
