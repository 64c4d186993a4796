package identity

import (
	"cmp"
	"strings"

	"github.com/talking-stick/tt/identity/harness"
)

// launchKind is the variable in which the cmux terminal names the harness that
// it started in this tab. It is asked just before grok's own markers.
const launchKind = "CMUX_AGENT_LAUNCH_KIND"

// HarnessByEnvironment returns the agent name of the harness that the environment
// identifies, TT_HARNESS_AGENT_ID included, and whether there is one: the id of a person
// names none. It reads variables only.
func HarnessByEnvironment(env Env) (name string, ok bool) {
	if id := env.get("TT_HARNESS_AGENT_ID"); id != "" {
		return beforeColon(id), !isHuman(id)
	}
	if h, _ := harnessByMarkers(env); h != nil {
		return h.Agent, true
	}
	return "", false
}

// harnessByMarkers returns the first harness that has a marker in env, and that
// marker with the value it has; nil if there is none.
func harnessByMarkers(env Env) (*harness.Harness, harness.Marker) {
	for _, h := range harness.All() {
		if h.ID == harness.Grok {
			kind := env.get(launchKind)
			if launched := harness.Find(kind); launched != nil {
				return launched, harness.Marker{Var: launchKind, Value: kind}
			}
		}
		if by, ok := markerOf(h, env); ok {
			return h, by
		}
	}
	return nil, harness.Marker{}
}

// markerOf returns the first marker of h that is in env, with the value it has.
func markerOf(h *harness.Harness, env Env) (harness.Marker, bool) {
	for _, m := range h.Markers {
		v := env.get(m.Var)
		if v != "" && (m.Value == "" || v == m.Value) {
			return harness.Marker{Var: m.Var, Value: v}, true
		}
	}
	return harness.Marker{}, false
}

// beforeColon returns the part of id before the first colon, or all of id if that
// part is empty.
func beforeColon(id string) string {
	if prefix, _, _ := strings.Cut(id, ":"); prefix != "" {
		return prefix
	}
	return id
}

// displayName returns what an id is called by: its harness, or for a person the name.
func displayName(id string) string {
	if name, ok := strings.CutPrefix(id, "human:"); ok {
		return cmp.Or(name, id)
	}
	return beforeColon(id)
}
