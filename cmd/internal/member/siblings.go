package member

import (
	"path/filepath"
	"slices"
	"sort"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// A Sibling is another working tree of a repository on this host, with what its room shows.
type Sibling struct {
	Path    string `json:"path"`
	Branch  string `json:"branch,omitempty"`
	RoomID  string `json:"room_id,omitempty"` // "": there is no room
	State   string `json:"state,omitempty"`   // also [StateUnknown]
	TurnID  int64  `json:"turn_id,omitempty"`
	Owner   string `json:"owner,omitempty"`
	Members int    `json:"members"`       // without observers
	Job     string `json:"job,omitempty"` // the newest that runs, as NAME#ID

	room *Room
	st   *turn.State
}

// StateUnknown is the state of a sibling that cannot be read, or whose room cannot, or is at an engine.
const StateUnknown = "unknown"

// Siblings returns the other working trees of the repository on this host. It takes no lock,
// starts no process, and is no sign of the agent.
func (c *Client) Siblings(w *workspace.Workspace) []Sibling {
	list := []Sibling{}
	if w == nil {
		return list
	}
	near := c.near()
	for _, tree := range w.Siblings() {
		s := Sibling{Path: tree.Root, Branch: tree.Branch}
		if room := near.visited(fsroom.RoomName(tree.Root), tree.Root); room.FS.Exists() {
			s.look(room)
		} else if tree.Unreadable || c.Elsewhere != nil && c.Elsewhere(tree.Root) {
			s.State = StateUnknown
		}
		list = append(list, s)
	}
	return list
}

// near returns the client for rooms of this host alone: an engine has other rooms, and a clock.
func (c *Client) near() *Client {
	near := *c
	if near.Store = c.Store.Local(); near.Store != c.Store {
		near.Clock, near.Pull = nil, nil
	}
	return &near
}

// visited returns the room of another working tree.
func (c *Client) visited(name, root string) *Room {
	r := c.Room(name, &workspace.Workspace{Requested: root, Path: root, Root: root})
	r.Visits = true
	return r
}

// Visit returns the room of another working tree of the repository that has the name.
func (r *Room) Visit(name string) *Room {
	near, root := r.Client.near(), ""
	if snap, err := near.Room(name, nil).FS.View(); err == nil {
		root = near.Room(name, nil).Path(snap.State)
	}
	return near.visited(name, root)
}

// look adds what the room of the sibling shows.
func (s *Sibling) look(room *Room) {
	snap, err := room.FS.View()
	if err != nil {
		s.RoomID, s.State = room.FS.Name(), StateUnknown
		return
	}
	st := snap.State
	if room.Ended(st) {
		return
	}
	s.room, s.st = room, st
	s.RoomID, s.State, s.TurnID, s.Owner = room.FS.Name(), st.Status(room.Facts(st)), st.Turn, st.Owner
	for i := range st.Members {
		if !st.Members[i].Observer {
			s.Members++
		}
	}
	for _, j := range room.Jobs().Untold() {
		if j.Runs() {
			s.Job = j.End().Title()
		}
	}
}

// Sessions returns the other agents that work in the sibling: members whose process lives, and
// the holder. One that has started the client's own, or was started by it, is part of it.
func (s *Sibling) Sessions() (ids []string) {
	if s.st == nil {
		return nil
	}
	self, f := s.room.Self, s.room.Facts(s.st)
	for _, id := range s.st.Others(self.ID) {
		m := s.st.Member(id)
		works := f.Presence(id).Process == turn.Alive || s.State == turn.StateOwned && s.Owner == id
		if works && !m.Observer && !turn.IsPerson(id) && !s.room.IsOneWith(id, self.Harness, self.Root) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Name is the path of the sibling as seen from a directory, and its branch.
func (s *Sibling) Name(from string) string {
	name := s.Path
	if rel, err := filepath.Rel(from, s.Path); err == nil && len(rel) < len(name) {
		name = rel
	}
	if s.Branch != "" {
		name += " (" + s.Branch + ")"
	}
	return name
}

// Away returns the sibling in which the agent that a name means works, nil if it works here or
// nowhere. Who is an active member of this room, and no observer, works here; a person who
// observes is reached here, too. A name that means agents of several siblings is refused.
func (r *Room) Away(st *turn.State, name string) (*Sibling, error) {
	if name == turn.Everyone || name == talk.AnyPerson || name == turn.TargetNext {
		return nil, nil
	}
	here, works, err := turn.Named(st, r.Facts(st), name)
	if err != nil || works || here == r.Self.ID || turn.IsPerson(here) {
		return nil, nil
	}
	type candidate struct {
		AgentID string `json:"agent_id"`
		Path    string `json:"path"`
	}
	var found []Sibling
	candidates := []candidate{}
	for _, s := range r.Siblings(r.Workspace) {
		if s.st == nil {
			continue
		}
		id, works, err := turn.Named(s.st, s.room.Facts(s.st), name)
		if err == nil && works && (here == "" || here == id) {
			found = append(found, s)
			candidates = append(candidates, candidate{id, s.Path})
		}
		if err != nil {
			return nil, err
		}
	}
	if len(found) > 1 {
		return nil, code.New(code.AmbiguousRecipient, "%s works in several working trees of the repository", name).
			WithHint("say it in one of them: --path %s", code.ShellWord(found[0].Path)).With("candidates", candidates)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// Reaching returns the room in which an agent hears that a name means: that of the working tree
// of the repository in which it works. In another one than the agent's own it may do what
// observers do, and becomes one. seen is the agent's own room, nil: it is read.
func (r *Room) Reaching(seen *snapshot, name string) (*Room, error) {
	var err error
	if seen == nil {
		seen, err = r.FS.View()
	}
	if err != nil || !r.IsHuman() && !r.IsMember(seen.State) {
		return r, nil // which is for the rule to say
	}
	away, err := r.Away(seen.State, name)
	if err != nil || away == nil {
		return r, err
	}
	return away.room, nil
}

// HoldersFirst orders siblings: those first whose turn somebody has.
func HoldersFirst(list []Sibling) []Sibling {
	list = slices.Clone(list)
	sort.SliceStable(list, func(i, j int) bool { return list[i].Owner != "" && list[j].Owner == "" })
	return list
}
