package ttcmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile/queue"
)

var lockListCommand = &cli.Command{
	Name:  "lock list",
	Reads: true,
	Short: "list who has locks and who waits for them",
	Long: "Locks of the repository, of this working tree and of the machine that somebody has or waits for. Changes nothing. " +
		"A lock that cannot be read is listed with its error. With an engine, too, locks are those of this host.",
	Flags: func(f *cli.Flags) {
		f.Bool("all", "the locks of every repository")
		f.Bool("machine", "only those of the machine")
	},
	Exclusive: [][2]string{{"all", "machine"}, {"all", "path"}, {"machine", "path"}},
	Errors:    []code.Code{code.DataDirUnusable, code.CorruptRoom},
	Run:       runLockList,

	Traits: cli.Traits{HostOnly: true},
}

// A lockList is the result of lock list.
type lockList struct {
	Locks []*lockView `json:"locks"`
}

// A lockView is a lock that somebody has or waits for.
type lockView struct {
	Name       string        `json:"name"`
	Scope      string        `json:"scope"`             // workspace, which is the repository, tree, machine
	RoomID     string        `json:"room_id,omitempty"` // of the repository, or of the tree
	Repository string        `json:"repository,omitempty"`
	Holders    []*ticketView `json:"holders"`
	Waiting    []*ticketView `json:"waiting"`
	Error      string        `json:"error,omitempty"` // why some of them are missing
}

// A ticketView is a process that has a lock or waits for it.
type ticketView struct {
	Ticket  int64       `json:"ticket"`
	AgentID string      `json:"agent_id"`
	Mode    queue.Mode  `json:"mode"`
	PID     int         `json:"pid,omitempty"`
	Process string      `json:"process"` // alive, stopped, unknown
	Command []string    `json:"command"`
	Dir     string      `json:"cwd,omitempty"`
	AskedAt event.Time  `json:"asked_at"`
	HeldAt  *event.Time `json:"held_at,omitempty"`
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
		scopes = []string{repositoryScope(w), treeScope(w), locks.Machine}
	}
	if err != nil {
		return err
	}
	res := lockList{Locks: []*lockView{}}
	for _, scope := range scopes {
		found, err := viewLocks(l, scope, w)
		if err != nil {
			return err
		}
		res.Locks = append(res.Locks, found...)
	}
	return c.Out.Result(res, func(t *cli.Text) { writeLocks(t, res.Locks, c.Bool("all")) })
}

// scopeTree is the scope of a lock of a working tree, as in its JSON.
const scopeTree = "tree"

// viewLocks returns the locks of a scope. The workspace of the command line is w, if there is one.
func viewLocks(l *locks.Locks, scope string, w *workspace.Workspace) ([]*lockView, error) {
	found, err := l.In(scope)
	if err != nil {
		return nil, err
	}
	views := make([]*lockView, 0, len(found))
	for _, lock := range found {
		v := &lockView{Name: lock.Name, Scope: scope, Holders: []*ticketView{}, Waiting: []*ticketView{}}
		if tree, ok := strings.CutPrefix(scope, locks.Tree); ok {
			v.Scope, v.RoomID = scopeTree, tree
		} else if scope != locks.Machine {
			v.Scope, v.RoomID = "workspace", scope
		}
		if w != nil && scope == repositoryScope(w) {
			v.Repository = w.Repository()
		}
		if lock.Err != nil {
			v.Error = messageOf(lock.Err)
		}
		for _, e := range lock.Entries {
			if e.State == queue.Held {
				v.Holders = append(v.Holders, viewTicket(e))
			} else {
				v.Waiting = append(v.Waiting, viewTicket(e))
			}
		}
		views = append(views, v)
	}
	return views, nil
}

func viewTicket(e *queue.Entry) *ticketView {
	v := &ticketView{
		Ticket: e.Number, AgentID: e.Agent, Mode: e.Mode, PID: e.PID, Process: string(e.Condition),
		Command: e.Command, Dir: e.Dir, AskedAt: event.Time{Time: e.AskedAt},
	}
	if e.HeldAt != nil {
		v.HeldAt = &event.Time{Time: *e.HeldAt}
	}
	if v.Command == nil {
		v.Command = []string{}
	}
	return v
}

// words says who has a lock: "codex:1 has it since 2m10, pid 20203 (stopped): make test".
func (v *ticketView) words(now time.Time) string {
	if v.AgentID == "" {
		return "a process whose ticket cannot be read has it"
	}
	text := v.holds(now) + fmt.Sprintf(", pid %d", v.PID)
	if v.Process == string(queue.Stopped) {
		text += " (stopped)"
	}
	return text + ": " + shortened(strings.Join(v.Command, " "))
}

func (v *ticketView) holds(now time.Time) string {
	text := v.AgentID + " has it"
	if v.HeldAt != nil {
		text += " since " + cli.Elapsed(now.Sub(v.HeldAt.Time))
	}
	return text
}

func writeLocks(t *cli.Text, found []*lockView, all bool) {
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
		case all && l.Scope == scopeTree:
			name += " (tree " + l.RoomID + ")"
		case all:
			name += " (" + l.RoomID + ")"
		case l.Scope == scopeTree:
			name += " (tree)"
		}
		row := func(state cli.Styled, v *ticketView, since event.Time) {
			process := fmt.Sprintf("pid %d", v.PID)
			if v.Process == string(queue.Stopped) {
				process += " (stopped)"
			}
			table.Row(name, state, v.AgentID, string(v.Mode), process, "since "+cli.Elapsed(t.Now.Sub(since.Time)),
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
func locksOf(r *member.Room) []*lockView {
	if r.Workspace == nil {
		return nil
	}
	l := &locks.Locks{Store: r.Client.Store.Local(), Table: r.Table}
	var all []*lockView
	for _, scope := range []string{repositoryScope(r.Workspace), treeScope(r.Workspace)} {
		found, err := viewLocks(l, scope, r.Workspace)
		if err != nil {
			return nil
		}
		all = append(all, found...)
	}
	return all
}

// words says how a lock stands: "build: codex:1 has it since 2m10; 1 waiting".
func (l *lockView) words(now time.Time) string {
	var parts []string
	for _, h := range l.Holders {
		parts = append(parts, h.holds(now))
	}
	if n := len(l.Waiting); n > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting", n))
	}
	if l.Error != "" {
		parts = append(parts, l.Error)
	}
	return l.Name + ": " + strings.Join(parts, "; ")
}
