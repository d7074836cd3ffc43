// endwell plugin for OpenCode, version 1. Written by `endwell install`, taken out by `endwell uninstall`.
// It only tells endwell what happens and passes its answers on. Every call is synchronous, since `opencode run` does
// not wait for anything else at its end. Without endwell on PATH it does nothing.
import { spawnSync } from "node:child_process"

const headless = process.argv.includes("run")

export const Endwell = async ({ client, directory }) => {
  const sessions = new Map() // by id: the text for its start, whether it is at work, whether a turn's end was refused
  const helpers = new Set() // sessions that a session started: not ours to judge

  const call = (moment, id, more = {}) => {
    if (!id || helpers.has(id)) return {}
    const input = JSON.stringify({ session_id: id, cwd: directory, headless, ...more })
    const done = spawnSync("endwell", ["hook", moment, "--client", "opencode"], { input, encoding: "utf8", cwd: directory })
    try {
      return JSON.parse(done.stdout || "{}")
    } catch {
      return {}
    }
  }
  const known = (id) => {
    if (!sessions.has(id)) {
      sessions.set(id, { busy: false, refused: false, text: "", hint: "", tokens: undefined })
      sessions.get(id).text = call("start", id).inject || ""
    }
    return sessions.get(id)
  }

  return {
    event: async ({ event }) => {
      const about = event.properties || {}
      if (event.type === "session.created") {
        if (about.info?.parentID) helpers.add(about.sessionID)
        else known(about.sessionID)
      }
      const told = about.info
      if (event.type === "message.updated" && told?.role === "assistant" && sessions.has(told.sessionID)) {
        const { total, input, output, reasoning, cache } = told.tokens || {}
        const sum = total ?? (input || 0) + (output || 0) + (reasoning || 0) + (cache?.read || 0) + (cache?.write || 0)
        if (sum > 0) sessions.get(told.sessionID).tokens = sum
      }
      if (event.type !== "session.idle" || helpers.has(about.sessionID)) return
      const session = known(about.sessionID)
      if (!session.busy) return // an error makes the client say it twice
      session.busy = false
      session.hint = ""
      const { block } = call("stop", about.sessionID, {
        stop_hook_active: session.refused, deaf: headless, context_tokens: session.tokens,
      })
      session.refused = Boolean(block)
      if (block) {
        await client.session.promptAsync({ path: { id: about.sessionID }, body: { parts: [{ type: "text", text: block }] } })
      }
    },
    "chat.message": async ({ sessionID }) => {
      if (helpers.has(sessionID)) return
      const session = known(sessionID)
      session.busy = true
      session.hint = call("prompt", sessionID, { context_tokens: session.tokens }).inject || ""
    },
    "tool.execute.after": async (input, output) => {
      if (input.tool !== "bash") return
      const { output: text, exit, truncated } = output.metadata || {}
      call("tool", input.sessionID, { tool: { id: input.callID, command: input.args?.command, output: text ?? output.output, exit, truncated } })
    },
    "experimental.chat.system.transform": async (input, output) => {
      if (!input.sessionID || helpers.has(input.sessionID)) return
      const { text, hint } = known(input.sessionID)
      for (const part of [text, hint]) if (part) output.system.push(part)
    },
    "experimental.session.compacting": async (input, output) => {
      const { inject } = call("compact", input.sessionID)
      if (inject) output.context.push(inject)
    },
    dispose: async () => {
      for (const id of sessions.keys()) call("end", id)
    },
  }
}
