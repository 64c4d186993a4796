package member

import (
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
)

// Hearing is how the agent hears of news.
func (c *Client) Hearing() hearing.Agent { return c.HearingOf(c.Self.ID) }

// HearingOf is [Client.Hearing] for any agent of this host.
func (c *Client) HearingOf(id string) hearing.Agent {
	return hearing.Agent{Store: c.Store, Table: c.Table, ID: id}
}

// hearing returns how a member can hear of news.
func (r *Room) hearing(st *turn.State, a hearing.Agent, doing turn.Activity) (h turn.Hearing) {
	id := a.ID
	dir := a.Dir()
	l, how := a.Hears()
	h.How, h.Hooks = how, a.InSession(&l)
	if h.Hooks {
		h.Busy, h.Asks, h.Stopped = turn.InTurn(doing.What), doing.What == turn.ActivityAsks, doing.Stopped
	}
	h.Spent, h.TurnsSpent = l.Messages.Left(time.Now()), l.Turns.Left(time.Now())
	if l.Off {
		h.Spent = -1
	}
	if p := st.Pending; p.Seq != 0 && !l.Woken.Add(r.Skew()).Before(p.At.Wall.Time) {
		h.TurnsSpent = 0
	}
	if h.Stopped {
		h.How = "" // until its user types a prompt
	}
	if h.How == "" {
		if there := r.hosts.hearing(id); there != (turn.Hearing{}) {
			return there
		}
		return h
	}
	if h.How == hearing.ByQueue && l.Process != nil { // of a harness without its server
		h.Within = hearing.QueueLooks
	}
	h.Notified = dir.Marked(fsroom.ListenerWakeFile)
	unnoticed := func(t time.Time) bool { return t.Truncate(time.Millisecond).After(l.Heard.Time) }
	if unnoticed(h.Notified) {
		first := dir.Marked(fsroom.ListenerAskedFile)
		if first.After(h.Notified) || !unnoticed(first) {
			first = h.Notified
		}
		h.UnheardIn = max(0, turn.UnheardAfter-time.Since(first))
		h.Unheard = h.UnheardIn == 0
	}
	if !h.Notified.IsZero() {
		h.Notified = h.Notified.Add(r.Skew())
	}
	if r.ignored(st, id) {
		h.Unheard, h.UnheardIn = true, 0
	}
	return h
}

// ignored reports whether the agent was woken as often as it is for the same news, and
// has neither been shown anything nor run a command since.
func (r *Room) ignored(st *turn.State, id string) bool {
	m := st.Member(id)
	if m == nil {
		return false
	}
	at := hearing.ReadCursor(r.FS.Agent(id), m.JoinedAt)
	w := at.Woken
	return w.Tries >= hearing.MaxTries && at.Shown.At.Before(w.At.Time) &&
		r.time().Sub(w.At.Time) > turn.UnheardAfter && r.FS.Agent(id).Marked(seenFile).Before(w.At.Time)
}

// wasWoken reports whether the agent was woken for the handoff that is pending.
func (r *Room) wasWoken(st *turn.State) bool {
	m := st.Member(r.Self.ID)
	if m == nil || st.Pending.Seq == 0 || !r.Client.Hearing().IsKnown() {
		return false
	}
	return hearing.ReadCursor(r.own(), m.JoinedAt).Woken.EventSeq >= st.Pending.Seq
}

// enterRooms records that the agent is in the room, for its listener.
func (r *Room) enterRooms() {
	if r.Visits { // what comes for it comes to its own tree
		return
	}
	if r.Client.Hearing().Enter(r.FS.Name()) && r.hosts != nil {
		r.Client.Store.NotifyListener(r.Self.ID) // it has to hear what other hosts do in the room
	}
}

// Drop forgets that the agent is in the room, unless it has joined meanwhile.
func (r *Room) Drop() {
	r.Client.Hearing().Leave(r.FS.Name())
	if snap, err := r.FS.View(); err == nil && r.IsMember(snap.State) {
		r.Client.Hearing().Enter(r.FS.Name())
	}
}

// leaveRooms forgets that agents are in the room. That of another agent with a wake file
// is left to its listener, which has to tell the agent first.
func (r *Room) leaveRooms(ids ...string) {
	for _, id := range ids {
		if a := r.HearingOf(id); id == r.Self.ID || !a.Dir().Has(fsroom.ListenerWakeFile) {
			a.Leave(r.FS.Name())
		}
	}
}

// RoomsHeard returns the rooms that the agent is in, as far as that is recorded for a listener.
func (c *Client) RoomsHeard() (rooms []*Room) {
	for _, name := range c.Hearing().Rooms() {
		rooms = append(rooms, c.Room(name, nil))
	}
	return rooms
}

// FindRoomsToHear looks into every room whether the agent is in it: it may have been killed as it joined, or be
// a member of a room that was imported or put back.
func (c *Client) FindRoomsToHear() {
	c = c.Offline()
	names, _ := c.Rooms()
	known := c.Hearing().Rooms()
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		r := c.Room(name, nil)
		if snap, err := r.FS.View(); err == nil && r.IsMember(snap.State) {
			r.enterRooms()
		}
	}
}
