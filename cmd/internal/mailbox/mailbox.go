// Package mailbox is what one agent is told in one room of the talking stick: messages,
// notes, questions and answers, and what came with a turn; what it was shown of them, and
// what it is to be woken for.
package mailbox

import (
	"context"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A Mailbox is what there is for the agent in a room. It implements [member.News].
type Mailbox struct {
	Room  *member.Room
	found time.Time // when a wait found the first thing to tell; zero: nothing yet
}

// Of returns the mailbox of the agent in a room.
func Of(r *member.Room) *Mailbox { return &Mailbox{Room: r} }

// own is the agent's own directory in the room.
func (m *Mailbox) own() fsroom.Agent { return m.Room.FS.Agent(m.Room.Self.ID) }

// questions are those of the room.
func (m *Mailbox) questions() *questions.Room { return questions.Of(m.Room) }

// onRoomClock returns a time of this machine on the clock by which the room is judged: that
// of the engine, if there is one.
func (m *Mailbox) onRoomClock(t time.Time) time.Time {
	if m.Room.Clock == nil {
		return t
	}
	return t.Add(time.Until(m.Room.Clock().Wall.Time))
}

// Debts returns how many questions the agent owes an answer, and how many of its own
// have answers that it was not shown.
func (m *Mailbox) Debts(st *turn.State) (owed, answers int64) {
	t, s, err := m.questions().Topic()
	if err != nil || len(s.Questions) == 0 {
		return 0, 0
	}
	var at Cursor
	if m.Room.IsMember(st) {
		at = m.Cursor(st)
	}
	n := s.NewsFor(m.Room.Self.ID, at.TopicSeen(t.Name()), func(string) bool { return true })
	return int64(len(s.Debts(m.Room.Self.ID))), n.Answers
}

// Notes returns the notes of the room that q selects.
func (m *Mailbox) Notes(ctx context.Context, st *turn.State, q turn.NoteQuery) ([]turn.NoteView, error) {
	after := int64(0)
	if !q.All && q.After == "" { // the open ones are in the state, but for their texts
		after = st.Seq
		for i := range st.Notes {
			after = min(after, st.Notes[i].Seq-1)
		}
	}
	h, err := m.noteHistory(ctx, after)
	if err != nil {
		return nil, err
	}
	return h.List(st, q)
}

// PastNotes returns all notes of the room's life, none if they cannot be read.
func (m *Mailbox) PastNotes(ctx context.Context, st *turn.State) []turn.NoteView {
	if h, err := m.noteHistory(ctx, 0); err == nil {
		return h.All(st)
	}
	return nil
}

func (m *Mailbox) noteHistory(ctx context.Context, after int64) (h turn.NoteHistory, err error) {
	err = m.Room.EachEvent(ctx, after, false, func(e *event.Event) error { h.Add(e); return nil })
	return h, err
}

// LeftOpen is what is open in a room when it ends.
type LeftOpen struct {
	Notes     int64 `json:"notes"`
	Questions int64 `json:"questions"`
}

// LeftOpen counts what is open in the room now.
func (m *Mailbox) LeftOpen() (open LeftOpen) {
	if snap, err := m.Room.FS.View(); err == nil {
		open.Notes = int64(len(snap.State.Notes))
	}
	if _, s, err := m.questions().Topic(); err == nil {
		open.Questions = int64(len(s.All()))
	}
	return open
}

// Await implements [member.News].
func (m *Mailbox) Await(ctx context.Context, inspect fsroom.Inspect[*turn.State]) error {
	return m.Room.FS.AwaitBoth(ctx, m.Room.Self.ID, func() fsroom.Neighbour {
		if t := questions.OfRoom(m.Room.Client.Store, m.Room.FS.Name()); t.Exists() {
			return t
		}
		return nil
	}, inspect)
}

// gatherTime is how long a wait that has something to tell waits for more: what comes
// together is told at once.
const gatherTime = 300 * time.Millisecond

// Look implements [member.News].
func (m *Mailbox) Look(ctx context.Context, st *turn.State) (member.Found, error) {
	u := m.Unread(st)
	if u.Notes > 0 && !m.hasNoteByName(st) {
		u.Notes = 0 // notes for everybody come with the turn
	}
	if u == (turn.Unread{}) {
		m.found = time.Time{}
		return member.Found{}, nil
	}
	in, err := m.Inbox(ctx)
	if err != nil || !in.IsNew() {
		return member.Found{}, err
	}
	in.RoomID, in.CanonicalPath, in.Turn = "", "", InboxTurn{} // which the answer to the wait has
	if m.found.IsZero() {
		m.found = time.Now()
	}
	return member.Found{
		News: in, Shown: func() { m.InboxShown(context.Background(), in) }, More: max(0, gatherTime-time.Since(m.found)),
	}, nil
}

// hasNoteByName reports whether a note that the agent was not shown is for it alone.
func (m *Mailbox) hasNoteByName(st *turn.State) bool {
	at := m.Cursor(st)
	notes, fresh := st.NotesFor(m.Room.Self.ID, at.Notes())
	return slices.ContainsFunc(notes[:fresh], func(n turn.Note) bool { return n.Target == m.Room.Self.ID })
}

// AwaitInbox waits until something has come for the agent that it was not shown, or until
// ctx ends. It returns the inbox as it is then. It takes no turn.
func (m *Mailbox) AwaitInbox(ctx context.Context) (in *Inbox, err error) {
	if err := m.own().EnsureWakeFile(); err != nil {
		return nil, err
	}
	look := context.WithoutCancel(ctx)
	var exits member.ExitWatcher
	defer exits.Close()
	err = m.Await(ctx, func(snap *fsroom.Snapshot[*turn.State]) (bool, fsroom.Sleep, error) {
		exits.Watch(m.Room.SettleJobs(look))
		sleep := fsroom.Sleep{Exit: exits.C()}
		if st := snap.State; !st.Open || !m.Room.IsMember(st) || m.Unread(st) == (turn.Unread{}) {
			return !st.Open || !m.Room.IsMember(st), sleep, nil
		}
		var err error
		in, err = m.Inbox(look)
		return err != nil || in.IsNew(), sleep, err
	})
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	return m.Inbox(look)
}
