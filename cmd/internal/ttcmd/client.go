package ttcmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
)

type snapshot = fsroom.Snapshot[*turn.State]

func openStore(c *cli.Invocation) (*fsroom.Store, error) {
	return openPatientStore(c, 0, !c.Cmd.Traits.Offline && !forPrompt(c))
}

// openPatientStore is openStore for a command that waits for a lock for so long, 0 for as long
// as commands do. With asks an engine is asked; else its rooms are as this host knows them.
func openPatientStore(c *cli.Invocation, patience time.Duration, asks bool) (*fsroom.Store, error) {
	dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	if err != nil {
		return nil, err
	}
	warn := c.Notice
	if forPrompt(c) { // a prompt has no place for warnings
		warn = nil
	}
	patience = cmp.Or(build.Patience, patience)
	options := fsroom.Options{Warn: warn, LeaveModes: c.Cmd.Traits.LeaveModes, Fault: build.AtStep, Patience: patience}
	if m := machine(c); m != nil {
		m.Options(&options)
	}
	if store, err := sharedStore(c, dir, options, asks); store != nil || err != nil {
		return store, err
	}
	return fsroom.Open(dir, options)
}

// newClient returns the client for the caller.
func newClient(c *cli.Invocation) (*member.Client, error) {
	store, err := openStore(c) // first: it says what this host is called, which is part of an identity
	if err != nil {
		return nil, err
	}
	table := processes(c)
	self, err := session.Caller(c, table)
	if err != nil {
		return nil, err
	}
	return clientFor(c, store, table, self), nil
}

func clientFor(c *cli.Invocation, store *fsroom.Store, table identity.Table, self identity.Agent) *member.Client {
	client := &member.Client{
		Store: store, Table: table, Self: self,
		Policy:     func() (turn.Policy, error) { return turn.NewPolicy(c.Env.Lookup, store.IsShared(), cli.ParseDuration) },
		Executable: c.Env.Executable,
		Warn:       c.Notice,
		Record:     changes.Recorder(ledgerSetting(c)),
	}
	withHosts(c, client)
	if m := machine(c); m != nil {
		client.Clock, client.Machine = m.Clock, m.Machine
	}
	if !c.Cmd.Traits.Silent && !forPrompt(c) {
		warnOfVariables(c)
	}
	return client
}

// warnOfVariables names the variables that nothing else refuses and that count as unset, for what they say.
func warnOfVariables(c *cli.Invocation) {
	mode := c.Env.Lookup(changes.Variable)
	if mode != "" && ledgerSetting(c).Mode == "" {
		c.Notice(fmt.Sprintf("%s=%s is ignored: it is one of %s", changes.Variable, mode, strings.Join(turn.LedgerModes(), ", ")))
	}
	if err := hearing.CheckBudget(); err != nil {
		c.Notice(code.MessageOf(err) + fmt.Sprintf(", such as %d/10m, which counts instead", hearing.MostWakes))
	}
}

// openRoom returns the room of the command line, or room_not_found.
func openRoom(c *cli.Invocation) (*member.Room, error) {
	r, _, err := openSeen(c)
	return r, err
}

// openSeen is openRoom for a command that looks at the room at once: it returns the room as it
// was read, too.
func openSeen(c *cli.Invocation) (*member.Room, *snapshot, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, nil, err
	}
	return client.Open(locateArg(c))
}

// viewRoom is openSeen for commands that show the room: it records the presence of the caller.
func viewRoom(ctx context.Context, c *cli.Invocation) (*member.Room, *snapshot, error) {
	r, snap, err := openSeen(c)
	if err == nil && c.Has("fresh") {
		snap, err = r.FS.Confirm(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	r.RecordPresence(ctx, snap.State)
	return r, snap, nil
}

// openHistory is openRoom for commands that read events. With ended it may also be a
// room that has ended, whose events are in the archive.
func openHistory(c *cli.Invocation, ended bool) (*member.Room, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	w, missing := locateArg(c)
	r, _, err := client.Open(w, missing)
	if err == nil || !ended || w == nil {
		return r, err
	}
	if past := client.OpenEnded(w); past != nil {
		c.Warn("the room at %s has ended; this is its history", past.Directory())
		return past, nil
	}
	return nil, err
}

// pathArg is the last argument of most commands.
var pathArg = cli.Arg{Name: "path", Optional: true, Usage: session.Usage}

var (
	counted   = code.Count
	shortened = topic.Clip // to the length of a line in a menu
)
