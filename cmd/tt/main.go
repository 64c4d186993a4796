//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command tt lets agents share a workspace by turns: one holds the stick, works,
// and hands over with a structured handoff; the next is woken at once.
//
// Each command is a file of its own. What they have in common: desk.go finds out
// who calls and where the rooms are, seat.go is the caller's place in one room,
// facts.go is what the machine knows of the members, hold.go and guardian.go are
// the turn an agent holds and the process that keeps it. The rules themselves
// are in fsroom/turn, storage is in fsroom.
package main

import (
	"slices"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/identity"
)

// Set by the linker; else the build's own record is shown. installer is how the
// binary gets to its place, see [selfupdate.Build].
var version, commit, installer string

func main() { cli.Execute(program()) }

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
		Name: "tt", Version: version, Commit: commit,
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
