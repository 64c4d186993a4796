package identity

import "slices"

// StartedBy reports whether the session that the calling process belongs to was started
// by one of owners: by a command that the agent of that process has run. root is the
// process that identifies the calling session, nil if none is known, and kind the name of
// its harness: if no process has that name, the session is known by its environment only.
//
// A harness may consist of several processes, each the parent of the next, and may have
// several sessions. So another session is seen only by a process of another harness, by a
// command between two processes of the same one, or by its own root: a session is started by those
// whose processes are ancestors of its root, wherever the calling process is.
func StartedBy(table Table, kind string, root *Process, owners []Process) bool {
	if len(owners) == 0 {
		return false
	}
	if root != nil {
		info, err := table.Look(root.PID)
		if err == nil && info.Process == *root && isAbove(table, root.PID, owners...) {
			return true
		}
	}
	if !isAbove(table, table.Self().PID, owners...) {
		return false
	}
	chain := ancestors(table, table.Self().PID)
	own := slices.IndexFunc(chain, func(p Info) bool { return !p.Zombie && harnessOf(p) != nil })
	byRoot := -1
	if root != nil {
		byRoot = slices.IndexFunc(chain, func(p Info) bool { return p.Process == *root })
	}
	if own < 0 {
		own = byRoot
	}
	if own < 0 {
		return false
	}
	h, command := harnessOf(chain[own]), false
	if root == nil && kind != "" && h.Agent != kind {
		own, command = -1, true
	}
	for i := own + 1; i < len(chain); i++ {
		other := harnessOf(chain[i])
		if slices.Contains(owners, chain[i].Process) && (command || other != h || byRoot >= 0 && byRoot < i) {
			return true
		}
		command = command || other == nil
	}
	return false
}

// HasStarted reports whether root, the process of a session, is an ancestor of one of others: those of a session that a command
// of the first has run. root is nil if it is not known.
func HasStarted(table Table, root *Process, others []Process) bool {
	return root != nil && slices.ContainsFunc(others, func(p Process) bool {
		info, err := table.Look(p.PID)
		return err == nil && info.Process == p && isAbove(table, p.PID, *root)
	})
}
