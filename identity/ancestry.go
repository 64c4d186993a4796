package identity

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/talking-stick/tt/identity/harness"
)

// maxAncestors bounds the walk to pid 1; deeper chains are broken or hostile.
const maxAncestors = 64

// ownAncestors are the processes above this one. They are looked up once: whoever becomes the
// parent when one of them ends has not started this process.
var ownAncestors = sync.OnceValue(func() []Info { return chainAbove(system, system.Self().PID) })

// ancestors returns the processes above pid, the parent first, as far up as
// they can be inspected.
func ancestors(table Table, pid int) []Info {
	if table != Table(system) {
		return chainAbove(table, pid)
	}
	own := ownAncestors()
	if pid == system.Self().PID {
		return own
	}
	if i := slices.IndexFunc(own, func(p Info) bool { return p.PID == pid }); i >= 0 {
		return own[i+1:]
	}
	return chainAbove(table, pid)
}

func chainAbove(table Table, pid int) []Info {
	info, _ := table.Inspect(pid) // of one that is not there no parent is known
	return slices.Collect(above(table.Inspect, info))
}

// isAbove reports whether one of processes is an ancestor of child, which lives. It looks no further up than to a process that
// is older than all of them.
func isAbove(table Table, child Process, processes ...Process) bool {
	info, err := table.Look(child.PID)
	if err != nil || info.Process != child {
		return false
	}
	for p := range above(table.Look, info) {
		if slices.Contains(processes, p.Process) {
			return true
		}
		if !slices.ContainsFunc(processes, func(q Process) bool { return couldBeParent(Info{Process: q}, p) }) {
			return false
		}
	}
	return false
}

// above returns the processes above the one of info as inspect has them, the parent first.
func above(inspect func(pid int) (Info, error), info Info) iter.Seq[Info] {
	return func(yield func(Info) bool) {
		for n := 0; n < maxAncestors && info.PPID > 0; n++ {
			parent, err := inspect(info.PPID)
			if err != nil || parent.PID == info.PID || !couldBeParent(parent, info) || !yield(parent) {
				return
			}
			info = parent
		}
	}
}

// couldBeParent returns false if parent started after child: then the true parent
// has ended, and its pid has been given to another process.
func couldBeParent(parent, child Info) bool {
	return !startsInOrder || parent.Start <= child.Start
}

// furthest returns the last process in chain that is the harness h. Wrappers and
// workers of the same session lie between it and the caller.
func furthest(chain []Info, h *harness.Harness) (Info, bool) {
	for i := len(chain) - 1; i >= 0; i-- {
		if !chain[i].Zombie && harnessOf(chain[i]) == h {
			return chain[i], true
		}
	}
	return Info{}, false
}

// caller returns the process that identifies the session when nothing better
// does: the parent, without the shells that were started for one command, because
// they would make every command a new agent. Process 1 adopts the orphans of all
// sessions, so it is used only if it is the sole ancestor.
func caller(chain []Info) (Info, bool) {
	for _, p := range chain {
		if p.PID > 1 && !runsOneCommand(words(p.Args)) {
			return p, true
		}
	}
	if len(chain) > 0 {
		return chain[0], true
	}
	return Info{}, false
}

// byPID returns the process that has the pid in value. A zombie has ended, and a
// process younger than the caller has only inherited the pid: neither is returned.
func byPID(table Table, value string) (Info, bool) {
	pid, err := strconv.Atoi(value)
	if err != nil || pid <= 0 {
		return Info{}, false
	}
	p, err := table.Inspect(pid)
	if err != nil || p.Zombie || !couldBeParent(p, Info{Process: table.Self()}) {
		return Info{}, false
	}
	return p, true
}

// ProgramOf returns the path of the executable of the harness that has started this process, "" if
// it is not known: it need not be the one on the PATH.
func ProgramOf(table Table, h *harness.Harness) string {
	for _, p := range ancestors(table, table.Self().PID) {
		path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID))
		if err != nil && len(p.Args) > 0 {
			path = p.Args[0]
		}
		if filepath.IsAbs(path) && filepath.Base(path) == h.Program {
			return path
		}
	}
	return ""
}

// Related reports whether one of two processes is the other, or an ancestor of it.
func Related(table Table, a, b Process) bool {
	return a == b || isAbove(table, a, b) || isAbove(table, b, a)
}

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
	if root != nil && isAbove(table, *root, owners...) {
		return true
	}
	if !isAbove(table, table.Self(), owners...) {
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
	return root != nil && slices.ContainsFunc(others, func(p Process) bool { return p != *root && isAbove(table, p, *root) })
}
