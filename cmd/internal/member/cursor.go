package member

import (
	"context"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// A cursor says how far an agent has read its messages and seen the notes for it.
type cursor struct {
	JoinedAt event.Time // of the membership it counts in
	Seq      int64      // all messages up to this event were read; 0: none yet
	Read     int64      // the number of messages read
	Notes    int64      // all notes up to this event were shown
}

// Fields implements [wire.Fields].
func (c *cursor) Fields(codec *wire.Codec) {
	codec.Time("joined_at", &c.JoinedAt)
	codec.Int("event_seq", &c.Seq)
	codec.Int("read", &c.Read)
	codec.OptInt("notes_event_seq", &c.Notes)
}

// storedCursor returns the agent's cursor in its present membership.
func (r *Room) storedCursor(st *turn.State) cursor {
	m := st.Member(r.Self.ID)
	if m == nil {
		return cursor{}
	}
	var c cursor
	if r.own().Read(cursorFile, &c) && c.JoinedAt.Equal(m.JoinedAt.Time) {
		return c
	}
	return cursor{JoinedAt: m.JoinedAt}
}

// Unread counts the messages and the open notes for the agent that were not shown to
// it: none if it is no member. It reads the cursor only if there is something to count.
func (r *Room) Unread(st *turn.State) turn.Unread {
	mail, notes := st.Mail(r.Self.ID), st.UnreadNotes(r.Self.ID, 0)
	if !r.IsMember(st) || mail <= 0 && notes == 0 {
		return turn.Unread{}
	}
	at := r.storedCursor(st)
	return turn.Unread{Messages: max(0, mail-at.Read), Notes: st.UnreadNotes(r.Self.ID, at.Notes)}
}

// NotesShown moves the agent's cursor over notes that were printed. shown tells them
// by their event_seq. A note before which another one was not shown stays unread.
func (r *Room) NotesShown(st *turn.State, shown func(seq int64) bool) {
	at := r.storedCursor(st)
	r.notesSeen(st, st.NotesSeen(r.Self.ID, at.Notes, shown))
}

// notesSeen moves the agent's cursor, if it is a member, over the notes up to an event.
func (r *Room) notesSeen(st *turn.State, seen int64) {
	if at := r.storedCursor(st); r.IsMember(st) && seen > at.Notes {
		at.Notes = seen
		r.saveCursor(at)
	}
}

// UnreadInterrupts returns how many of the unread messages are urgent. It reads the
// journal only if there are unread ones.
func (r *Room) UnreadInterrupts(ctx context.Context, st *turn.State) (n int, err error) {
	if r.Unread(st).Messages == 0 {
		return 0, nil
	}
	at, err := r.cursor(ctx, st)
	if err != nil {
		return 0, err
	}
	_, err = r.Events(ctx, at.Seq, func(e *event.Event) error {
		if turn.IsMail(e, r.Self.ID) && turn.Interrupts(e) {
			n++
		}
		return nil
	})
	return n, err
}

// ReadUpTo returns the number of the event up to which the agent has read its
// messages.
func (r *Room) ReadUpTo(ctx context.Context, st *turn.State) (int64, error) {
	at, err := r.cursor(ctx, st)
	return at.Seq, err
}

// cursor is storedCursor that is set before the first unread message for a member
// that has read nothing yet, and to the end for an agent that is no member.
func (r *Room) cursor(ctx context.Context, st *turn.State) (cursor, error) {
	at := r.storedCursor(st)
	if at.Seq != 0 {
		return at, nil
	}
	at.Seq = st.Seq
	unread := st.Mail(r.Self.ID) - at.Read
	if unread <= 0 {
		return at, nil
	}
	mail, err := r.LastEvents(ctx, st, false, int(unread), func(e *event.Event) bool { return turn.IsMail(e, r.Self.ID) })
	if len(mail) > 0 {
		at.Seq = mail[0].Seq - 1
	}
	return at, err
}

// A ReadCursor moves the agent's cursor as messages are shown. It stops for good at
// the first message that is not shown, which so stays unread.
type ReadCursor struct {
	room    *Room
	at      cursor
	moved   bool
	stopped bool
}

// ReadCursor returns the cursor of a reader that starts after an event. If there are
// unread messages before that, or the agent is no member, the cursor does not move.
func (r *Room) ReadCursor(ctx context.Context, st *turn.State, after int64) (*ReadCursor, error) {
	at, err := r.cursor(ctx, st)
	c := &ReadCursor{room: r, at: at, stopped: !r.IsMember(st)}
	if err != nil || c.stopped || after <= at.Seq {
		return c, err
	}
	err = r.EachEvent(ctx, at.Seq, false, func(e *event.Event) error {
		c.stopped = e.Seq <= after && turn.IsMail(e, r.Self.ID)
		if c.stopped || e.Seq >= after {
			return ErrEnough
		}
		return nil
	})
	return c, err
}

// Pass moves the cursor over an event that the reader has come to. shown says
// whether it was, or is going to be, printed.
func (c *ReadCursor) Pass(e *event.Event, shown bool) {
	mail := turn.IsMail(e, c.room.Self.ID)
	switch {
	case c.stopped || e.Seq <= c.at.Seq:
	case mail && !shown:
		c.stopped = true
	default:
		c.at.Seq = e.Seq
		if mail {
			c.at.Read++
			c.moved = true
		}
	}
}

// Unread returns the number of messages beyond the cursor.
func (c *ReadCursor) Unread(st *turn.State) int64 {
	return max(0, st.Mail(c.room.Self.ID)-c.at.Read)
}

// Save stores the cursor.
func (c *ReadCursor) Save() {
	if c.moved {
		c.moved = false
		c.room.saveCursor(c.at)
	}
}

// saveCursor stores the agent's cursor. Where another process of the agent is further,
// that stays. Two that save at the same moment may leave the earlier cursor: that shows
// messages and notes again, which is allowed, and loses none.
func (r *Room) saveCursor(at cursor) {
	var stored cursor
	if r.own().Read(cursorFile, &stored) && stored.JoinedAt.Equal(at.JoinedAt.Time) {
		if stored.Seq >= at.Seq && stored.Notes >= at.Notes {
			return
		}
		if stored.Seq >= at.Seq {
			at.Seq, at.Read = stored.Seq, stored.Read
		}
		at.Notes = max(at.Notes, stored.Notes)
	}
	_ = r.own().Write(cursorFile, &at)
}
