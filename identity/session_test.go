package identity_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/talking-stick/tt/identity"
)

var (
	claude = vars{"CLAUDECODE": "1"}
	codex  = vars{"CODEX_MANAGED_BY_NPM": "1"}
	gemini = vars{"GEMINI_CLI": "1"}
	export = vars{"TT_HARNESS_EXPORT": "1"}
)

// node is claude as npm installs it: an interpreter with a path.
var node = []string{"node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"}

func TestSameSessionFromEveryDepth(t *testing.T) {
	for _, e := range []vars{claude, export} {
		table := newFakeTable()
		root := table.Start(table.Start(1, "-zsh"), node...)
		ids := map[string]bool{}
		look := func(parent int) {
			table.Call(parent)
			a := resolve(t, env(e, vars{"ITERM_SESSION_ID": table.Self().String()}), table)
			ids[a.ID] = true
			if a.Root == nil || *a.Root != table.Process(root) || a.SessionExported {
				t.Errorf("root %v, want %v", a.Root, table.Process(root))
			}
			if a.Anchor != "process:"+a.Root.String() {
				t.Errorf("anchor %q", a.Anchor)
			}
			if a.RootStartedAt.IsZero() {
				t.Error("no start time")
			}
		}
		look(root)
		deep := table.Start(root, "claude") // a worker of the same session
		for range 20 {
			deep = table.Start(deep, "bash", "-c", "make")
			look(deep)
		}
		look(table.Start(root, "sh", "-c", "tt"))
		table.Exec(deep, "make")
		look(deep)
		if len(ids) != 1 {
			t.Errorf("one session has the ids %v", ids)
		}
	}
}

func TestAncestrySource(t *testing.T) {
	for value, want := range map[string]string{
		"1": identity.SourceAncestry, "true": identity.SourceAncestry, "TRUE": identity.SourceAncestry, " True ": identity.SourceAncestry,
		"0": identity.SourceHuman, "": identity.SourceHuman, "yes": identity.SourceHuman, "11": identity.SourceHuman,
	} {
		table := newFakeTable()
		table.Call(table.Start(table.Start(1, "agy"), "bash", "-c", "x"))
		if a := resolve(t, env(vars{"TT_HARNESS_EXPORT": value}), table); a.Source != want {
			t.Errorf("%q: %s, want %s", value, a.Source, want)
		}
	}
}

func TestNearestHarnessIsTheCaller(t *testing.T) {
	table := newFakeTable()
	outer := table.Start(1, "claude")
	inner := table.Start(table.Start(outer, "bash", "-c", "codex exec"), "codex")
	table.Call(table.Start(inner, "bash", "-c", "tt"))
	a := resolve(t, env(export), table)
	if a.Harness != "codex" || *a.Root != table.Process(inner) {
		t.Errorf("%s with root %v", a.ID, a.Root)
	}
}

func TestSessionsSideBySideDiffer(t *testing.T) {
	table := newFakeTable()
	ids := map[string]bool{}
	for range 5 {
		table.Call(table.Start(table.Start(1, "codex"), "sh", "-c", "tt"))
		ids[resolve(t, env(codex), table).ID] = true
	}
	if len(ids) != 5 {
		t.Errorf("five sessions have the ids %v", ids)
	}
}

func TestSameNumbersAfterARebootAreAnotherSession(t *testing.T) {
	table := newFakeTable()
	table.Call(table.Start(1, "codex"))
	before := resolve(t, env(codex), table)
	table.Move(fakeHost, "boot2", fakeNamespace)
	after := resolve(t, env(codex), table)
	if before.Anchor != after.Anchor || before.ID == after.ID {
		t.Errorf("%s %s and %s %s", before.Anchor, before.ID, after.Anchor, after.ID)
	}
}

func TestExportedSessionDecidesTheID(t *testing.T) {
	table := newFakeTable()
	id := func(e identity.Env, harness ...string) string {
		table.Call(table.Start(table.Start(1, harness...), "sh", "-c", "tt"))
		a := resolve(t, e, table)
		if !a.SessionExported || a.Root == nil || *a.Root == table.Self() {
			t.Errorf("exported %v, root %v", a.SessionExported, a.Root)
		}
		return a.ID
	}
	s := vars{"CLAUDE_CODE_SESSION_ID": "s", "CODEX_THREAD_ID": "s"}
	first := id(env(claude, s, vars{"TMUX_PANE": "%1"}), "claude")
	if again := id(env(claude, s, vars{"TMUX_PANE": "%2"}), node...); again != first {
		t.Errorf("one session has %s and %s", first, again)
	}
	if other := id(env(claude, s, vars{"CLAUDE_CODE_SESSION_ID": "s2"}), "claude"); other == first {
		t.Error("another session has the same id")
	}
	if other := id(env(s), "codex"); strings.TrimPrefix(other, "codex:") == strings.TrimPrefix(first, "claude:") {
		t.Error("the same value with another harness has the same digits")
	}
	elsewhere := env(claude, s)
	elsewhere.Host = "barn"
	if id(elsewhere, "claude") == first {
		t.Error("another host has the same id")
	}
	elsewhere = env(claude, s)
	elsewhere.User = "bea"
	if id(elsewhere, "claude") == first {
		t.Error("another user has the same id")
	}
}

func TestTerminals(t *testing.T) {
	table := shell()
	id := func(v vars) (string, string) {
		a := resolve(t, env(gemini, v), table)
		return a.ID, a.Anchor
	}
	one, anchor := id(vars{"CMUX_TAB_ID": "t1"})
	table.Call(table.Start(1, "fish"))
	if again, _ := id(vars{"CMUX_TAB_ID": "t1", "TMUX_PANE": "%9"}); again != one || anchor != "terminal:CMUX_TAB_ID=t1" {
		t.Errorf("%s and %s in one tab, anchor %s", one, again, anchor)
	}
	if other, _ := id(vars{"CMUX_TAB_ID": "t2"}); other == one {
		t.Error("two tabs have one id")
	}
	first, _ := id(vars{"TMUX_PANE": "%0", "TMUX": "/tmp/a,1,0"})
	if other, _ := id(vars{"TMUX_PANE": "%0", "TMUX": "/tmp/b,2,0"}); other == first {
		t.Error("pane 0 of two tmux servers has one id")
	}
	order := []string{"ITERM_SESSION_ID", "CMUX_TAB_ID", "KITTY_WINDOW_ID", "WEZTERM_PANE", "TERMINATOR_UUID", "TMUX_PANE", "STY"}
	v := vars{}
	for i := len(order) - 1; i >= 0; i-- {
		v[order[i]] = "7"
		if _, anchor := id(v); anchor != "terminal:"+order[i]+"=7" {
			t.Errorf("with %v: %s", v, anchor)
		}
	}
}

func TestParentIsTheLastResort(t *testing.T) {
	table := newFakeTable()
	program := table.Start(table.Start(1, "-bash"), "my-harness")
	ids := map[string]bool{}
	for range 3 { // a fresh shell for each command
		table.Call(table.Start(table.Start(program, "bash", "-c", "x"), "sh", "-ec", "y"))
		a := resolve(t, env(gemini), table)
		ids[a.ID] = true
		if a.Anchor != "parent:"+table.Process(program).String() || a.Root != nil {
			t.Errorf("anchor %q, root %v", a.Anchor, a.Root)
		}
	}
	table.Call(table.Start(1, "my-harness"))
	ids[resolve(t, env(gemini), table).ID] = true
	if len(ids) != 2 {
		t.Errorf("two parents have the ids %v", ids)
	}
	orphan := table.Start(1, "bash", "-c", "x")
	table.Call(orphan)
	if a := resolve(t, env(gemini), table); a.Anchor != "parent:"+table.Process(orphan).String() {
		t.Errorf("below init: anchor %q", a.Anchor)
	}
}

func TestNothingToSee(t *testing.T) {
	table := newFakeTable()
	table.Hide(table.Call(1))
	if a := resolve(t, env(gemini), table); a.Anchor != "user:ada@lab" || a.Root != nil {
		t.Errorf("%+v", a)
	}
}

func TestPIDHint(t *testing.T) {
	hint := func(table *fakeTable, pid string) identity.Agent {
		return resolve(t, env(claude, vars{"CMUX_CLAUDE_PID": pid}), table)
	}
	table := newFakeTable()
	table.Start(1, "some-claude") // 101
	table.Call(table.Start(1, "bash"))
	if a := hint(table, "101"); a.Root == nil || a.Root.PID != 101 {
		t.Errorf("a living process: root %v", a.Root)
	}
	for _, bad := range []string{"999", "x", "-1", "1", "0"} {
		if a := hint(table, bad); a.Root != nil || !strings.HasPrefix(a.Anchor, "parent:") {
			t.Errorf("hint %s: root %v, anchor %s", bad, a.Root, a.Anchor)
		}
	}
	own := table.Start(1, "claude")
	table.Call(own)
	if a := hint(table, "101"); a.Root == nil || a.Root.PID != own {
		t.Errorf("a hint without the name beats an ancestor with it: %v", a.Root)
	}
	table.Zombify(101)
	table.Call(1)
	if a := hint(table, "101"); a.Root != nil {
		t.Errorf("a zombie is a root: %v", a.Root)
	}
	table.StartAs(101, 1, "late")
	if a := hint(table, "101"); a.Root != nil && startsAreExact {
		t.Errorf("a process younger than the caller is its root: %v", a.Root)
	}
}

func TestExportedPIDIsTheRoot(t *testing.T) {
	table := newFakeTable()
	named := table.Start(1, "claude-helper")
	table.Call(table.Start(table.Start(1, "claude"), "bash")) // an ancestor that looks like it
	e := vars{"CLAUDE_PID": strconv.Itoa(named), "CMUX_CLAUDE_PID": "1"}
	before := table.Inspected()
	a := resolve(t, env(claude, e), table)
	if a.Root == nil || *a.Root != table.Process(named) || a.Anchor != "process:"+a.Root.String() {
		t.Errorf("root %v, anchor %s", a.Root, a.Anchor)
	}
	if n := table.Inspected() - before; n != 1 {
		t.Errorf("looked at %d processes, want only the one that is named", n)
	}
	if a := resolve(t, env(claude, e, vars{"CLAUDE_CODE_SESSION_ID": "s"}), table); a.Root == nil || a.Root.PID != named || a.Anchor != "session:s" {
		t.Errorf("with a session: root %v, anchor %s", a.Root, a.Anchor)
	}
	if a := resolve(t, env(codex, e), table); a.Root != nil {
		t.Errorf("of another harness: root %v", a.Root)
	}
	if a := resolve(t, env(claude, vars{"CLAUDE_PID": "1"}), table); a.Root == nil || a.Root.PID != 1 {
		t.Errorf("process 1 of a container: root %v", a.Root)
	}
	table.End(named)
	if a := resolve(t, env(claude, e), table); a.Root == nil || a.Root.PID == named {
		t.Errorf("after its end: root %v", a.Root)
	}
}

func TestReusedParentBreaksTheChain(t *testing.T) {
	if !startsAreExact {
		t.Skip("start times of this system are not ordered")
	}
	table := newFakeTable()
	parent := table.Start(1, "bash")
	table.Call(parent)
	table.StartAs(parent, 1, "claude") // takes the pid over before it is looked at
	if a := resolve(t, env(export), table); a.Source != identity.SourceHuman {
		t.Errorf("%+v", a)
	}
}

func TestEndlessChain(t *testing.T) {
	table := newFakeTable()
	pid := table.Start(1, "claude")
	for range 200 {
		pid = table.Start(pid, "bash", "script")
	}
	table.Call(pid)
	if a := resolve(t, env(claude), table); a.Root != nil {
		t.Errorf("looked further than 64 levels: %v", a.Root)
	}
	if n := table.Inspected(); n > 70 {
		t.Errorf("looked at %d processes", n)
	}
}

func TestHarnessAsProcessOne(t *testing.T) {
	table := newFakeTable()
	table.Exec(1, "claude")
	table.Call(table.Start(1, "bash", "-c", "tt"))
	if a := resolve(t, env(claude), table); a.Root == nil || a.Root.PID != 1 {
		t.Errorf("root %v", a.Root)
	}
}

// A daemon of the harness that starts sessions in the background is the process of none of them.
func TestADaemonIsNobodysProcess(t *testing.T) {
	for name, args := range map[string][]string{
		"its own program":    {"/home/ada/.local/bin/claude", "daemon", "run"},
		"run by node":        append(append([]string{}, node...), "daemon", "run"),
		"one rewritten argv": {"claude daemon run"},
	} {
		table := newFakeTable()
		daemon := table.Start(table.Start(1, "claude"), args...)
		session := table.Start(daemon, "/home/ada/.local/share/claude/versions/2.1.250", "--bg-spare")
		table.Call(table.Start(session, "bash", "-c", "tt"))
		if a := resolve(t, env(claude), table); a.Root == nil || *a.Root != table.Process(session) {
			t.Errorf("%s: root %v, want that of the session", name, a.Root)
		}
		table.Call(table.Start(table.Start(daemon, "/opt/2.1.250", "--bg-spare"), "bash", "-c", "tt"))
		if a := resolve(t, env(claude), table); a.Root != nil {
			t.Errorf("%s: root %v of a session that is not recognised", name, a.Root)
		}
	}
	table := newFakeTable()
	root := table.Start(1, "claude", "-p", "daemon run")
	table.Call(table.Start(root, "bash"))
	if a := resolve(t, env(claude), table); a.Root == nil || *a.Root != table.Process(root) {
		t.Errorf("a prompt makes a daemon: %v", a.Root)
	}
}

// The first terminal of Codex starts a server that runs the threads of all terminals,
// so neither the server nor that terminal says whether a session lives.
func TestAServerOfManySessionsIsNobodysProcess(t *testing.T) {
	thread := vars{"CODEX_THREAD_ID": "t1"}
	for name, args := range map[string][]string{
		"its own program":    {"/home/ada/.codex/packages/app-server-daemon/codex", "app-server", "--listen", "unix://"},
		"run by node":        {"node", "/usr/lib/node_modules/@openai/codex/bin/codex.js", "app-server"},
		"one rewritten argv": {"codex app-server --listen unix://"},
	} {
		table := newFakeTable()
		server := table.Start(table.Start(1, "codex"), args...)
		tool := table.Start(server, "bash", "-c", "tt")
		table.Call(tool)
		a := resolve(t, env(thread), table)
		if a.Root != nil || a.Anchor != "session:t1" {
			t.Errorf("%s: root %v, anchor %s", name, a.Root, a.Anchor)
		}
		id := a.ID
		table.Call(table.Start(table.Start(1, "codex"), "bash", "-c", "tt"))
		if a := resolve(t, env(thread), table); a.ID != id || a.Root == nil {
			t.Errorf("%s: without the server it is %s with root %v, with it %s", name, a.ID, a.Root, id)
		}
		table.Call(table.Start(table.Start(tool, "codex", "exec"), "bash", "-c", "tt"))
		if a := resolve(t, env(vars{"CODEX_THREAD_ID": "t2"}), table); a.Root == nil || table.Process(server) == *a.Root {
			t.Errorf("%s: a program of its own below the server has the root %v", name, a.Root)
		}
	}
	table := newFakeTable()
	table.Call(table.Start(table.Start(1, "claude", "app-server"), "bash"))
	if a := resolve(t, env(claude), table); a.Root == nil {
		t.Error("the argument means nothing to other harnesses")
	}
}
