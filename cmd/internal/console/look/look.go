// Package look reads what the operator console shows: every room of a data directory,
// and one of them in full. It takes no lock, writes nothing, and is no sign of presence
// of the person who looks.
package look

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// A Looker looks at the rooms of a data directory for one person.
type Looker struct {
	me    string
	eye   *member.Client // of nobody, so that looking counts as no agent's presence
	own   *member.Client // of the person, for what is unread
	near  *member.Client // knows what other hosts say of agents; nil without an engine
	locks *locks.Locks

	// Verdicts returns the last verdicts of a room's tree; nil: they are not shown.
	Verdicts func(context.Context, *member.Room, *turn.State) []ledger.LastVerdict

	opened atomic.Pointer[string] // the room of which that is asked; nil: none
}

// Record makes the looker see what the trees of rooms have lost.
func (l *Looker) Record(by func(*member.Room, turn.Policy) member.Recorder) { l.eye.Record = by }

// New returns a looker for the person with the id. Rooms that an engine has are read from
// their mirrors; clock is that of the engine, nil that of this machine.
func New(store *fsroom.Store, clock func() turn.Instant, table identity.Table, me string) *Looker {
	offline := store.Offline()
	l := &Looker{
		me:    me,
		eye:   &member.Client{Store: offline, Table: table, Clock: clock},
		own:   &member.Client{Store: offline, Table: table, Clock: clock, Self: identity.Agent{ID: me}},
		locks: &locks.Locks{Store: store.Local(), Table: table},
	}
	if offline != store {
		l.near = &member.Client{Store: store, Table: table, Clock: clock}
	}
	return l
}

// Near makes the looker ask the engine what other hosts say of the agents of a room, "" of
// none.
func (l *Looker) Near(room string) { l.opened.Store(&room) }

// A Room is what lists show of a room. Times are of the wall clock.
type Room struct {
	Name    string // room_id
	Err     error  // why the room cannot be read; then only Name is set
	View    turn.RoomView
	Members []Member
	Since   time.Time     // when the turn was granted or reserved; zero: neither
	Full    time.Duration // how long a renewed lease, or a reservation, lasts
	Renewal member.Renewal
	Yours   Yours
}

// Yours is what waits for the person in a room.
type Yours struct {
	talk.Unread      // Questions are all that it owes an answer, and Notes include the urgent ones
	Turn        bool // the next turn is reserved for the person
}

// A Member is a member of a room.
type Member struct {
	turn.MemberView
	PID        int       // of the process that stands for the member; 0: none is known
	Stopped    bool      // that process is suspended
	Guardian   bool      // it is the guardian of its turn, as no process of its own is known
	WaitsSince time.Time // when its present wait began; zero: it does not wait
	LastHeld   int64     // the event of its last grant; 0: it never held the stick
}

// Member returns the member with the id, nil if there is none.
func (r *Room) Member(id string) *Member {
	for i := range r.Members {
		if m := &r.Members[i]; m.AgentID == id && id != "" {
			return m
		}
	}
	return nil
}

// Stuck reports whether the room needs somebody: it cannot be read, its owner or the
// recipient of its turn is gone, its lease has run out, or something is wrong with its
// owner that does not pass by itself.
func (r *Room) Stuck() bool {
	return r.Err != nil || turn.Stuck(r.View.State) != "" || r.Trouble() != nil
}

// Trouble returns what is wrong with the holder, the first and nearest thing; nil if
// nothing is.
func (r *Room) Trouble() *turn.Trouble {
	for i := range r.View.Trouble {
		if t := &r.View.Trouble[i]; t.What != turn.GuardianUnseen { // its lease tells
			return t
		}
	}
	return nil
}

// Waiting returns the members that wait for the turn, those first that held it longest
// ago.
func (r *Room) Waiting() []*Member {
	var list []*Member
	for i := range r.Members {
		if m := &r.Members[i]; m.Waiting && m.AgentID != r.View.Owner {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *Member) int { return cmp.Compare(a.LastHeld, b.LastHeld) })
	return list
}

// Rooms returns every room that has not ended, in the order of their paths, those that
// cannot be read last.
func (l *Looker) Rooms() ([]Room, error) {
	names, err := l.eye.Rooms()
	if err != nil {
		return nil, err
	}
	rooms := make([]Room, 0, len(names))
	for _, name := range names {
		if r, _, _, ok := l.room(name); ok {
			rooms = append(rooms, r)
		}
	}
	// A room comes directly before the rooms of directories under its own: a separator
	// comes before any character.
	separator := strings.NewReplacer("/", "\x00", `\`, "\x00")
	key := func(r Room) string {
		if r.Err != nil {
			return "\xff"
		}
		return separator.Replace(r.View.CanonicalPath)
	}
	slices.SortFunc(rooms, func(a, b Room) int { return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.Name, b.Name)) })
	return rooms, nil
}

// room returns the room with the name, and false if it has ended or was never opened.
func (l *Looker) room(name string) (res Room, room *member.Room, st *turn.State, ok bool) {
	room = l.eye.Room(name, nil)
	if !room.FS.Exists() {
		return Room{}, nil, nil, false
	}
	snap, err := room.FS.View()
	if err != nil {
		return Room{Name: name, Err: err}, nil, nil, true
	}
	st = snap.State
	if room.Ended(st) {
		return Room{}, nil, nil, false
	}
	known := room // that which knows the most of its agents
	if opened := l.opened.Load(); l.near != nil && opened != nil && *opened == name {
		known = l.near.Room(name, nil)
	}
	now := known.Look(snap)
	st, f := now.State, now.Facts
	res = Room{Name: name, View: st.Room(f), Renewal: room.Renewal(st)}
	res.View.PathMissing = member.PathMissing(st.RoomID, st.CanonicalPath)
	switch {
	case st.Owner != "":
		res.Since, res.Full = st.Grant.At.Wall.Time, ms(st.Policy.OwnerLeaseTTL)
	case st.ReservedFor != "":
		res.Since, res.Full = st.Pending.At.Wall.Time, ms(st.Policy.ClaimTTL)
	}
	for _, v := range st.MemberViews(f) {
		x := Member{MemberView: v, LastHeld: st.Member(v.AgentID).LastHeld}
		p := f.Presence(v.AgentID)
		if p.Process == turn.Alive {
			x.PID, x.Stopped, x.Guardian = p.PID, p.Stopped, p.Guardian
		}
		if v.Waiting {
			x.WaitsSince = p.Waited
		}
		res.Members = append(res.Members, x)
	}
	own := mailbox.Of(l.own.Room(name, nil))
	unread := own.Unread(st)
	unread.Questions, unread.Answers = own.Debts(st)
	unread.Notes, unread.Pages, unread.Jobs = unread.Notes+unread.Pages, 0, 0
	res.Yours = Yours{unread, st.ReservedFor == l.me}
	return res, room, st, true
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
