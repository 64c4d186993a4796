package mailbox

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A Cursor says what an agent was shown, and what it was woken for.
type Cursor = hearing.Cursor

// Cursor returns the agent's cursor in its present membership, an empty one if it is no
// member or nothing was stored.
func (m *Mailbox) Cursor(st *turn.State) Cursor { return m.CursorOf(st, m.Room.Self.ID) }

// CursorOf is [Mailbox.Cursor] for any agent.
func (m *Mailbox) CursorOf(st *turn.State, id string) Cursor {
	member := st.Member(id)
	if member == nil {
		return Cursor{}
	}
	return hearing.ReadCursor(m.Room.FS.Agent(id), member.JoinedAt)
}

// AdvanceCursor moves the agent's stored cursor over what at has in addition: each part
// is set only if it is further than what is stored, and what at leaves zero stays. So
// those that show and those that wake may store their parts at the same time. at is one
// that [Mailbox.Cursor] returned, or has its JoinedAt. The cursor is replaced atomically and
// without a sync. If it cannot be stored, things are shown again.
func (m *Mailbox) AdvanceCursor(at Cursor) error {
	var stored Cursor
	return m.own().Change(hearing.CursorFile, &stored, func(bool) bool { return stored.Advance(at) })
}

// show moves the agent's stored cursor over what was just shown to it.
func (m *Mailbox) show(at Cursor) {
	at.Shown, at.Woken = m.shownNow(), hearing.Woken{}
	_ = m.AdvanceCursor(at)
}

func (m *Mailbox) shownNow() hearing.Shown {
	return hearing.Shown{At: event.NewTime(m.onRoomClock(time.Now())), How: cmp.Or(m.Room.Shows, hearing.ShownByCommand)}
}

// Unread counts what has come for the agent and was not shown to it: messages, open
// notes, questions, answers and ends of jobs; none if it is no member.
func (m *Mailbox) Unread(st *turn.State) turn.Unread {
	if !m.Room.IsMember(st) {
		return turn.Unread{}
	}
	t, s, err := m.questions().Topic()
	if err != nil {
		s = topic.New(t.Name())
	}
	return m.counts(st, m.Cursor(st), t, s)
}

// notesSeen moves the agent's cursor, if it is a member, over notes.
func (m *Mailbox) notesSeen(st *turn.State, seen turn.SeenNotes) {
	if at := m.Cursor(st); m.Room.IsMember(st) && (seen.Notes > at.NotesSeq || seen.Pages > at.PagesSeq) {
		at.NotesSeq, at.PagesSeq = seen.Notes, seen.Pages
		m.show(at)
	}
}

// UnreadInterrupts returns how many of the unread messages are urgent.
func (m *Mailbox) UnreadInterrupts(ctx context.Context, st *turn.State) (n int, err error) {
	at, err := m.cursor(ctx, st)
	in := &Inbox{state: st, at: at, most: math.MaxInt}
	if err == nil {
		err = in.addMessages(ctx, m)
	}
	for i := range in.words {
		if in.words[i].Urgent {
			n++
		}
	}
	return n, err
}

// ReadUpTo returns the number of the event up to which the agent has read its
// messages.
func (m *Mailbox) ReadUpTo(ctx context.Context, st *turn.State) (int64, error) {
	at, err := m.cursor(ctx, st)
	return at.EventSeq, err
}

// cursor is Cursor that is set before the first unread message for a member
// that has read nothing yet, and to the end for an agent that is no member.
func (m *Mailbox) cursor(ctx context.Context, st *turn.State) (Cursor, error) {
	at := m.Cursor(st)
	if at.EventSeq != 0 {
		return at, nil
	}
	at.EventSeq = st.Seq
	unread := st.Mail(m.Room.Self.ID) - at.Read
	if unread <= 0 {
		return at, nil
	}
	mail, err := m.Room.LastEvents(ctx, st, false, int(unread), func(e *event.Event) bool { return turn.IsMail(e, m.Room.Self.ID) })
	if len(mail) > 0 {
		at.EventSeq = mail[0].Seq - 1
	}
	return at, err
}

// A Reader collects the messages that were shown to the agent, until they are recorded.
type Reader struct {
	mailbox *Mailbox
	shown   map[string]bool // by the ids of their events: one that is undone may have a number that another one gets
}

// Reader returns one that has shown nothing.
func (m *Mailbox) Reader() *Reader { return &Reader{m, map[string]bool{}} }

// Show says that an event was, or is going to be, printed.
func (r *Reader) Show(e *event.Event) {
	if turn.IsMail(e, r.mailbox.Room.Self.ID) {
		r.shown[e.ID] = true
	}
}

// Save records what was shown. A message before which another one was not shown stays unread.
func (r *Reader) Save(ctx context.Context) {
	if len(r.shown) > 0 && r.mailbox.WordsShown(ctx, func(w *Word) bool { return w.Kind == WordMessage && r.shown[w.ID] }) {
		clear(r.shown)
	}
}
