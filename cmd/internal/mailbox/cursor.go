package mailbox

import (
	"cmp"
	"context"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/member"
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
// notes, questions, answers and ends of jobs; none if it is no member. It reads the cursor only if there
// is something to count.
func (m *Mailbox) Unread(st *turn.State) turn.Unread {
	if !m.Room.IsMember(st) {
		return turn.Unread{}
	}
	mail, jobs := st.Mail(m.Room.Self.ID), st.JobEnds(m.Room.Self.ID)
	notes, pages := st.UnreadNotes(m.Room.Self.ID, turn.SeenNotes{})
	t, s, err := m.questions().Topic()
	talk := err == nil && len(s.Questions) > 0
	if mail <= 0 && notes+pages == 0 && jobs == 0 && !talk {
		return turn.Unread{}
	}
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

// UnreadInterrupts returns how many of the unread messages are urgent. It reads the
// journal only if there are unread ones.
func (m *Mailbox) UnreadInterrupts(ctx context.Context, st *turn.State) (n int, err error) {
	if m.Unread(st).Messages == 0 {
		return 0, nil
	}
	at, err := m.cursor(ctx, st)
	if err != nil {
		return 0, err
	}
	_, err = m.Room.FS.Events(ctx, at.EventSeq, func(e *event.Event) error {
		if turn.IsMail(e, m.Room.Self.ID) && turn.Interrupts(e) {
			n++
		}
		return nil
	})
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

// A ReadCursor moves the agent's cursor as messages are shown. It stops for good at
// the first message that is not shown, which so stays unread.
type ReadCursor struct {
	mailbox *Mailbox
	at      Cursor
	stored  Cursor // what at was when it was stored last, or in the beginning
	last    string // the id of the event that at is on; "" if at did not move
	moved   bool   // over a message
	stopped bool
}

// ReadCursor returns the cursor of a reader that starts after an event. If there are
// unread messages before that, or the agent is no member, the cursor does not move.
func (m *Mailbox) ReadCursor(ctx context.Context, st *turn.State, after int64) (*ReadCursor, error) {
	at, err := m.cursor(ctx, st)
	c := &ReadCursor{mailbox: m, at: at, stored: at, stopped: !m.Room.IsMember(st)}
	if err != nil || c.stopped || after <= at.EventSeq {
		return c, err
	}
	err = m.Room.EachEvent(ctx, at.EventSeq, false, func(e *event.Event) error {
		c.stopped = e.Seq <= after && turn.IsMail(e, m.Room.Self.ID)
		if c.stopped || e.Seq >= after {
			return member.ErrEnough
		}
		return nil
	})
	return c, err
}

// Pass moves the cursor over an event that the reader has come to. shown says
// whether it was, or is going to be, printed.
func (c *ReadCursor) Pass(e *event.Event, shown bool) {
	mail := turn.IsMail(e, c.mailbox.Room.Self.ID)
	switch {
	case c.stopped || e.Seq <= c.at.EventSeq:
	case mail && !shown:
		c.stopped = true
	case e.Type == turn.JournalDamaged: // what was lost and not shown will never be
		c.at.EventSeq, c.last = e.Seq, e.ID
		if n := turn.MailAtLoss(e, c.mailbox.Room.Self.ID); n > c.at.Read {
			c.at.Read, c.moved = n, true
		}
	default:
		c.at.EventSeq, c.last = e.Seq, e.ID
		if mail {
			c.at.Read++
			c.moved = true
		}
	}
}

// Unread returns the number of messages beyond the cursor.
func (c *ReadCursor) Unread(st *turn.State) int64 {
	return max(0, st.Mail(c.mailbox.Room.Self.ID)-c.at.Read)
}

// Save stores the cursor, unless what it has passed was undone: an event may be read before
// its writer has synced it. Then it starts again from what was stored. It waits for the change
// that is under way.
func (c *ReadCursor) Save(ctx context.Context) {
	if !c.moved {
		return
	}
	c.moved = false
	if files := c.mailbox.Room.FS; files.Settled(ctx) {
		if e, err := files.Event(ctx, c.at.EventSeq); err == nil && e.ID == c.last {
			c.stored = c.at
			c.mailbox.show(c.at)
			return
		}
	}
	c.at, c.last = c.stored, ""
}
