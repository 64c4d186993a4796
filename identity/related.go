package identity

import "slices"

// Related reports whether one of two processes is the other, or an ancestor of it.
func Related(table Table, a, b Process) bool {
	above := func(p, ancestor Process) bool {
		return slices.ContainsFunc(ancestors(table, p.PID), func(i Info) bool { return i.Process == ancestor })
	}
	return a == b || above(a, b) || above(b, a)
}
