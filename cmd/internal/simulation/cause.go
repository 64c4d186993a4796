package simulation

import "strings"

// cause names the cause of what a run has found, from a trace that is as short as it goes.
func (o *outcome) cause() string {
	has, opened := map[string]bool{}, map[string][]string{} // windows by session
	again := false
	for _, a := range o.acts {
		has[a.verb] = true
		if a.verb == "tt" {
			has["tt "+a.arg(2)] = true
		}
		if a.verb == "open" || a.verb == "clear" {
			for _, name := range opened[a.arg(1)] {
				has["twin"] = has["twin"] || name != a.arg(0)
				again = again || name == a.arg(0)
			}
			opened[a.arg(1)] = append(opened[a.arg(1)], a.arg(0))
		}
	}
	two := strings.HasPrefix(o.class, "two write")
	switch {
	case has["back"]:
		return "a room put back from a copy"
	case has["cut"], has["lose"], has["older"]:
		return "a journal cut off, lost or put back"
	case has["twin"]:
		return "a second window of a session"
	case o.class == "a session refuses itself", o.class == "a write is let pass without the turn", o.class == "the beginning is not recorded":
		return o.class
	case has["clear"], has["quit"] && !again:
		return "a session that has ended is not gone"
	case again:
		return "a session that is back is judged by a file that hooks do not write"
	case two:
		return "a permission beside the protocol"
	case o.class == "a reader says that a guardian has ended that lives" && !has["power"]:
		return "a record that is missing, or is newer than what was read, is taken for a fact"
	case has["power"]:
		return "a power cut"
	}
	return o.class
}
