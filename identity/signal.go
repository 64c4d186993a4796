package identity

import "github.com/talking-stick/tt/identity/harness"

// What a [Signal] did.
const (
	RoleIdentity = "identity" // it decided who is calling
	RoleAnchor   = "anchor"   // it tells this session from others
	RoleRoot     = "root"     // it is the process whose end ends the agent
	RoleIgnored  = "ignored"  // it was seen and does not count
)

// A Signal is one thing that Resolve has seen while finding out who is calling.
type Signal struct {
	Name    string // a variable, "--agent", "ancestor process", "parent process" or "user"
	Value   string // what was seen, as it was: print it with care
	Role    string // one of the Role constants
	Comment string // why it counts or does not; may be empty
}

func (r *resolver) note(name, value, role, comment string) {
	r.agent.Signals = append(r.agent.Signals, Signal{name, value, role, comment})
}

// noteOtherMarkers notes the markers of the harnesses that come after found.
func (r *resolver) noteOtherMarkers(found *harness.Harness) {
	for _, h := range harness.All() {
		if by, ok := markerOf(h, r.env); ok && h != found {
			r.note(by.Var, by.Value, RoleIgnored, found.Agent+" comes first")
		}
	}
}

// noteUnusedSignals notes variables of harnesses that do not identify one: a
// marker with another value, a session id or a pid without a marker.
func (r *resolver) noteUnusedSignals() {
	for _, h := range harness.All() {
		for _, m := range h.Markers {
			if v := r.env.get(m.Var); v != "" {
				r.note(m.Var, v, RoleIgnored, "only the value "+m.Value+" counts")
			}
		}
		for _, name := range append([]string{h.PIDVar, h.PIDHintVar}, h.SessionVars...) {
			if v := r.env.get(name); v != "" {
				r.note(name, v, RoleIgnored, "alone it is no sign of "+h.Agent)
			}
		}
	}
}
