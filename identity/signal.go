package identity

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
