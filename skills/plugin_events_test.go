package skills

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// replay does to the plugin what OpenCode does, in the words of its argument: it waits for hooks
// of tools and prompts, and not for those of events.
const replay = `
import { TalkingStick } from "./plugin.mjs"
import { writeFileSync } from "node:fs"
process.argv[1] = process.argv[3] // of the program that loads the plugin
const prompted = []
const client = { session: { promptAsync: async ({ body }) => { prompted.push(body.parts[0].text) }, get: async () => ({ data: {} }) } }
const hooks = await TalkingStick({ client, directory: process.cwd() })
const underWay = []
const event = (type, properties) => underWay.push(hooks.event({ event: { type, properties: { sessionID: "s", ...properties } } }))
const prompt = (text, sessionID = "s") => hooks["chat.message"]({ sessionID }, { parts: [{ id: "p", type: "text", text }] })
const sleep = setTimeout
const late = []
globalThis.setTimeout = (act, after) => (late.push(act), sleep(() => {}, after))
const until = async (done) => { while (!done()) await new Promise((resolve) => sleep(resolve, 5)) }
const does = {
  prompt: () => prompt("hello"),
  busy: () => event("session.status", { status: { type: "busy" } }),
  retry: () => event("session.status", { status: { type: "retry" } }),
  tool: () => hooks["tool.execute.before"]({ tool: "bash", sessionID: "s" }, { args: { command: "true" } }),
  result: () => hooks["tool.execute.after"]({ tool: "bash", sessionID: "s", args: {} }, { output: "" }),
  aborted: () => event("session.error", { error: { name: "MessageAbortedError" } }),
  error: () => event("session.error", { error: { name: "APIError" } }),
  idle: () => { event("session.status", { status: { type: "idle" } }); event("session.idle") },
  settled: () => Promise.all(underWay),
  wakes: async () => { writeFileSync("news", ""); await until(() => prompted.length) },
  taken: () => prompt(prompted.at(-1)),
  other: () => prompt("hello", "t"),
  deleted: () => event("session.deleted", { info: { id: "s" } }),
  later: () => late.splice(0).forEach((act) => act()),
}
for (const word of process.argv[2].split(" ")) await does[word]()
await does.settled()
console.log(prompted.join("|"))
process.exit()
`

// TestPluginInTheOrderOfEvents: what the plugin asks tt, and prompts its model with, as OpenCode
// 1.18.33 calls it. It says idle twice where its user ends a turn or its service fails, and the
// result of the tool comes in between or later; where it tries again, Esc is no error.
func TestPluginInTheOrderOfEvents(t *testing.T) {
	node := nodeProgram(t)
	patient := strings.NewReplacer("PATIENCE = 10", "PATIENCE = 1000", "TAKEN_UP = 3", "TAKEN_UP = 1000") // the machine may be slow
	const begin = "session-start context session-end "
	for _, test := range []struct{ name, events, prompts, asks string }{
		{"a turn", "prompt busy busy tool result busy busy busy idle", "go on", "shell context stop"},
		{"Esc during a tool", "prompt busy busy tool aborted idle result idle", "", "shell fails fails"},
		{"Esc, and what tt says comes before the second", "prompt busy busy tool aborted idle settled result idle", "", "shell fails fails"},
		{"Esc while the model thinks", "prompt busy busy aborted idle idle", "", "fails fails"},
		{"Esc twice", "prompt busy tool aborted idle idle prompt busy tool aborted idle idle", "", "shell fails fails context shell fails fails"},
		{"a turn after Esc", "prompt busy tool aborted idle idle prompt busy tool result busy idle", "go on", "shell fails fails context shell context stop"},
		{"Esc after it was told to go on", "prompt busy idle settled taken busy tool aborted idle idle", "go on", "stop context shell fails fails"},
		{"an error", "prompt busy busy error idle idle", "", "fails"},
		{"Esc while it tries again", "prompt busy busy retry busy retry idle", "", "fails shell fails fails"},
		{"Esc after a line while it tries again", "prompt busy busy retry prompt idle", "", "fails context fails"},
		{"it tries again and works", "prompt busy busy retry busy busy idle", "go on", "fails shell stop"},
		{"it tries again in vain", "prompt busy busy retry error idle idle", "", "fails fails"},
		{"a prompt during a tool", "prompt busy tool wakes taken result busy busy idle", "news|go on", "shell context context stop"},
		{"a prompt that is not read", "prompt busy tool result wakes taken idle", "news|news", "shell context context"},
		{"a prompt that is lost", "prompt busy tool result busy wakes busy idle", "news|news", "shell context"},
		{"its user goes to another session", "prompt busy idle settled taken busy idle settled other", "go on", "stop context stop left session-start context session-end"},
		{"while its model works", "prompt busy tool other result busy idle settled taken busy idle", "go on",
			"shell session-start context context stop context stop left session-end"},
		{"and comes back", "prompt busy tool other result prompt busy error idle", "", "shell session-start context context left context fails session-end"},
		{"not taken up", "prompt busy idle settled later", "go on|go on", "stop"},
		{"not taken up, and deleted", "prompt busy idle settled deleted later", "go on", "stop"},
		{"a server", "prompt busy tool result busy error idle settled other", "", "shell context fails session-start context session-end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"plugin.mjs": patient.Replace(openCodePlugin), "replay.mjs": replay,
				"tt": `#!/bin/sh
[ "$1" != listen ] || { until [ -e news ]; do sleep 0.02; done; echo '{"text":"news"}'; exec sleep 60; }
echo "$2" >>asks
case $2 in
session-end) ! grep -q '"reason":"left"' || echo left >>asks ;;
session-start) echo '{"hookSpecificOutput":{"additionalContext":"you are a member"}}' ;;
stop) grep -q '"stop_hook_active":true' || echo '{"decision":"block","reason":"go on"}' ;;
esac
`,
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			program := "/$bunfs/root/src/cli/tui/worker.js"
			if test.name == "a server" {
				program = "/$bunfs/root/src/index.js"
			}
			cmd := exec.Command(node, "replay.mjs", test.events, program)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":/usr/bin:/bin"}
			out, err := cmd.CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != test.prompts {
				t.Errorf("%v: prompts %q, want %q", err, got, test.prompts)
			}
			asks, _ := os.ReadFile(filepath.Join(dir, "asks"))
			got, want := strings.Fields(string(asks)), strings.Fields(begin+test.asks)
			slices.Sort(got) // what is asked at the same time comes in any order
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("asked %q, want %q", got, want)
			}
		})
	}
}

// guarded has a tool refused to a session that was told nothing at its beginning, and another one let
// pass, of a subagent.
const guarded = `
import { TalkingStick } from "./plugin.mjs"
let woken
const prompt = new Promise((resolve) => (woken = resolve))
const client = { session: { promptAsync: async ({ path, body }) => woken(path.id + ": " + body.parts[0].text), get: async ({ path }) => ({ data: { parentID: { child: "s" }[path.id] } }) } }
const hooks = await TalkingStick({ client, directory: process.cwd() })
await hooks["chat.message"]({ sessionID: "s" }, { parts: [{ id: "p", type: "text", text: "hello" }] })
await hooks["tool.execute.before"]({ tool: "write", sessionID: "s" }, { args: {} }).catch((e) => console.log("refused:", e.message))
console.log("woken:", await prompt)
await hooks["tool.execute.before"]({ tool: "bash", sessionID: "child" }, { args: {} })
const result = async (sessionID) => {
  const output = { output: "done" }
  await hooks["tool.execute.after"]({ tool: "bash", sessionID, args: {} }, output)
  console.log(sessionID, "reads", JSON.stringify(output.output))
}
await result("child")
await result("s")
await result("s")
process.exit()
`

// TestPluginGuards: a session that was alone when it began is called as it was told, and reads what
// comes with the turn that was taken for it.
func TestPluginGuards(t *testing.T) {
	node, dir := nodeProgram(t), t.TempDir()
	for name, text := range map[string]string{
		"plugin.mjs": openCodePlugin, "guarded.mjs": guarded,
		"tt": `#!/bin/sh
[ "$1" != listen ] || { echo '{"text":"offered"}'; exec sleep 60; }
case $2 in
edit) echo '{"decision":"deny","reason":"you are called"}' ;;
shell) echo '{"hookSpecificOutput":{"additionalContext":"you have the turn"}}' ;;
esac
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("timeout", "60", node, "guarded.mjs")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	const want = "refused: you are called\nwoken: s: offered\nchild reads \"done\"\ns reads \"done\\nyou have the turn\"\ns reads \"done\"\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, out, want)
	}
}

// nodeProgram returns what runs JavaScript.
func nodeProgram(t *testing.T) string {
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	} else if err != nil {
		t.Skip("no node here")
	}
	return node
}
