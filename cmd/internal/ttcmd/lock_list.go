package ttcmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile/queue"
)

var lockListCommand = &cli.Command{
	Name:  "lock list",
	Reads: true,
	Flags: func(f *cli.Flags) {
		f.Bool("all", "the locks of every repository")
		f.Bool("machine", "only those of the machine")
	},
	Exclusive: [][2]string{{"all", "machine"}, {"all", "path"}, {"machine", "path"}},
	Run:       runLockList,
	Traits:    cli.Traits{HostOnly: true},
}

func runLockList(_ context.Context, c *cli.Invocation) error {
	store, err := openStore(c)
	if err != nil {
		return err
	}
	l := &locks.Locks{Store: store, Table: processes(c)}
	scopes := []string{locks.Machine}
	w, err := locateArg(c)
	switch {
	case c.Bool("all"):
		scopes, err = l.Scopes()
	case c.Bool("machine"):
		err = nil
	case err == nil:
		scopes = append(locks.ScopesOf(w), locks.Machine)
	}
	if err != nil {
		return err
	}
	all, err := l.Views(w, scopes...)
	if err != nil {
		return err
	}
	return c.Out.Result(map[string]any{"locks": all}, func(t *cli.Text) { writeLocks(t, all, c.Bool("all")) })
}

// holderWords says who has a lock: "codex:1 has it for 2m10s, pid 20203 (stopped): make test".
func holderWords(v *locks.TicketView, now time.Time) string {
	if v.AgentID == "" {
		return "a process whose ticket cannot be read has it"
	}
	return holds(v, now) + ", " + processWords(v) + ": " + shortened(strings.Join(v.Command, " "))
}

func processWords(v *locks.TicketView) string {
	if v.Process == string(queue.Stopped) {
		return fmt.Sprintf("pid %d (stopped)", v.PID)
	}
	return fmt.Sprintf("pid %d", v.PID)
}

func holds(v *locks.TicketView, now time.Time) string {
	text := v.AgentID + " has it"
	if v.HeldAt != nil {
		text += " for " + cli.Elapsed(now.Sub(v.HeldAt.Time))
	}
	return text
}

func writeLocks(t *cli.Text, found []*locks.View, all bool) {
	if len(found) == 0 {
		t.Line("Nobody has a lock or waits for one.")
		return
	}
	var table cli.Table
	for _, l := range found {
		name := l.Name
		switch {
		case l.Scope == locks.Machine:
			name += " (machine)"
		case all && l.Scope == locks.OfTree:
			name += " (tree " + l.RoomID + ")"
		case all:
			name += " (" + l.RoomID + ")"
		case l.Scope == locks.OfTree:
			name += " (tree)"
		}
		row := func(state cli.Styled, v *locks.TicketView, since event.Time) {
			table.Row(name, state, v.AgentID, string(v.Mode), processWords(v), "since "+cli.Elapsed(t.Now.Sub(since.Time)),
				shortened(strings.Join(v.Command, " ")))
			name = ""
		}
		for _, v := range l.Holders {
			since := v.AskedAt
			if v.HeldAt != nil {
				since = *v.HeldAt
			}
			row(t.Yellow("held"), v, since)
		}
		for _, v := range l.Waiting {
			row(t.Dim("waiting"), v, v.AskedAt)
		}
		if l.Error != "" {
			table.Row(name, t.Yellow("damaged"), l.Error)
		}
	}
	t.Table(&table)
}

// locksOf returns the locks of the repository and of the working tree of a room, none if
// they cannot be read: they are a part of the status only.
func locksOf(r *member.Room) []*locks.View {
	if r.Workspace == nil {
		return nil
	}
	l := &locks.Locks{Store: r.Client.Store.Local(), Table: r.Table}
	all, err := l.Views(r.Workspace, locks.ScopesOf(r.Workspace)...)
	if err != nil {
		return nil
	}
	return all
}

// lockWords says how a lock stands: "build: codex:1 has it for 2m10s; 1 waiting".
func lockWords(l *locks.View, now time.Time) string {
	var parts []string
	for _, h := range l.Holders {
		parts = append(parts, holds(h, now))
	}
	if n := len(l.Waiting); n > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting", n))
	}
	if l.Error != "" {
		parts = append(parts, l.Error)
	}
	return l.Name + ": " + strings.Join(parts, "; ")
}
