package skills

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bench drives the plugin as OpenCode does and prints what it does.
const bench = `
import { TalkingStick } from "./plugin.mjs"
const prompted = []
const client = { session: {
  promptAsync: async (p) => { prompted.push(p) },
  get: async ({ path }) => {
    if (path.id === "broken") throw new Error("no such session")
    return { data: { parentID: { earlier: "middle", middle: "top" }[path.id] } }
  },
} }
const hooks = await TalkingStick({ client, directory: process.cwd() })
const tool = async (name) => {
  try {
    await hooks["tool.execute.before"]({ tool: name, sessionID: "s" }, { args: { filePath: "a.go" } })
    console.log(name, "passes")
  } catch (e) {
    console.log(name, "refused:", e.message)
  }
}
const idle = (sessionID) => hooks.event({ event: { type: "session.idle", properties: { sessionID } } })
for (const sessionID of ["top", "earlier", "broken", undefined]) {
  const output = { env: {} }
  await hooks["shell.env"]({ cwd: "/w", sessionID }, output)
  console.log("the shell of", sessionID, "is of", output.env.OPENCODE_RUN_ID)
}
const message = { parts: [{ id: "prt_1", type: "text", text: "hello" }] }
await hooks["chat.message"]({ sessionID: "top" }, message)
console.log("a prompt comes with", message.parts.slice(1).map((p) => [p.id, p.text, p.synthetic].join(" ")))
const result = { output: "done" }
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "top", args: { command: "tt join" } }, result)
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "earlier", args: { command: "tt join" } }, { output: "" })
console.log("a result is", JSON.stringify(result.output))
while (process.argv[2] && !prompted.length) await new Promise((resolve) => setTimeout(resolve, 10))
console.log("woken:", prompted.splice(0).map((p) => p.path.id + " " + p.body.parts[0].text))
await tool("read")
await tool("write")
await tool("bash")
const noted = async (type, properties) => {
  await hooks.event({ event: { type, properties: { sessionID: "earlier", ...properties } } })
  console.log("noted", type)
}
await noted("permission.asked", { permission: "bash", metadata: { command: "git push" } })
await noted("permission.replied", { reply: "reject" })
const status = (type) => noted("session.status", { sessionID: "s", status: { type } })
await status("busy")
await status("retry")
await status("busy")
await noted("session.error", { sessionID: "s", error: { name: "APIError" } })
await idle("s")
console.log("after a stop that follows an error:", prompted.length)
await status("busy")
await status("retry")
await noted("session.error", { sessionID: "s", error: { name: "MessageAbortedError" } })
await idle("s")
console.log("after a stop by its user:", prompted.length)
await status("busy")
await hooks.event({ event: { type: "session.created", properties: { info: { id: "child", parentID: "s" } } } })
await idle("child")
console.log("after a subagent's stop:", prompted.length)
await idle("s")
console.log("after a stop:", prompted.length, prompted[0]?.path.id, prompted[0]?.body.parts[0].text)
await idle("s")
console.log("after the next:", prompted.length)
`

func TestPlugin(t *testing.T) {
	node := nodeProgram(t)
	const envs = "the shell of top is of top\nthe shell of earlier is of top\nthe shell of broken is of broken\nthe shell of undefined is of undefined\n"
	const noted = "noted permission.asked\nnoted permission.replied\nnoted session.status\nnoted session.status\nnoted session.status\nnoted session.error\nafter a stop that follows an error: 0\nnoted session.status\nnoted session.status\nnoted session.error\nafter a stop by its user: 0\nnoted session.status\n"
	const nothing = "a prompt comes with []\na result is \"done\"\nwoken: []\n"
	tests := []struct{ name, tt, want string }{
		{
			"tt has news",
			`[ "$1" = listen ] && { [ $OPENCODE_RUN_ID = s ] || echo "{\"text\":\"news for $OPENCODE_RUN_ID\"}"; exec sleep 1; }; [ $2 = stop ] && exit; case $(cat) in *'"prompt":"hello"'*) set $1 $2-of-hello;; esac; printf '{"hookSpecificOutput":{"additionalContext":"%s"}}' $2`,
			envs + "a prompt comes with [ 'prt_1tt session-start-of-hello\\ncontext-of-hello true' ]\na result is \"done\\ncontext\"\nwoken: [ 'top news for top' ]\n" +
				"read passes\nwrite passes\nbash passes\n" + noted + "after a subagent's stop: 0\nafter a stop: 0 undefined undefined\nafter the next: 0",
		},
		{
			"tt refuses",
			`printf '{"decision":"deny","reason":"%s: %s"}\n' "$2" "$(cat)" | sed 's/: {.*tool_name":"\([a-z]*\)".*}"}/ \1"}/; s/: {.*}"}/ now"}/'`,
			envs + nothing + "read passes\nwrite refused: edit write\nbash refused: shell bash\n" + noted + "after a subagent's stop: 0\nafter a stop: 1 s stop now\nafter the next: 2\n",
		},
		{"tt has nothing to say", `[ "$1" = listen ] || echo $2 >>kinds`, envs + nothing + "read passes\nwrite passes\nbash passes\n" + noted + "after a subagent's stop: 0\nafter a stop: 0 undefined undefined\nafter the next: 0\n"},
		{"tt is broken", "echo nonsense; exit 3", envs + nothing + "read passes\nwrite passes\nbash passes\n" + noted + "after a subagent's stop: 0\nafter a stop: 0 undefined undefined\nafter the next: 0\n"},
		{"tt is missing", "", envs + nothing + "read passes\nwrite passes\nbash passes\n" + noted + "after a subagent's stop: 0\nafter a stop: 0 undefined undefined\nafter the next: 0\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, bin := t.TempDir(), t.TempDir()
			files := map[string]string{filepath.Join(dir, "plugin.mjs"): openCodePlugin, filepath.Join(dir, "bench.mjs"): bench}
			if tt.tt != "" {
				files[filepath.Join(bin, "tt")] = "#!/bin/sh\n" + tt.tt + "\n"
			}
			for path, content := range files {
				if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"bench.mjs"}
			if strings.Contains(tt.want, "woken: [ ") {
				args = append(args, "wait for it")
			}
			cmd := exec.Command(node, args...)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + bin}
			if tt.tt != "" {
				cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
			}
			out, err := cmd.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != strings.TrimSpace(tt.want) {
				t.Errorf("%v\ngot\n%s\nwant\n%s", err, out, tt.want)
			}
			// Edits and commands are asked for, and the rest tells what the session does.
			const kinds = "session-start context context edit shell asks shell fails shell fails shell fails fails stop stop session-end"
			if got, err := os.ReadFile(filepath.Join(dir, "kinds")); err == nil && strings.Join(strings.Fields(string(got)), " ") != kinds {
				t.Errorf("asked %q", got)
			}
		})
	}
}
