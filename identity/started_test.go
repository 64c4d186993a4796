package identity_test

import (
	"testing"

	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
)

// chain returns a table in which each program is the parent of the next one, which ends
// with the caller, and their processes.
func chain(programs ...string) (*fakeTable, []identity.Process) {
	table := newFakeTable()
	var processes []identity.Process
	parent := 1
	for _, name := range programs {
		parent = table.Start(parent, name)
		info, _ := table.Inspect(parent)
		processes = append(processes, info.Process)
	}
	table.Call(parent)
	return table, processes
}

// An agent that runs another one in its shell does not wait for itself.
func TestStartedBy(t *testing.T) {
	for _, outer := range harness.All() {
		for _, inner := range harness.All() {
			table, p := chain("zsh", outer.Program, "bash", "launcher", "sh") // the inner one is known by its environment only
			if got := identity.StartedBy(table, inner.Agent, nil, p[1:2]); got != (outer.Agent != inner.Agent) {
				t.Errorf("%s runs %s, which has no process of its name: %v", outer.Program, inner.Program, got)
			}
			table, p = chain("zsh", outer.Program, "bash", inner.Program, "sh")
			if !identity.StartedBy(table, inner.Agent, nil, p[1:2]) {
				t.Errorf("%s runs %s in its shell: not seen", outer.Program, inner.Program)
			}
			table, p = chain("zsh", outer.Program, inner.Program, "sh")
			if got := identity.StartedBy(table, inner.Agent, nil, p[1:2]); got != (outer != inner) {
				t.Errorf("%s is the parent of %s: %v", outer.Program, inner.Program, got)
			}
			if !identity.StartedBy(table, inner.Agent, &p[2], p[1:2]) {
				t.Errorf("%s is the parent of %s, which knows its own process: not seen", outer.Program, inner.Program)
			}
		}
	}
}

// A session is started by the ancestors of its process, also where its hooks run elsewhere.
func TestStartedByAncestorOfRoot(t *testing.T) {
	table, p := chain("zsh", "claude", "bash", "claude", "sh")
	table.Call(table.Start(1, "sh"))
	if !identity.StartedBy(table, "claude", &p[3], p[1:2]) {
		t.Error("the ancestor of its process is not seen")
	}
	if identity.StartedBy(table, "claude", &p[1], p[3:4]) || identity.StartedBy(table, "claude", &p[3], p[3:4]) {
		t.Error("it was started by its descendant, or by itself")
	}
}

func TestNotStartedBy(t *testing.T) {
	table, p := chain("zsh", "claude", "sh")
	for name, owner := range map[string]identity.Process{"itself": p[1], "the shell of a person": {PID: 99, Start: 99}, "its own command": p[2]} {
		if identity.StartedBy(table, "claude", &p[1], []identity.Process{owner}) {
			t.Errorf("claude was started by %s", name)
		}
	}
	table, p = chain("python3", "sh")
	if identity.StartedBy(table, "claude", nil, p[:1]) || identity.StartedBy(table, "claude", &p[0], p[:1]) {
		t.Error("a process without a harness was started by one of its ancestors")
	}
	if identity.StartedBy(table, "claude", nil, nil) {
		t.Error("nobody has started it")
	}
}
