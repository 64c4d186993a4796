package identity

// What a [Signal] did.
const (
	RoleIdentity = "identity" // it decided who is calling
	RoleAnchor   = "anchor"   // it tells this session from others
	RoleRoot     = "root"     // it is the process whose end ends the agent
	RoleIgnored  = "ignored"  // it was seen and does not count
)

// A Signal is one thing that was seen while finding out who is calling.
type Signal struct {
	Name    string // a variable, "--agent", "ancestor process", "parent process" or "user"
	Value   string // what was seen, as it was: print it with care
	Role    string // one of the Role constants
	Comment string // why it counts or does not; may be empty
}

func (r *resolver) note(name, value, role, comment string) {
	r.agent.Signals = append(r.agent.Signals, Signal{name, value, role, comment})
}

// noteOthers records the marks of harnesses that come after the one found.
func (r *resolver) noteOthers(found harness) {
	for _, h := range harnesses {
		if by, ok := h.markedBy(r.env); ok && h.name != found.name {
			r.note(by.variable, by.value, RoleIgnored, found.name+" comes first")
		}
	}
}

// noteLone records variables of harnesses that do not make one: a mark with
// another value, a session id or a pid without a mark.
func (r *resolver) noteLone() {
	for _, h := range harnesses {
		for _, m := range h.marks {
			if v := r.env.get(m.variable); v != "" {
				r.note(m.variable, v, RoleIgnored, "only the value "+m.value+" counts")
			}
		}
		for _, name := range append([]string{h.pidHint}, h.sessions...) {
			if v := r.env.get(name); v != "" {
				r.note(name, v, RoleIgnored, "alone it is no sign of "+h.name)
			}
		}
	}
}

func (r *resolver) noteHint(h harness, hint string, chain []Info) {
	switch {
	case hint == "":
	case len(chain) == 0:
		r.note(h.pidHint, hint, RoleIgnored, "no such process")
	default:
		r.note(h.pidHint, hint, RoleRoot, "")
	}
}
