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
	_ "embed"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/session"
)

// Set by the linker; if empty, what the build recorded is shown.
var version, commit string

// help are the pages of the help.
//
//go:embed help.txt
var help string

func main() { cli.Execute(program()) }

func program() *cli.Program {
	return &cli.Program{
		Name: "agent-bus", Version: version, Commit: commit,
		Short: "questions and answers between agents on one machine, over MCP",
		Long: "Without arguments: an MCP server on standard input and output, to be started by an agent's harness, one per agent. " +
			"Agents join a topic under a name, ask, and answer what others asked; everything is kept in the data directory, so the " +
			"servers need not know of each other.",
		Pages:       []string{help},
		Bare:        "serve",
		DefaultJSON: session.InHarness,
		Groups: []cli.Group{
			{Title: "server", Commands: []*cli.Command{serveCommand}},
			{Title: "questions", Commands: []*cli.Command{askCommand, answerCommand, closeCommand, followCommand}},
			{Title: "administration", Commands: []*cli.Command{listCommand, showCommand, exportCommand, archiveCommand, wipeCommand}},
		},
	}
}
