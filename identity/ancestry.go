package identity

import "strconv"

// maxAncestors bounds the walk to pid 1; deeper chains are broken or hostile.
const maxAncestors = 64

// ancestors returns the processes above pid, the parent first, as far up as
// they can be inspected. It starts with pid itself when inclusive.
func ancestors(table Table, pid int, inclusive bool) []Info {
	info, err := table.Inspect(pid)
	if err != nil {
		return nil
	}
	var chain []Info
	if inclusive {
		chain = append(chain, info)
	}
	for len(chain) < maxAncestors && info.PPID > 0 {
		parent, err := table.Inspect(info.PPID)
		if err != nil || parent.PID == info.PID || !couldBeParent(parent, info) {
			break
		}
		chain = append(chain, parent)
		info = parent
	}
	return chain
}

// couldBeParent is false when the parent ended between the two looks and its
// pid went to a younger process.
func couldBeParent(parent, child Info) bool {
	return !startsInOrder || parent.Start <= child.Start
}

// nearestHarness returns the harness of the first process in chain that is one.
func nearestHarness(chain []Info) string {
	for _, p := range chain {
		if h := harnessOf(p); h != "" {
			return h
		}
	}
	return ""
}

// furthest returns the last process in chain that is the named harness.
// Wrappers and workers of one session lie between it and the caller.
func furthest(chain []Info, name string) (Info, bool) {
	for i := len(chain) - 1; i >= 0; i-- {
		if !chain[i].Zombie && harnessOf(chain[i]) == name {
			return chain[i], true
		}
	}
	return Info{}, false
}

// caller returns the process that stands for the session when nothing better
// does: the parent, not counting shells that were started for this one command,
// for those would make a new agent of every command. Pid 1 adopts orphans of
// every session, so it stands for none unless there is nothing else.
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

// hinted returns the process whose pid a variable holds, with the chain above
// it. A process younger than the caller took the pid over from the one meant.
func hinted(table Table, value string, self Process) []Info {
	pid, err := strconv.Atoi(value)
	if err != nil || pid <= 1 {
		return nil
	}
	chain := ancestors(table, pid, true)
	if len(chain) == 0 || chain[0].Zombie || !couldBeParent(chain[0], Info{Process: self}) {
		return nil
	}
	return chain
}
