package turn

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// wants reports whether the member is to have the turn when a hook releases it.
func wants(f Facts, m *Member) bool {
	return f.presence(m.AgentID).Wants || f.isWaiting(m.AgentID)
}

// IsWanted reports whether another member waits for the turn or wants it.
func (s *State) IsWanted(f Facts, agent string) bool { return s.fairestOf(f, agent, wants) != nil }

// Calls reports whether the agent, whose write was refused and which is to be called, may have the turn now: it may
// claim it, or take it over.
func (s *State) Calls(f Facts, agent string) bool {
	switch {
	case !s.Open || s.Member(agent) == nil || s.Owner == agent && f.Window == 0 || !f.presence(agent).Wants:
		return false
	case s.claimable(f, TryRequest{Agent: agent}):
		return true
	}
	kind := s.takeoverReason(f)
	return kind != "" && s.eligible(f, agent, kind)
}

// forNobody reports whether a hook has released the turn and nobody wanted it: then nobody is woken.
func (p *PendingHandoff) forNobody() bool { return p.Auto && p.Preferred == "" }

// IdleFor returns how long it is until a holder whose model is idle may be taken over for that:
// zero if it may, negative if it will not be by time alone.
func (s *State) IdleFor(f Facts) time.Duration {
	if reason, left := s.rest(f); reason == ReasonOwnerIdle {
		return left
	}
	return -1
}

// mostArtifacts is how many files an automatic handoff names.
const mostArtifacts = 20

// AutoHandoff returns the handoff of a turn that a hook ends. It has facts only, those of the
// turn's tree_changed event among events. unchanged is true if the turn is known to have
// changed nothing. verified says which verdicts there are on the tree, "" for none.
func AutoHandoff(events []event.Event, verified string) (handoff json.RawMessage, unchanged bool) {
	h := struct {
		Handoff
		Auto bool `json:"auto"`
	}{Handoff{Status: "auto: what has changed was not recorded", NextAction: "see tt diff"}, true}
	var c struct {
		Span       string
		Files      int
		Unknown    string
		Paths      []Artifact
		Head       *struct{ Commits int }
		Unsure     []string
		MoreUnsure int `json:"more_unsure"`
	}
	for i := range events {
		if events[i].Type != TreeChanged || json.Unmarshal(events[i].Payload, &c) != nil || c.Unknown != "" {
			continue
		}
		unsure, named := c.MoreUnsure, len(c.Paths)
		for _, path := range c.Unsure {
			if !slices.ContainsFunc(c.Paths[:named], func(a Artifact) bool { return a.Path == path }) {
				c.Paths = append(c.Paths, Artifact{Path: path})
				unsure++
			}
		}
		if c.Files+unsure == 0 && c.Head == nil {
			h.Status, h.NextAction, unchanged = "auto: nothing changed", "none", true
			break
		}
		h.Status = "auto: changed " + code.Count(c.Files+unsure, "file")
		if c.Head != nil {
			h.Status += ", " + code.Count(c.Head.Commits, "commit")
		}
		if verified != "" {
			h.Status += "; verified: " + verified
		}
		h.Artifacts = c.Paths[:min(len(c.Paths), mostArtifacts)]
	}
	return wire.Append(nil, h), unchanged
}
