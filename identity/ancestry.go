package identity

import (
	"iter"
	"slices"
	"strconv"
	"sync"

	"github.com/talking-stick/tt/identity/harness"
)

// maxAncestors bounds the walk to pid 1; deeper chains are broken or hostile.
const maxAncestors = 64

// ownAncestors are the processes above this one. They are looked up once: whoever becomes the
// parent when one of them ends has not started this process.
var ownAncestors = sync.OnceValue(func() []Info { return slices.Collect(above(system.Inspect, system.Self().PID)) })

// ancestors returns the processes above pid, the parent first, as far up as
// they can be inspected.
func ancestors(table Table, pid int) []Info {
	if table != Table(system) {
		return slices.Collect(above(table.Inspect, pid))
	}
	own := ownAncestors()
	if pid == system.Self().PID {
		return own
	}
	if i := slices.IndexFunc(own, func(p Info) bool { return p.PID == pid }); i >= 0 {
		return own[i+1:]
	}
	return slices.Collect(above(table.Inspect, pid))
}

// isAbove reports whether one of processes is an ancestor of pid. It looks no further up than to a process that
// is older than all of them.
func isAbove(table Table, pid int, processes ...Process) bool {
	for p := range above(table.Look, pid) {
		if slices.Contains(processes, p.Process) {
			return true
		}
		if !slices.ContainsFunc(processes, func(q Process) bool { return couldBeParent(Info{Process: q}, p) }) {
			return false
		}
	}
	return false
}

// above returns the processes above pid as inspect has them, the parent first.
func above(inspect func(pid int) (Info, error), pid int) iter.Seq[Info] {
	return func(yield func(Info) bool) {
		info, err := inspect(pid)
		for n := 0; err == nil && n < maxAncestors && info.PPID > 0; n++ {
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

// nearestHarness returns the harness of the first process in chain that is one,
// nil if none is.
func nearestHarness(chain []Info) *harness.Harness {
	for _, p := range chain {
		if h := harnessOf(p); h != nil {
			return h
		}
	}
	return nil
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
