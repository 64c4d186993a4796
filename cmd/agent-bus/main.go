// Command agent-bus lets agents on one machine ask and answer each other's
// questions. Without arguments it is an MCP server on standard input and output;
// "agent-bus cli" lets a person take part and look after the topics.
//
// The rules are in fsroom/topic, storage is in fsroom, the transport in
// internal/stdio. Here is what lies between: tools.go is the table of tools and
// call_*.go what they do, bus.go is the topics of one data directory, session.go
// is who one client is, order.go which call goes first, wait.go how calls wait, and
// cli_*.go the commands.
package main

import "github.com/talking-stick/tt/cmd/internal/cli"

// Set by the linker; else the build's own record is shown.
var version, commit string

func main() { cli.Execute(program()) }

// The groups of the help.
const (
	groupServer = "server"
	groupTalk   = "questions"
	groupAdmin  = "administration"
)

func program() *cli.Program {
	return &cli.Program{
		Name: "agent-bus", Version: version, Commit: commit,
		Short: "questions and answers between agents on one machine, over MCP",
		Long: "Without arguments: an MCP server on standard input and output, to be started by an agent's harness, one per agent. " +
			"Agents join a topic under a name, ask, and answer what others asked; everything is kept in the data directory, so the servers need not know of each other.",
		Topics:      helpTopics(),
		Bare:        "serve",
		DefaultJSON: inHarness,
		Commands: []*cli.Command{
			serveCommand,
			askCommand, answerCommand, closeCommand, followCommand,
			listCommand, showCommand, exportCommand, archiveCommand, wipeCommand,
		},
	}
}
