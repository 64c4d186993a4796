// Two agents in one process, each with a server of its own, through the
// TypeScript SDK: what a harness does. Usage: node drive.mjs AGENT-BUS
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const command = process.argv[2];

async function connect(name) {
  const transport = new StdioClientTransport({ command, args: [], env: process.env, stderr: "pipe" });
  let log = "";
  const client = new Client({ name, version: "1" });
  await client.connect(transport);
  transport.stderr.on("data", (data) => { log += data; });
  // Listing the tools first makes the client check results against the schemas.
  const { tools } = await client.listTools();
  assert.equal(tools.length, 12);
  const call = async (tool, args, options) => {
    const result = await client.callTool({ name: tool, arguments: args }, undefined, options);
    assert.equal(result.content.length, 1);
    return result;
  };
  const ok = async (tool, args, options) => {
    const result = await call(tool, args, options);
    assert.ok(!result.isError, `${tool}: ${result.content[0].text}`);
    return result.structuredContent;
  };
  return { client, call, ok, transport, log: () => log };
}

const steps = {
  async "ask, wait, answer, poll, mark"({ red, cat, topic_id }) {
    const asked = red.ok("ask", { topic_id, question: "why?", wait_seconds: 50 });
    const { pending } = await cat.ok("pending_list", { topic_id, wait_seconds: 50 });
    assert.equal(pending[0].question_text, "why?");
    const { question_id } = pending[0];
    const saved = await cat.ok("answer", {
      topic_id, responses: [{ question_id, answer_markdown: "because", suggested_followups: ["and then?"] }],
    });
    assert.equal(saved.saved, 1);
    const answered = await asked;
    assert.equal(answered.status, "answered");
    assert.equal(answered.answers[0].payload.answer_markdown, "because");
    assert.match(answered.rendered, /FOLLOW_UP_REQUIRED/);
    assert.equal((await red.ok("question_mark_answered", { topic_id, question_id })).status, "answered");
  },

  async "errors have a text and a code"({ red, topic_id }) {
    for (const [tool, args, code] of [
      ["ask", { topic_id }, "INVALID_ARGUMENT"],
      ["ask", { topic_id: "nope", question: "why?" }, "AGENT_NOT_JOINED"],
      ["topic_create", { mode: "bogus" }, "INVALID_ARGUMENT"],
      ["topic_resolve", { name: "nope" }, "TOPIC_NOT_FOUND"],
    ]) {
      const result = await red.call(tool, args);
      assert.ok(result.isError);
      assert.equal(result.structuredContent.error.code, code);
      assert.ok(result.content[0].text.startsWith(`${code}: `), result.content[0].text);
    }
  },

  async "progress keeps a call alive longer than the client's patience"({ red, topic_id }) {
    let reports = 0;
    const timeout = 3000;
    const result = await red.ok("pending_list", { topic_id, wait_seconds: 5 },
      { timeout, resetTimeoutOnProgress: true, onprogress: () => reports++ });
    assert.equal(result.status, "timeout");
    assert.ok(reports >= 2, `${reports} reports`);
  },

  async "a call that is given up frees the session"({ red, topic_id }) {
    const stop = new AbortController();
    const waiting = red.call("pending_list", { topic_id, wait_seconds: 50 }, { signal: stop.signal });
    await red.client.ping();
    stop.abort();
    await assert.rejects(waiting);
    await red.ok("ping", {});
  },
};

const red = await connect("red");
const cat = await connect("cat");
const { topic_id } = await red.ok("topic_create", { name: "pink" });
await red.ok("topic_join", { agent_name: "red", topic_id });
await cat.ok("topic_join", { agent_name: "cat", name: "pink" });
for (const [name, step] of Object.entries(steps)) {
  await step({ red, cat, topic_id });
  console.log(`ok  TypeScript SDK: ${name}`);
}
for (const agent of [red, cat]) {
  await agent.client.close();
  assert.equal(agent.log(), "", "in the log");
}
