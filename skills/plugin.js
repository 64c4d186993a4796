// Talking Stick's hooks for OpenCode. Written by "tt install opencode" and
// taken away by "tt uninstall opencode"; changes made here keep tt from updating it.
//
// Before a tool writes a file or runs a command, and when the agent goes idle, tt is asked. It
// answers {"decision": …, "reason": …} to refuse and nothing to let it pass. With a
// prompt and the result of a tool it is asked what is new, and a process of it says
// when the agent is to be woken. It is told when the agent asks its user for something, and
// when a turn of the model fails. If tt is missing, slow or broken, everything passes.
import { spawn, spawnSync } from "node:child_process"

const PATIENCE = 10_000 // milliseconds; a hook that takes longer has nothing to say
const TAKEN_UP = 3_000 // within which a prompt makes a session busy, or it is sent again
const TRIES = 3
const GUARDS = { edit: "edit", write: "edit", patch: "edit", apply_patch: "edit", multiedit: "edit", bash: "shell" }
const ASKS = new Set(["permission.asked", "question.asked"])
const ANSWERED = new Set(["permission.replied", "question.replied", "question.rejected"])
const HOOK = (kind) => ["hook", kind, "--harness", "opencode"]

function ask(kind, payload) {
  return new Promise((resolve) => {
    let said = ""
    const done = (text) => {
      clearTimeout(timer)
      try {
        const { reason, hookSpecificOutput } = JSON.parse(text)
        resolve({ reason, context: hookSpecificOutput?.additionalContext })
      } catch {
        resolve({})
      }
    }
    const child = spawn("tt", HOOK(kind), { cwd: payload.cwd, stdio: ["pipe", "pipe", "ignore"] })
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
  const begun = new Set() // sessions that tt knows of
  const busy = new Set() // sessions in a turn of their model
  const failing = new Map() // session whose model does not answer, until it does something again → whether it is asked again
  const stopped = new Map() // session whose user has ended the turn of its model → the event
  const waking = new Map() // session → what is to wake it and was not taken up yet
  const listeners = new Map() // session → the process that says when it is to be woken
  const told = new Map() // session → what is to come with the next result, of the turn that was taken for it
  const left = new Set() // sessions that their user has left in a turn of their model
  const isWindow = /\btui.worker\b/.test(process.argv[1]) // else it is a server, of as many windows as there are

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

  const wake = async (id, text, tries = TRIES) => {
    const sent = { text, during: busy.has(id), stored: false }
    waking.set(id, sent)
    await client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text }] } }).catch(() => {})
    if (sent.during) return // the end of the turn shows whether it was read
    const again = () => tries > 1 && waking.get(id) === sent && wake(id, text, tries - 1)
    setTimeout(again, TAKEN_UP).unref()
  }

  const listen = (id) => {
    if (listeners.has(id) || left.has(id)) return
    const env = { ...process.env, OPENCODE: "1", OPENCODE_RUN_ID: id }
    const child = spawn("tt", ["listen", "--via", "opencode"], { cwd: directory, env, stdio: ["ignore", "pipe", "ignore"] })
    listeners.set(id, child)
    let rest = ""
    child.stdout.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n")
      rest = lines.pop()
      for (const line of lines) {
        try {
          const { text } = JSON.parse(line)
          if (text) wake(id, text)
        } catch {} // it is no line of tt's
      }
    })
    const forget = () => listeners.get(id) === child && listeners.delete(id)
    child.on("error", forget)
    child.on("close", forget)
    child.unref()
  }

  const end = (id, reason) => {
    listeners.get(id)?.kill()
    waking.delete(id) // nothing is to wake it any more
    if (!begun.delete(id)) return
    spawnSync("tt", HOOK("session-end"), { input: JSON.stringify({ session_id: id, cwd: directory, reason }), timeout: PATIENCE, stdio: ["pipe", "ignore", "ignore"] })
  }
  const leave = (id) => (busy.has(id) ? left.add(id) && listeners.get(id)?.kill() : end(id, "left"))
  const rest = (id) => left.delete(id) && end(id, "left")
  process.on("exit", () => [...begun].forEach((id) => end(id)))

  // What is new for a session, "" if nothing is, and if the prompt that comes with it says it.
  const news = async (id, prompt) => {
    const payload = { session_id: id, cwd: directory, prompt }
    if (prompt !== undefined) payload.hook_event_name = "chat.message"
    const parts = []
    if (!failing.get(id)) failing.delete(id) // while it is asked again, its model answers when it is busy
    if (!begun.has(id)) {
      begun.add(id)
      const { context } = await ask("session-start", payload)
      if (context) parts.push(context)
      if (context) listen(id)
    }
    const { context } = await ask("context", payload)
    parts.push(told.get(id), context)
    told.delete(id)
    return parts.filter(Boolean).join("\n")
  }

  // Tells tt what a session does; a subagent's doing is that of its agent.
  const note = async (kind, id, { type, properties }) => {
    if (!id) return
    await ask(kind, {
      session_id: await outermost(id),
      cwd: directory,
      hook_event_name: type,
      tool_name: properties.permission,
      tool_input: properties.metadata,
      error: properties.error?.name ?? properties.status?.type,
    })
  }

  return {
    // Sessions of one process are agents of their own.
    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.OPENCODE_RUN_ID = await outermost(input.sessionID)
    },

    event: async ({ event }) => {
      const { info, sessionID: id, status } = event.properties ?? {}
      if (event.type === "session.created" && info) parents.set(info.id, info.parentID || "")
      if (event.type === "session.deleted" && info) end(info.id, "deleted")
      if (event.type === "session.status" && status?.type === "busy") {
        if (!busy.has(id) || waking.get(id)?.stored) waking.delete(id) // its model reads it now
        busy.add(id)
        stopped.delete(id)
      }
      const errs = event.type === "session.error"
      const ends = event.type === "session.idle"
      const retries = status?.type === "retry"
      const answers = status?.type === "busy" && failing.delete(id)
      if (errs ? event.properties.error?.name === "MessageAbortedError" : ends && failing.get(id)) { // its user has pressed Esc
        stopped.set(id, event)
        held.delete(id)
        failing.delete(id)
      } else if (errs || retries) {
        failing.set(id, retries)
        await note("fails", id, event)
      }
      if (ASKS.has(event.type)) await note("asks", id, event)
      if (answers || ANSWERED.has(event.type)) await note("shell", id, event) // without a command: it works
      if (!ends) return
      busy.delete(id)
      if (failing.has(id)) return rest(id) // nothing would reach its model
      if (!id || (await parentOf(id))) return // a subagent's stop is not the agent's
      const [stop, unread] = [stopped.get(id), waking.get(id)]
      if (stop) await note("fails", id, stop) // each time it is idle: a hook of the tool may have said since that it works
      if (unread?.during && waking.get(id) === unread) return wake(id, unread.text)
      if (stop) return rest(id) // it is not told to go on
      const { reason } = await ask("stop", { session_id: id, cwd: directory, stop_hook_active: held.delete(id) })
      if (!reason) return rest(id)
      held.add(id)
      await wake(id, reason)
    },

    "chat.message": async (input, output) => {
      const id = input.sessionID
      if (!id || (await parentOf(id))) return
      const first = output.parts.find((part) => part.type === "text")
      const sent = waking.get(id)
      if (isWindow && sent?.text !== first?.text) { // it shows one session: its user has left the others
        left.delete(id)
        begun.forEach((other) => other === id || leave(other))
      }
      const text = await news(id, first?.text ?? "")
      if (sent && sent.text === first?.text) sent.stored = true
      if (text && first) output.parts.push({ ...first, id: first.id + "tt", text, synthetic: true })
    },

    "tool.execute.before": async (input, output) => {
      const guard = GUARDS[input.tool]
      if (!guard) return
      const id = await outermost(input.sessionID)
      const { reason, context } = await ask(guard, { session_id: id, cwd: directory, tool_name: input.tool, tool_input: output.args })
      if (reason || context) listen(id) // it has joined, and may be told that it is called
      if (reason) throw new Error(reason)
      if (context) told.set(id, context)
    },

    "tool.execute.after": async (input, output) => {
      const id = input.sessionID
      if (!id || stopped.has(id) || (await parentOf(id))) return
      const text = await news(id)
      if (text && typeof output.output === "string") output.output += "\n" + text
      if (/\btt\b/.test(input.args?.command ?? "")) listen(id) // it may have joined
    },
  }
}
