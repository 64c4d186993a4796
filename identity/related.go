package identity

// Related reports whether one of two processes is the other, or an ancestor of it.
func Related(table Table, a, b Process) bool {
	return a == b || isAbove(table, a.PID, b) || isAbove(table, b.PID, a)
}
