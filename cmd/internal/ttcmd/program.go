// Package ttcmd is the commands of tt. Each file cmd_*.go declares one command, or a
// group of commands: its flags and help, and a function that decides what to do,
// does it, and writes one result. program.go is the table of all of them.
package ttcmd

import (
	"slices"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/identity"
)

// A Build says where the running program comes from. Version and Commit may be
// empty; then what the Go tool recorded is shown. Installer is how the program got
// to its place: "make", "archive", or empty for the Go tool.
type Build struct{ Version, Commit, Installer string }

// build is that of this program, set by [Main].
var build Build

// Main runs the command that the command line names and ends the process.
func Main(b Build) {
	build = b
	cli.Execute(program())
}

// The groups of the help.
const (
	groupTurns  = "turns"
	groupTalk   = "messages and notes"
	groupLook   = "inspection"
	groupUpkeep = "setup and maintenance"
)

// The tables of commands.
var (
	daily = []*cli.Command{
		joinCommand, waitCommand, tryCommand, releaseCommand, assignCommand, passCommand, takeCommand, leaveCommand, kickCommand,
		msgSendCommand, msgRecvCommand, notesAddCommand, notesListCommand, notesResolveCommand,
		statusCommand, stateCommand, listCommand, logCommand, eventsCommand, whoamiCommand, checkCommand,
		policyCommand, doctorCommand, guardCommand,
	}
	setup = []*cli.Command{
		instructionsShowCommand, instructionsEditCommand, instructionsResetCommand, promptInitCommand, completionCommand, completeCommand,
		installCommand, uninstallCommand, selfUpdateCommand, migrateCommand, stopHookCommand, editHookCommand, manCommand,
	}
)

func program() *cli.Program {
	return &cli.Program{
		Name: "tt", Version: build.Version, Commit: build.Commit,
		Short: "share a workspace between agents, by turns",
		Long: "A workspace has one talking stick. Who holds it may change shared files; who wants it waits with tt wait, " +
			"which returns the moment the turn is theirs, with the handoff of the one before. A turn ends with a handoff of its own: " +
			"tt release gives the stick to whoever is next, tt assign to somebody by name.",
		Agents:   true,
		Topics:   topics,
		Commands: slices.Concat(daily, setup),
		Before:   syncBefore,
		DefaultJSON: func(env *cli.Env) bool {
			_, ok := identity.HarnessByEnvironment(identity.Env{Lookup: env.Lookup})
			return ok
		},
	}
}
