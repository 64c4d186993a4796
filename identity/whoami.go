package identity

import (
	"fmt"
	"time"
)

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
