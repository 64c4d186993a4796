// Package ttcmd has the commands of tt. The files are named by families of commands: turn_*.go,
// talk_*.go, tree_*.go, job_*.go, lock_*.go, room_*.go, setup_*.go and look_*.go. A file has one command,
// or a group of them: the declaration with its flags, the function that runs it, the type of its
// result, and the function that writes the result as text. program.go has the table of commands,
// help.txt what the help says of each, client.go and hosts.go what opens a room, output.go the texts that
// several commands write.
//
// The results of commands that run often are written by package wire, because the first use
// of encoding/json takes a fifth of a millisecond, a tenth of such a command.
package ttcmd

import (
	"context"
	_ "embed"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/second"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/cmd/internal/setup"
	"github.com/talking-stick/tt/cmd/internal/viewers"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// A Build describes the running program. If Version or Commit is empty, the program
// uses the value that the Go tool recorded. Installer is how the program was
// installed: "make", "archive", or empty for the Go tool.
//
// AtStep is called before each step of a change that touches the disk, and Patience is how
// long a room's lock is waited for. They are for tests, and zero elsewhere.
//
// Machine is the machine on which a command runs, by its environment; nil, or nil for this one. It is for
// simulations, which run commands by [Program].
//
// Sharing opens rooms that several hosts share. It is nil in tt, which then becomes the
// program that has engines. Hear, which is [Hear] there, is the command that hears what
// other hosts do.
type Build struct {
	Version, Commit, Installer string
	AtStep                     func(fsroom.Step) error
	Patience                   time.Duration
	Machine                    func(*cli.Env) *Machine
	Sharing                    hosts.Sharing
	Hear                       *cli.Command
}

// build describes this program; [Main] sets it.
var build Build

// A Machine is what commands know of the machine that they run on, and what they do to it.
type Machine struct {
	member.Machine
	Table   identity.Table
	Clock   func() turn.Instant
	Options func(*fsroom.Options) // completes the options of a store
}

// machine returns the simulated machine of a command, nil for this one.
func machine(c *cli.Invocation) *Machine {
	if build.Machine == nil {
		return nil
	}
	return build.Machine(c.Env)
}

// processes returns the process table.
func processes(c *cli.Invocation) identity.Table {
	if m := machine(c); m != nil {
		return m.Table
	}
	return identity.System()
}

// Program returns the commands for a process that runs several, each with an environment of its own.
func Program(b Build) *cli.Program {
	build = b
	return program()
}

// Main runs the command that the command line names and ends the process.
func Main(b Build) {
	build = b
	p := program()
	p.After = tellHosts
	cli.Execute(p)
}

// The groups of the help whose commands need a room.
const (
	groupTurns = "turns"
	groupTalk  = "messages, questions and notes"
	groupLook  = "inspection"
)

// groups has the commands but one that only a program with engines has. They are data of the binary:
// nothing is done for them when a command starts.
var groups = []cli.Group{
	{Title: groupTurns, Commands: []*cli.Command{joinCommand, waitCommand, tryCommand, releaseCommand, assignCommand, passCommand,
		takeCommand, leaveCommand, kickCommand, closeCommand}},
	{Title: groupTalk, Commands: []*cli.Command{inboxCommand, askCommand, answerCommand, questionsCommand, questionsShowCommand,
		questionsCloseCommand, msgSendCommand, msgRecvCommand, msgStatusCommand, listenCommand, notesAddCommand, notesListCommand,
		notesResolveCommand}},
	{Title: "what turns changed, taking it back", Commands: []*cli.Command{diffCommand, undoCommand, restoreCommand, snapshotCommand}},
	{Title: "locks and jobs", Commands: []*cli.Command{jobRunCommand, jobListCommand, jobShowCommand, jobLogCommand, jobStopCommand,
		jobWaitCommand, lockRunCommand, lockListCommand}},
	{Title: groupLook, Commands: []*cli.Command{statusCommand, whyCommand, stateCommand, listCommand, logCommand, eventsCommand,
		whoamiCommand, checkCommand, consoleCommand, reportCommand}},
	{Title: "setup and maintenance", Commands: []*cli.Command{policyCommand, doctorCommand, roomNameCommand, roomExportCommand,
		roomImportCommand, roomCopyCommand, instructionsShowCommand, instructionsEditCommand, instructionsResetCommand,
		promptInitCommand, completionCommand, setup.Install, setup.Uninstall, selfUpdateCommand}},
	{Commands: []*cli.Command{guardCommand, recordCommand, jobRunnerCommand, completeCommand, setup.Migrate, hookCommand,
		proveCommand, manCommand}},
}

// help are the pages of the help. A test keeps them and the commands together.
//
//go:embed help.txt
var help string

func commands() []cli.Group {
	if build.Hear == nil {
		return groups
	}
	return append(slices.Clip(groups), cli.Group{Commands: []*cli.Command{build.Hear}})
}

func program() *cli.Program {
	return &cli.Program{
		Name: "tt", Version: build.Version, Commit: build.Commit,
		Short: "share a workspace between agents, by turns",
		Long: "One agent at a time has the turn in a directory, the \"stick\", and changes files; the others wait, and are " +
			"refused. Before your first change: tt wait. After your last one: tt release --status TEXT --next-action TEXT, " +
			"the handoff that the next agent gets. After tt install --all sessions do both by themselves.",
		Subject: session.Flag, Agents: true,
		First: []cli.Group{
			{Title: "commands of an agent", Commands: []*cli.Command{waitCommand, releaseCommand, inboxCommand, askCommand, answerCommand,
				msgSendCommand, notesAddCommand, jobRunCommand}},
			{Title: "commands of a person", Commands: []*cli.Command{setup.Install, statusCommand, consoleCommand, takeCommand, diffCommand,
				undoCommand, restoreCommand}},
		},
		Pages:       []string{help, viewers.Pages},
		Groups:      commands(),
		Before:      before,
		DefaultJSON: session.InHarness,
	}
}

// before comes before each command. It says that the program that has started this one is of
// another version, and updates installed skills before a command that a person runs. The
// update prints nothing, and leaves errors to "tt install".
func before(ctx context.Context, c *cli.Invocation) {
	skew := second.Skew(c.Program, programName())
	if skew != "" && !c.Cmd.Traits.Silent && !forPrompt(c) {
		c.Notice(skew)
	}
	becomeBeforeInput(c)
	if !c.Cmd.Traits.NoSync && !forPrompt(c) && c.Env.Lookup("TT_HARNESS_EXPORT") == "" && !session.InHarness(c.Env) {
		setup.Sync(ctx, c)
	}
}
