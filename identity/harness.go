package identity

import (
	"cmp"
	"strings"

	"github.com/talking-stick/tt/identity/harness"
)

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
		if kind := env.get(h.LaunchVar); h.LaunchVar != "" && harness.Find(kind) != nil {
			return harness.Find(kind), harness.Marker{Var: h.LaunchVar, Value: kind}
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
