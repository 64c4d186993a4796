package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

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
	if export := env.get("TT_HARNESS_EXPORT"); export == "1" || strings.EqualFold(export, "true") {
		for _, p := range r.ancestors() {
			if h := harnessOf(p); h != nil {
				r.note("TT_HARNESS_EXPORT", export, roleIdentity, "asks to look among the ancestors")
				return r.harness(h, SourceAncestry, "an ancestor process is "+h.Agent), nil
			}
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

// What a signal did.
const (
	roleIdentity = "identity" // it decided who is calling
	roleAnchor   = "anchor"   // it tells this session from others
	roleRoot     = "root"     // it is the process whose end ends the agent
	roleIgnored  = "ignored"  // it was seen and does not count
)

// note adds a signal: a variable, "--agent", "ancestor process", "parent process" or "user", with its value
// as it was, what it did, and why, which may be empty.
func (r *resolver) note(name, value, role, why string) {
	if why != "" {
		role += ": " + why
	}
	r.agent.Signals = append(r.agent.Signals, name+"="+value+" ("+role+")")
}

// A Whoami is the JSON result of "tt whoami".
type Whoami struct {
	AgentID         string          `json:"agent_id"`
	DisplayName     string          `json:"display_name"`
	Source          string          `json:"source"`
	SessionAnchor   string          `json:"session_anchor,omitempty"`
	ProcessMetadata ProcessMetadata `json:"process_metadata"`
	Detail          string          `json:"detail,omitempty"`
}

// ProcessMetadata says where the agent runs. PID and ProcessStartedAt are those of
// the harness's root process, absent if none is known.
type ProcessMetadata struct {
	HostID           string `json:"host_id,omitempty"`
	PID              int    `json:"pid,omitempty"`
	ProcessStartedAt string `json:"process_started_at,omitempty"` // RFC 3339, UTC, milliseconds
	SessionKind      string `json:"session_kind"`
}

// WhoamiJSON returns the JSON result for a.
func WhoamiJSON(a Agent) Whoami {
	meta := ProcessMetadata{HostID: a.Host, SessionKind: a.SessionKind}
	if a.Root != nil {
		meta.PID = a.Root.PID
		if !a.RootStartedAt.IsZero() {
			meta.ProcessStartedAt = a.RootStartedAt.UTC().Format(timeFormat)
		}
	}
	return Whoami{
		AgentID: a.ID, DisplayName: a.DisplayName, Source: a.Source,
		SessionAnchor: a.Anchor, ProcessMetadata: meta, Detail: a.Detail,
	}
}

const timeFormat = "2006-01-02T15:04:05.000Z"

// Explain returns the lines of "tt whoami --explain": who is calling and why, what
// was seen, the root process, and how to choose another id. Values come from the
// environment as they are: control characters must be escaped before printing.
func Explain(a Agent) []string {
	lines := []string{
		"agent    " + a.ID,
		fmt.Sprintf("source   %s: %s", a.Source, a.Detail),
	}
	if a.Anchor != "" {
		lines = append(lines, "anchor   "+a.Anchor)
	}
	lines = append(lines, "process  "+explainRoot(a))
	for _, s := range a.Signals {
		lines = append(lines, "seen     "+s)
	}
	return append(lines, "change   with --agent ID for one command, or TT_HARNESS_AGENT_ID for all")
}

func explainRoot(a Agent) string {
	if a.Root == nil {
		return "none known: while it holds the stick, its guardian process stands for it"
	}
	text := fmt.Sprintf("%d, alive", a.Root.PID)
	if !a.RootStartedAt.IsZero() {
		text += ", started " + a.RootStartedAt.UTC().Format(time.RFC3339)
	}
	if a.SessionExported {
		return text + "; the session may outlive it, so its end counts after a silence"
	}
	return text + "; its end ends the agent"
}
