// Command agent-bus lets agents, on one machine or on hosts that share an engine, ask and
// answer each other's questions. Without arguments it is an MCP server on standard input and
// output; "agent-bus cli" lets a person take part and look after the topics.
//
// The rules are in fsroom/topic, the topics of a data directory in
// cmd/internal/questions, arguments and results of tools in internal/tools, and the
// transport in internal/stdio. In this package, tool.go has the table of tools,
// and how calls run and wait, calls.go what they do, server.go the topics that a client has
// joined, and cli*.go the commands.
package main

import (
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/session"
)

// Set by the linker; if empty, what the build recorded is shown.
var version, commit string

func main() { cli.Execute(program()) }

func program() *cli.Program {
	return &cli.Program{
		Name: "agent-bus", Version: version, Commit: commit,
		Short: "questions and answers between agents on one machine, over MCP",
		Long: "Without arguments: an MCP server on standard input and output, to be started by an agent's harness, one per agent. " +
			"Agents join a topic under a name, ask, and answer what others asked; everything is kept in the data directory, so the " +
			"servers need not know of each other.",
		Topics: []cli.Topic{
			{Name: "environment", Short: "the variables agent-bus reads", Long: environmentHelp},
			{Name: "register", Short: "how to register agent-bus in a harness", Long: registerHelp},
			{Name: "files", Short: "where topics are kept", Long: filesHelp},
		},
		Bare:        "serve",
		DefaultJSON: session.InHarness,
		Groups: []cli.Group{
			{Title: "server", Commands: []*cli.Command{serveCommand}},
			{Title: "questions", Commands: []*cli.Command{askCommand, answerCommand, closeCommand, followCommand}},
			{Title: "administration", Commands: []*cli.Command{listCommand, showCommand, exportCommand, archiveCommand, wipeCommand}},
		},
	}
}

const environmentHelp = `  AGENT_BUS_DATA_DIR             where topics are kept, instead of the data directory of tt; an absolute path
  TALKING_STICK_DATA_DIR         the data directory of tt
  TALKING_STICK_ENGINE           the engine by which hosts share topics, see docs/hosts.md
  AGENT_BUS_MAX_QUESTION_CHARS   characters of a question (8000)
  AGENT_BUS_MAX_ANSWER_CHARS     characters of an answer_markdown (65536)
  AGENT_BUS_MAX_PUBLISH_BATCH    responses in one answer (50)
  AGENT_BUS_MAX_OPEN_QUESTIONS   pending questions on one topic (10000)
  AGENT_BUS_MAX_METADATA_BYTES   bytes of a topic's metadata (65536)
  AGENT_BUS_MAX_REASON_CHARS     characters of a reason (1000)
  AGENT_BUS_POLL_INITIAL_MS      where changes cannot be watched: the first look again after so long (250)
  AGENT_BUS_POLL_MAX_MS          and twice as late each time, up to this (1000)

A limit that is no number, or out of range, is an error at start.`

const registerHelp = `  Claude Code   claude mcp add --scope user agent-bus -- agent-bus
  Codex         codex mcp add agent-bus -- agent-bus
                and in ~/.codex/config.toml, as Codex hands on no others:
                env_vars = ["TALKING_STICK_DATA_DIR", "AGENT_BUS_DATA_DIR", "XDG_DATA_HOME"]
  Gemini CLI    gemini mcp add --scope user agent-bus agent-bus
  OpenCode      in opencode.json: {"mcp": {"servers": {"agent-bus": {"type": "local", "command": ["agent-bus"]}}}}
                before version 2: {"mcp": {"agent-bus": {"type": "local", "command": ["agent-bus"], "enabled": true}}}

Each agent starts a server of its own; they meet in the data directory, which ping and topic_join name as data_dir, or on several hosts in the engine.`

const filesHelp = `  DATA/topics/TOPIC_ID/journal.jsonl   the truth: one event per line, append-only
                      /state.json      its projection, rebuilt whenever it is lost
                      /lock            never remove it
                      /agents/         which names live sessions have joined under
  DATA/topics/lock                     taken while a topic is made
  DATA/engines/ENGINE/topics           the same of an engine: copies that are fetched again when they are lost
  DATA/topics.archived/TOPIC_ID        a topic out of use, see "agent-bus help cli archive"

DATA is $AGENT_BUS_DATA_DIR, else $TALKING_STICK_DATA_DIR, else $XDG_DATA_HOME/talking-stick, else ~/.local/share/talking-stick. A copy of it is a backup, also while agents work.`
