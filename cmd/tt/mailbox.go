package main

import (
	"context"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
)

// A cursor says how far an agent has read its messages. It only moves forward.
type cursor struct {
	JoinedAt journal.Time // of the membership it counts in
	Seq      int64        // read up to here
	Read     int64        // how many messages that were
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

// A mailbox moves the cursor as messages are shown. It stands still for a
// reader that does not see every message, or that began behind some that were
// never shown: what was skipped stays unread.
type mailbox struct {
	seat  *seat
	at    cursor
	moved bool
	off   bool
}

// mailbox returns the mailbox for a reader that starts after a number.
func (s *seat) mailbox(ctx context.Context, st *turn.State, f filter, after int64) *mailbox {
	b := &mailbox{seat: s, at: s.readCursor(st)}
	b.off = !s.isMember(st) || !f.showsAllMail(s.me.ID) || (after > b.at.Seq && s.skips(ctx, st, after))
	if !b.off && after > b.at.Seq {
		b.at.Seq = after
	}
	return b
}

// skips reports whether unread mail lies before what follows a number.
func (s *seat) skips(ctx context.Context, st *turn.State, after int64) bool {
	unread := s.unread(st)
	if unread == 0 {
		return false
	}
	_, err := s.room.Events(ctx, after, func(e *journal.Event) error {
		if e.Seq <= st.Seq && turn.IsMail(e, s.me.ID) {
			unread--
		}
		return nil
	})
	return err != nil || unread > 0
}

// showsAllMail reports whether no message for the agent is filtered out.
func (f filter) showsAllMail(agent string) bool {
	return (f.types == nil || f.types[turn.MessageSent]) && f.from == "" && f.to == "" && (f.self == "" || f.self == agent)
}

// pass counts an event that the reader has come to.
func (b *mailbox) pass(e *journal.Event) {
	if b.off || e.Seq <= b.at.Seq {
		return
	}
	b.at.Seq = e.Seq
	if turn.IsMail(e, b.seat.me.ID) {
		b.at.Read++
		b.moved = true
	}
}

// save writes the cursor, unless another reader is further already. A cursor
// that is not saved shows messages again, which is allowed.
func (b *mailbox) save() {
	if b.off || !b.moved {
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

// readPage moves the cursor over a page that was shown, if nothing unread lies
// before it.
func (s *seat) readPage(ctx context.Context, st *turn.State, f filter, page []journal.Event) {
	if len(page) == 0 {
		return
	}
	b := s.mailbox(ctx, st, f, 0)
	for i := range page {
		b.pass(&page[i])
	}
	if b.at.Read == st.Mail(s.me.ID) {
		b.save()
	}
}
