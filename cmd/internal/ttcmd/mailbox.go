package ttcmd

import (
	"context"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A cursor says how far an agent has read its messages. It only moves forward.
type cursor struct {
	JoinedAt event.Time // of the membership it counts in
	Seq      int64      // read up to here; 0: nothing yet
	Read     int64      // how many messages that were
}

// readCursor returns the caller's cursor in its present membership.
func (s *seat) readCursor(st *turn.State) cursor {
	m := st.Member(s.me.ID)
	if m == nil {
		return cursor{}
	}
	var c cursor
	if s.mine().Read(fileCursor, &c) && c.JoinedAt.Equal(m.JoinedAt.Time) {
		return c
	}
	return cursor{JoinedAt: m.JoinedAt}
}

// unread is how many messages for the caller nobody has shown to it.
func (s *seat) unread(st *turn.State) int64 {
	return max(0, st.Mail(s.me.ID)-s.readCursor(st).Read)
}

// unreadInterrupts is how many of the unread messages are urgent. It looks at the
// journal only if there are unread ones.
func (s *seat) unreadInterrupts(ctx context.Context, st *turn.State) (int, error) {
	if s.unread(st) == 0 {
		return 0, nil
	}
	at, err := s.cursorIn(ctx, st)
	if err != nil {
		return 0, err
	}
	n := 0
	_, err = s.room.Events(ctx, at.Seq, func(e *event.Event) error {
		if turn.IsMail(e, s.me.ID) && turn.Interrupts(e) {
			n++
		}
		return nil
	})
	return n, err
}

// cursorIn is readCursor with its place in the journal also for a member that has
// read nothing yet: before its first unread message. One who is no member has read
// everything.
func (s *seat) cursorIn(ctx context.Context, st *turn.State) (cursor, error) {
	at := s.readCursor(st)
	if at.Seq != 0 {
		return at, nil
	}
	at.Seq = st.Seq
	unread := st.Mail(s.me.ID) - at.Read
	if unread <= 0 {
		return at, nil
	}
	mail, err := s.lastEvents(ctx, st, false, int(unread), func(e *event.Event) bool { return turn.IsMail(e, s.me.ID) })
	if len(mail) > 0 {
		at.Seq = mail[0].Seq - 1
	}
	return at, err
}

// A mailbox moves the cursor as messages are shown. It stands still at the first
// message that is not shown: what was skipped stays unread.
type mailbox struct {
	seat  *seat
	at    cursor
	moved bool
	off   bool
}

// mailbox returns the mailbox for a reader that starts after a number.
func (s *seat) mailbox(ctx context.Context, st *turn.State, after int64) (*mailbox, error) {
	at, err := s.cursorIn(ctx, st)
	b := &mailbox{seat: s, at: at, off: !s.isMember(st)}
	if err != nil || b.off || after <= at.Seq {
		return b, err
	}
	b.off, err = s.mailBetween(ctx, at.Seq, after)
	return b, err
}

// mailBetween reports whether a message for the caller lies after one number and
// not after another.
func (s *seat) mailBetween(ctx context.Context, after, upTo int64) (found bool, err error) {
	_, err = s.room.Events(ctx, after, func(e *event.Event) error {
		found = e.Seq <= upTo && turn.IsMail(e, s.me.ID)
		if found || e.Seq >= upTo {
			return errEnough
		}
		return nil
	})
	if err == errEnough {
		err = nil
	}
	return found, err
}

// pass counts an event that the reader has come to. shown says whether it was, or
// is going to be, printed.
func (b *mailbox) pass(e *event.Event, shown bool) {
	mail := turn.IsMail(e, b.seat.me.ID)
	switch {
	case b.off || e.Seq <= b.at.Seq:
	case mail && !shown:
		b.off = true
	default:
		b.at.Seq = e.Seq
		if mail {
			b.at.Read++
			b.moved = true
		}
	}
}

// unread is how many messages are left.
func (b *mailbox) unread(st *turn.State) int64 { return max(0, st.Mail(b.seat.me.ID)-b.at.Read) }

// save writes the cursor, unless another reader is further already. A cursor
// that is not saved shows messages again, which is allowed.
func (b *mailbox) save() {
	if !b.moved {
		return
	}
	b.moved = false
	const patience = time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	unlock, err := b.seat.mine().Lock(ctx, "cursor.lock")
	if err != nil {
		return
	}
	defer unlock()
	var there cursor
	if b.seat.mine().Read(fileCursor, &there) && there.JoinedAt.Equal(b.at.JoinedAt.Time) && there.Seq >= b.at.Seq {
		return
	}
	_ = b.seat.mine().Write(fileCursor, &b.at)
}
