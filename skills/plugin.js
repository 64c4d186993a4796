// Talking Stick's guards for OpenCode. Written by "tt install opencode" and
// taken away by "tt uninstall opencode"; changes made here keep tt from updating it.
//
// Before a tool writes a file, and when the agent goes idle, tt is asked. It
// answers {"decision": …, "reason": …} to refuse and nothing to let it pass. If
// tt is missing, slow or broken, everything passes.
import { spawn } from "node:child_process"

const PATIENCE = 10_000 // milliseconds; a guard that takes longer has nothing to say
const WRITES = new Set(["edit", "write", "patch", "apply_patch", "multiedit"])

function ask(kind, payload) {
  return new Promise((resolve) => {
    let said = ""
    const done = (text) => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(text).reason || "")
      } catch {
        resolve("")
      }
    }
    const child = spawn("tt", ["hook", kind, "--harness", "opencode"], {
      cwd: payload.cwd,
      stdio: ["pipe", "pipe", "ignore"],
    })
    const timer = setTimeout(() => {
      child.kill()
      done("")
    }, PATIENCE)
    child.stdout.on("data", (chunk) => (said += chunk))
    child.on("error", () => done(""))
    child.on("close", () => done(said))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
}

export const TalkingStick = async ({ client, directory }) => {
  const parents = new Map() // session → the one whose agent has started it as a subagent, or ""
  const held = new Set() // sessions that go on only because they were held back

  const parentOf = async (id) => {
    if (!parents.has(id)) {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      parents.set(id, found?.data?.parentID || "")
    }
    return parents.get(id)
  }
  // A subagent works for the agent of the outermost session.
  const outermost = async (id) => {
    for (let parent; (parent = await parentOf(id)); id = parent);
    return id
  }

  return {
    // Sessions of one process are agents of their own.
    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.OPENCODE_RUN_ID = await outermost(input.sessionID)
    },

    event: async ({ event }) => {
      if (event.type === "session.created" && event.properties?.info) {
        parents.set(event.properties.info.id, event.properties.info.parentID || "")
      }
      if (event.type !== "session.idle") return
      const id = event.properties?.sessionID
      if (!id || (await parentOf(id))) return // a subagent's stop is not the agent's
      if (held.delete(id)) return
      const reason = await ask("stop", { session_id: id, cwd: directory, stop_hook_active: false })
      if (!reason) return
      held.add(id)
      try {
        await client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text: reason }] } })
      } catch {
        held.delete(id)
      }
    },

    "tool.execute.before": async (input, output) => {
      if (!WRITES.has(input.tool)) return
      const reason = await ask("edit", {
        session_id: await outermost(input.sessionID),
        cwd: directory,
        tool_name: input.tool,
        tool_input: output.args,
      })
      if (reason) throw new Error(reason)
    },
  }
}
