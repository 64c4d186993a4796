package identity_test

import (
	"errors"
	"regexp"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity"
)

// vars is an environment.
type vars map[string]string

// env is the environment of user ada on host lab, with one set of variables
// over the other.
func env(sets ...vars) identity.Env {
	all := vars{}
	for _, set := range sets {
		for k, v := range set {
			all[k] = v
		}
	}
	return identity.Env{Lookup: func(name string) string { return all[name] }, User: "ada", Host: "lab"}
}

func resolve(t *testing.T, e identity.Env, table identity.Table) identity.Agent {
	t.Helper()
	a, err := identity.Resolve(e, table, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := identity.ValidateAgentID(a.ID); err != nil {
		t.Error(err)
	}
	return a
}

// shell is a table with a caller below an interactive shell and no harness.
func shell() *fakeTable {
	table := newFakeTable()
	table.Call(table.Start(1, "-bash"))
	return table
}

func TestHarnessByItsVariables(t *testing.T) {
	for _, c := range []struct {
		harness, anchor string
		env             vars
	}{
		{"claude", "session:s1", vars{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}},
		{"claude", "session:s1", vars{"CLAUDECODE": " 1 ", "CLAUDE_CODE_SESSION_ID": " s1\n", "CODEX_THREAD_ID": "t"}},
		{"codex", "session:t1", vars{"CODEX_THREAD_ID": "t1"}},
		{"codex", "session:t1", vars{"CODEX_THREAD_ID": "t1", "CODEX_MANAGED_BY_NPM": "1", "GEMINI_CLI": "1"}},
		{"codex", "terminal:STY=x", vars{"CODEX_MANAGED_BY_NPM": "1", "STY": "x"}},
		{"antigravity", "terminal:STY=x", vars{"ANTIGRAVITY_AGENT": "1", "STY": "x"}},
		{"antigravity", "session:c", vars{"ANTIGRAVITY_CONVERSATION_ID": "c", "ANTIGRAVITY_TRAJECTORY_ID": "t"}},
		{"antigravity", "session:t", vars{"ANTIGRAVITY_TRAJECTORY_ID": "t", "GEMINI_CLI": "1"}},
		{"gemini", "terminal:CMUX_TAB_ID=t1", vars{"GEMINI_CLI": "1", "CMUX_TAB_ID": "t1"}},
		{"opencode", "session:r", vars{"OPENCODE": "1", "OPENCODE_RUN_ID": "r", "OPENCODE_PID": "7"}},
		{"opencode", "session:7", vars{"OPENCODE": "1", "OPENCODE_RUN_ID": " ", "OPENCODE_PID": "7"}},
		{"copilot", "session:c", vars{"COPILOT_AGENT_SESSION_ID": "c"}},
		{"copilot", "terminal:STY=x", vars{"COPILOT_CLI": "1", "STY": "x"}},
		{"qwen", "terminal:STY=x", vars{"QWEN_CODE": "1", "STY": "x"}},
		{"cursor", "session:c", vars{"CURSOR_AGENT": "1", "CURSOR_CONVERSATION_ID": "c"}},
		{"cursor", "terminal:STY=x", vars{"CURSOR_AGENT": "1", "STY": "x"}},
		{"claude", "terminal:STY=x", vars{"CURSOR_AGENT": "1", "CURSOR_CONVERSATION_ID": "c", "CLAUDECODE": "1", "STY": "x"}},
		{"grok", "session:g", vars{"GROK_AGENT": "1", "GROK_SESSION_ID": "g"}},
		{"grok", "terminal:STY=x", vars{"CMUX_AGENT_LAUNCH_KIND": "Grok", "STY": "x"}},
		{"antigravity", "terminal:STY=x", vars{"CMUX_AGENT_LAUNCH_KIND": "agy", "GROK_AGENT": "1", "STY": "x"}},
		{"claude", "terminal:STY=x", vars{"CMUX_AGENT_LAUNCH_KIND": "grok", "CLAUDECODE": "1", "STY": "x"}},
		{"opencode", "terminal:STY=x", vars{"CMUX_AGENT_LAUNCH_KIND": "grok", "OPENCODE": "1", "STY": "x"}},
	} {
		a := resolve(t, env(c.env), shell())
		if a.Harness != c.harness || a.DisplayName != c.harness || a.Source != identity.SourceEnvironment || a.SessionKind != identity.HarnessCLI {
			t.Errorf("%v: %+v", c.env, a)
		}
		if a.Anchor != c.anchor {
			t.Errorf("%v: anchor %q, want %q", c.env, a.Anchor, c.anchor)
		}
		if a.SessionExported != (a.Anchor[:8] == "session:") || a.Root != nil {
			t.Errorf("%v: exported %v, root %v", c.env, a.SessionExported, a.Root)
		}
		if !regexp.MustCompile(`^` + c.harness + `:[0-9a-f]{8}$`).MatchString(a.ID) {
			t.Errorf("%v: id %q", c.env, a.ID)
		}
		if name, ok := identity.HarnessByEnvironment(env(c.env)); !ok || name != c.harness {
			t.Errorf("%v: by environment %q %v", c.env, name, ok)
		}
	}
}

func TestNoHarnessByTheseVariables(t *testing.T) {
	for _, v := range []vars{
		{},
		{"CLAUDECODE": "0"}, {"CLAUDECODE": " "}, {"CLAUDECODE": "true"},
		{"CLAUDE_CODE_SESSION_ID": "s"}, {"CLAUDE_CODE_EXECPATH": "/x/claude"}, {"CMUX_CLAUDE_PID": "101"},
		{"CODEX_MANAGED_BY_NPM": "yes"}, {"CODEX_THREAD_ID": "  "},
		{"ANTIGRAVITY_AGENT": "0"}, {"GEMINI_CLI": "2"}, {"OPENCODE_RUN_ID": "r"}, {"OPENCODE": ""},
		{"GROK_SESSION_ID": "g"}, {"CMUX_AGENT_LAUNCH_KIND": "vim"}, {"TT_HARNESS_AGENT_ID": " "},
		{"TT_HARNESS_EXPORT": "1"},
	} {
		a := resolve(t, env(v), shell())
		if a.ID != "human:ada" || a.Source != identity.SourceHuman || a.SessionKind != identity.HumanCLI || a.Root != nil {
			t.Errorf("%v: %+v", v, a)
		}
		if a.DisplayName != "ada" || a.Anchor != "user:ada@lab" {
			t.Errorf("%v: display %q, anchor %q", v, a.DisplayName, a.Anchor)
		}
		if name, ok := identity.HarnessByEnvironment(env(v)); ok {
			t.Errorf("%v: by environment %q", v, name)
		}
	}
}

func TestGivenIDs(t *testing.T) {
	harness := vars{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}
	for _, c := range []struct {
		override, exported, id, display, source, kind string
	}{
		{"human:alex", "", "human:alex", "alex", identity.SourceOverride, identity.HumanCLI},
		{"human:alex:2", "claude:x", "human:alex:2", "alex:2", identity.SourceOverride, identity.HumanCLI},
		{"bob", "claude:x", "bob", "bob", identity.SourceOverride, identity.HumanCLI},
		{"bob:", "", "bob:", "bob", identity.SourceOverride, identity.HumanCLI},
		{"", "claude:demo1234", "claude:demo1234", "claude", identity.SourceExported, identity.HarnessCLI},
		{"", " worker ", "worker", "worker", identity.SourceExported, identity.HarnessCLI},
		{"", "human:kim", "human:kim", "kim", identity.SourceExported, identity.HumanCLI},
		{"", ":x", ":x", ":x", identity.SourceExported, identity.HarnessCLI},
	} {
		table := shell()
		a, err := identity.Resolve(env(harness, vars{"TT_HARNESS_AGENT_ID": c.exported}), table, c.override)
		if err != nil {
			t.Fatal(err)
		}
		if a.ID != c.id || a.DisplayName != c.display || a.Source != c.source || a.SessionKind != c.kind || a.Root != nil || a.SessionExported {
			t.Errorf("%+v: %+v", c, a)
		}
		if table.Inspected() != 0 {
			t.Errorf("%+v: looked at %d processes", c, table.Inspected())
		}
	}
	if name, ok := identity.HarnessByEnvironment(env(vars{"TT_HARNESS_AGENT_ID": "aider:1"})); !ok || name != "aider" {
		t.Errorf("by environment %q %v", name, ok)
	}
}

func TestBadGivenIDs(t *testing.T) {
	for _, c := range []struct{ override, exported, source string }{
		{"room", "", identity.SourceOverride}, {" ", "", identity.SourceOverride}, {"a b", "ok", identity.SourceOverride},
		{"", "next", identity.SourceExported}, {"", "a/b", identity.SourceExported},
	} {
		_, err := identity.Resolve(env(vars{"TT_HARNESS_AGENT_ID": c.exported}), shell(), c.override)
		var e *code.Error
		if !errors.As(err, &e) || e.Code != code.InvalidAgentID || e.Details["source"] != c.source {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestHumanTakesNoLookAtProcesses(t *testing.T) {
	table := shell()
	resolve(t, env(), table)
	if table.Inspected() != 0 {
		t.Errorf("looked at %d processes", table.Inspected())
	}
}

func TestUserNames(t *testing.T) {
	for _, c := range []struct {
		user string
		env  vars
		want string
	}{
		{"Ada Lovelace", nil, "human:ada-lovelace"},
		{"日本", nil, "human:anon"},
		{"", vars{"USER": "Bea", "LOGNAME": "x"}, "human:bea"},
		{"", vars{"LOGNAME": "cy"}, "human:cy"},
		{"", nil, "human:user"},
	} {
		e := env(c.env)
		e.User = c.user
		if a := resolve(t, e, shell()); a.ID != c.want {
			t.Errorf("%+v: %q", c, a.ID)
		}
	}
	if a, err := identity.Resolve(identity.Env{}, shell(), ""); err != nil || a.ID != "human:user" {
		t.Errorf("empty environment: %q, %v", a.ID, err)
	}
}
