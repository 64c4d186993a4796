package identity_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/talking-stick/tt/identity"
)

const startsAreExact = runtime.GOOS == "linux"

func TestWhoamiJSON(t *testing.T) {
	table := newFakeTable()
	table.Call(table.Start(1, "claude"))
	for _, c := range []struct {
		agent identity.Agent
		want  string
	}{
		{resolve(t, env(), table), `{"agent_id":"human:ada","display_name":"ada","source":"human_default","session_anchor":"user:ada@lab",` +
			`"process_metadata":{"host_id":"lab","session_kind":"human_cli"},"detail":"no harness was recognised, so it is the user"}`},
		{resolve(t, env(vars{"TT_HARNESS_AGENT_ID": "claude:demo"}), table), `{"agent_id":"claude:demo","display_name":"claude","source":"exported_agent_id",` +
			`"process_metadata":{"host_id":"lab","session_kind":"harness_cli"},"detail":"the id was given with TT_HARNESS_AGENT_ID"}`},
		{resolve(t, env(claude, vars{"CLAUDE_CODE_SESSION_ID": "s"}), table), `{"agent_id":"claude:cf3f88dd","display_name":"claude","source":"harness_environment",` +
			`"session_anchor":"session:s","process_metadata":{"host_id":"lab","pid":101,"process_started_at":"2023-11-14T22:13:40.000Z","session_kind":"harness_cli"},` +
			`"detail":"CLAUDECODE=1; the id hangs on CLAUDE_CODE_SESSION_ID"}`},
	} {
		got, err := json.Marshal(identity.WhoamiJSON(c.agent))
		if err != nil || string(got) != c.want {
			t.Errorf("got  %s\nwant %s (%v)", got, c.want, err)
		}
	}
}

func TestExplain(t *testing.T) {
	table := newFakeTable()
	table.Call(table.Start(1, "claude"))
	for _, c := range []struct {
		env  vars
		want []string
	}{
		{vars{"CLAUDECODE": "1", "GEMINI_CLI": "1", "CMUX_CLAUDE_PID": "999"}, []string{
			"harness_environment", "anchor   process:101@", "101, alive, started 2023-11-14T22:13:40Z", "its end ends the agent",
			"CLAUDECODE=1 (identity)", "CMUX_CLAUDE_PID=999 (ignored: no such process)",
			"ancestor process=claude 101@", "--agent ID", "TT_HARNESS_AGENT_ID",
		}},
		{vars{"CODEX_THREAD_ID": "t"}, []string{"CODEX_THREAD_ID=t (anchor: the exported session id)", "none known"}},
		{vars{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "t"}, []string{"may outlive it"}},
		{vars{"CLAUDECODE": "yes", "GROK_SESSION_ID": "g"}, []string{"human:ada", "user=ada (identity)"}},
	} {
		text := strings.Join(identity.Explain(resolve(t, env(c.env), table)), "\n")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%v: no %q in\n%s", c.env, want, text)
			}
		}
	}
}
