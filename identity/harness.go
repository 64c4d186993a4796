package identity

import "strings"

// A harness is a program that runs agents. It is recognised by any one of its
// marks; a session variable alone does not make one unless it is a mark too.
type harness struct {
	name     string
	marks    []mark
	sessions []string // variables that may hold the session id, best first
	pidHint  string   // a variable with the pid of the harness process; believed only once the harness is recognised
}

// A mark is an environment variable that gives a harness away.
type mark struct {
	variable string
	value    string // the only value that counts; "" for any that is not blank
}

// launchKind names the harness that the cmux terminal started in this tab. It
// is asked before grok's own mark and after everybody else's.
const launchKind = "CMUX_AGENT_LAUNCH_KIND"

// harnesses in the order in which they are looked for. One harness started by
// another inherits its variables, so the order decides what such a one is called.
var harnesses = [...]harness{
	{
		name:     "claude",
		marks:    []mark{{"CLAUDECODE", "1"}},
		sessions: []string{"CLAUDE_CODE_SESSION_ID"},
		pidHint:  "CMUX_CLAUDE_PID",
	},
	{
		name:     "codex",
		marks:    []mark{{"CODEX_MANAGED_BY_NPM", "1"}, {"CODEX_THREAD_ID", ""}},
		sessions: []string{"CODEX_THREAD_ID"},
	},
	{
		name:     "antigravity",
		marks:    []mark{{"ANTIGRAVITY_AGENT", "1"}, {"ANTIGRAVITY_CONVERSATION_ID", ""}, {"ANTIGRAVITY_TRAJECTORY_ID", ""}},
		sessions: []string{"ANTIGRAVITY_CONVERSATION_ID", "ANTIGRAVITY_TRAJECTORY_ID"},
	},
	{
		name:  "gemini",
		marks: []mark{{"GEMINI_CLI", "1"}},
	},
	{
		name:     "opencode",
		marks:    []mark{{"OPENCODE", "1"}},
		sessions: []string{"OPENCODE_RUN_ID", "OPENCODE_PID"},
	},
	{
		name:     "grok",
		marks:    []mark{{"GROK_AGENT", "1"}},
		sessions: []string{"GROK_SESSION_ID"},
	},
}

// HarnessByEnvironment returns the name of the harness that the environment
// tells of, TT_HARNESS_AGENT_ID included, and whether there is one. It looks at
// variables only.
func HarnessByEnvironment(env Env) (name string, ok bool) {
	if id := env.get("TT_HARNESS_AGENT_ID"); id != "" {
		return beforeColon(id), true
	}
	h, _, ok := harnessByMarks(env)
	return h.name, ok
}

// harnessByMarks returns the first harness whose mark is set, and that mark.
func harnessByMarks(env Env) (h harness, by mark, ok bool) {
	for _, h := range harnesses {
		if h.name == "grok" {
			if launched, kind := launchedHarness(env); kind != "" {
				return launched, mark{launchKind, kind}, true
			}
		}
		if by, ok := h.markedBy(env); ok {
			return h, by, true
		}
	}
	return harness{}, mark{}, false
}

// markedBy returns the mark that is set, with the value it has.
func (h harness) markedBy(env Env) (mark, bool) {
	for _, m := range h.marks {
		v := env.get(m.variable)
		if v != "" && (m.value == "" || v == m.value) {
			return mark{m.variable, v}, true
		}
	}
	return mark{}, false
}

// launchedHarness returns the harness that cmux names, and how it names it.
func launchedHarness(env Env) (harness, string) {
	kind := env.get(launchKind)
	name := harnessCalled(strings.ToLower(kind))
	if name == "" {
		return harness{}, ""
	}
	return harnessNamed(name), kind
}

// harnessNamed returns the harness of that name; one without a name in the
// table has no variables.
func harnessNamed(name string) harness {
	for _, h := range harnesses {
		if h.name == name {
			return h
		}
	}
	return harness{name: name}
}

func beforeColon(id string) string {
	prefix, _, _ := strings.Cut(id, ":")
	if prefix == "" {
		return id
	}
	return prefix
}

// nameOf is what an id is called by: its harness, or for a person the name.
func nameOf(id string) string {
	if strings.HasPrefix(id, "human:") {
		return afterColon(id)
	}
	return beforeColon(id)
}

func afterColon(id string) string {
	if _, rest, ok := strings.Cut(id, ":"); ok && rest != "" {
		return rest
	}
	return id
}
