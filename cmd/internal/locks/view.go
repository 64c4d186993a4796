package locks

import (
	"cmp"
	"strings"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile/queue"
)

// Repository returns the scope of the locks of a workspace's repository: the id of the
// room of its main working tree, which need not exist. Nested rooms have the same locks.
func Repository(w *workspace.Workspace) string { return fsroom.RoomName(w.Repository()) }

// TreeOf returns the scope of the locks of one working tree.
func TreeOf(w *workspace.Workspace) string { return Tree + fsroom.RoomName(w.Root) }

// ScopesOf returns the scopes of the locks of a workspace.
func ScopesOf(w *workspace.Workspace) []string { return []string{Repository(w), TreeOf(w)} }

// A View is a lock that somebody has or waits for, as results have it.
type View struct {
	Name       string        `json:"name"`
	Scope      string        `json:"scope"`             // workspace, which is the repository, [OfTree] or [Machine]
	RoomID     string        `json:"room_id,omitempty"` // of the repository, or of the tree
	Repository string        `json:"repository,omitempty"`
	Holders    []*TicketView `json:"holders"`
	Waiting    []*TicketView `json:"waiting"`
	Error      string        `json:"error,omitempty"` // why some of them are missing
}

// OfTree is the scope of a view of a lock of a working tree.
const OfTree = "tree"

// A TicketView is a process that has a lock or waits for it.
type TicketView struct {
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

// Views returns the locks of scopes, see [Locks.In]. The workspace, which may be nil, names the repository of its own.
func (l *Locks) Views(w *workspace.Workspace, scopes ...string) (all []*View, err error) {
	for _, scope := range scopes {
		found, failure := l.views(scope, w)
		all, err = append(all, found...), cmp.Or(err, failure)
	}
	return all, err
}

func (l *Locks) views(scope string, w *workspace.Workspace) (views []*View, err error) {
	found, err := l.In(scope)
	for _, lock := range found {
		v := &View{Name: lock.Name, Scope: scope}
		if tree, ok := strings.CutPrefix(scope, Tree); ok {
			v.Scope, v.RoomID = OfTree, tree
		} else if scope != Machine {
			v.Scope, v.RoomID = "workspace", scope
		}
		if w != nil && scope == Repository(w) {
			v.Repository = w.Repository()
		}
		if lock.Err != nil {
			v.Error = code.MessageOf(lock.Err)
		}
		for _, e := range lock.Entries {
			if e.State == queue.Held {
				v.Holders = append(v.Holders, ViewOf(e))
			} else {
				v.Waiting = append(v.Waiting, ViewOf(e))
			}
		}
		views = append(views, v)
	}
	return views, err
}

// ViewOf returns a ticket as results have it.
func ViewOf(e *queue.Entry) *TicketView {
	v := &TicketView{
		Ticket: e.Number, AgentID: e.Agent, Mode: e.Mode, PID: e.PID, Process: string(e.Condition),
		Command: e.Command, Dir: e.Dir, AskedAt: event.Time{Time: e.AskedAt},
	}
	if e.HeldAt != nil {
		v.HeldAt = &event.Time{Time: *e.HeldAt}
	}
	return v
}
