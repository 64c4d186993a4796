package member

import (
	"context"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// A Cursor says what an agent was shown of a room and of the room's questions, and what
// it was woken for. It is no part of the room's history: to lose it shows things again.
type Cursor struct {
	JoinedAt event.Time // of the membership it counts in
	EventSeq int64      // all messages up to this event of the room were shown; 0: none yet
	Read     int64      // the number of these messages
	NotesSeq int64      // all notes up to this event of the room were shown
	TurnSeq  int64      // what became of the turn up to this event of the room was shown, without a command of the agent
	TopicSeq int64      // all questions and answers up to this event of the topic were shown
	TopicID  string     // the topic that TopicSeq counts in
	Shown    Shown
	Woken    Woken
}

// A Shown says when the agent was last shown something, and how.
type Shown struct {
	At  event.Time
	How string // see [Client.Shows]
}

// A Woken says up to which events the agent was woken for, and has not been shown yet.
type Woken struct {
	EventSeq int64      // of the room
	From     int64      // up to which event of the room it was woken for before
	TopicSeq int64      // of the topic
	At       event.Time // of the last try
	How      string     // what woke it
	Tries    int        // how often, for these events
}

// ShownByCommand is the [Shown.How] of what a command printed.
const ShownByCommand = "command"

// Fields implements [wire.Fields].
func (c *Cursor) Fields(codec *wire.Codec) {
	codec.Time("joined_at", &c.JoinedAt)
	codec.Int("event_seq", &c.EventSeq)
	codec.Int("topic_seq", &c.TopicSeq)
	codec.OptObject("shown", &c.Shown, c.Shown == Shown{})
	codec.OptObject("woken", &c.Woken, c.Woken == Woken{})
	codec.Int("read", &c.Read)
	codec.OptInt("notes_event_seq", &c.NotesSeq)
	codec.OptInt("turn_event_seq", &c.TurnSeq)
	codec.OptText("topic_id", &c.TopicID)
}

// Fields implements [wire.Fields].
func (s *Shown) Fields(c *wire.Codec) {
	c.Time("at", &s.At)
	c.OptText("how", &s.How)
}

// Fields implements [wire.Fields].
func (w *Woken) Fields(c *wire.Codec) {
	c.Int("event_seq", &w.EventSeq)
	c.OptInt("from_event_seq", &w.From)
	c.OptInt("topic_seq", &w.TopicSeq)
	c.Time("at", &w.At)
	c.OptText("how", &w.How)
	c.Num("tries", &w.Tries)
}

// advance moves the cursor over what b has in addition. No part of it goes back, and
// what b leaves zero stays. It reports whether anything has changed.
func (c *Cursor) advance(b Cursor) bool {
	was := *c
	if !c.JoinedAt.Equal(b.JoinedAt.Time) { // of another membership
		if c.JoinedAt.After(b.JoinedAt.Time) {
			return false
		}
		*c = Cursor{JoinedAt: b.JoinedAt}
	}
	if b.TopicID != "" && b.TopicID != c.TopicID {
		c.TopicID, c.TopicSeq, c.Woken.TopicSeq = b.TopicID, 0, 0
	}
	if b.EventSeq > c.EventSeq {
		c.EventSeq, c.Read = b.EventSeq, b.Read
	}
	c.NotesSeq = max(c.NotesSeq, b.NotesSeq)
	c.TurnSeq = max(c.TurnSeq, b.TurnSeq)
	c.TopicSeq = max(c.TopicSeq, b.TopicSeq)
	if b.Shown.At.After(c.Shown.At.Time) {
		c.Shown = b.Shown
	}
	c.Woken.advance(b.Woken)
	return *c != was
}

// advance is the part of [Cursor.advance] for w. Another try for the same events is an
// advance.
func (w *Woken) advance(b Woken) {
	event, topic := max(w.EventSeq, b.EventSeq), max(w.TopicSeq, b.TopicSeq)
	if event > w.EventSeq || topic > w.TopicSeq || b.Tries > w.Tries && event == b.EventSeq && topic == b.TopicSeq {
		b.From = w.From
		if event > w.EventSeq {
			b.From = w.EventSeq
		}
		*w = b
		w.EventSeq, w.TopicSeq = event, topic
	}
}

// Cursor returns the agent's cursor in its present membership, an empty one if it is no
// member or nothing was stored.
func (r *Room) Cursor(st *turn.State) Cursor { return r.CursorOf(st, r.Self.ID) }

// CursorOf is [Room.Cursor] for any agent.
func (r *Room) CursorOf(st *turn.State, id string) Cursor {
	m := st.Member(id)
	if m == nil {
		return Cursor{}
	}
	var c Cursor
	if r.Agent(id).Read(CursorFile, &c) && c.JoinedAt.Equal(m.JoinedAt.Time) {
		return c
	}
	return Cursor{JoinedAt: m.JoinedAt}
}

// AdvanceCursor moves the agent's stored cursor over what at has in addition: each part
// is set only if it is further than what is stored, and what at leaves zero stays. So
// those that show and those that wake may store their parts at the same time. at is one
// that [Room.Cursor] returned, or has its JoinedAt. The cursor is replaced atomically and
// without a sync. If it cannot be stored, things are shown again.
func (r *Room) AdvanceCursor(at Cursor) error {
	var stored Cursor
	return r.own().Change(CursorFile, &stored, func(bool) bool { return stored.advance(at) })
}

// show moves the agent's stored cursor over what was just shown to it.
func (r *Room) show(at Cursor) {
	at.Shown, at.Woken = Shown{event.NewTime(r.time()), r.Shows}, Woken{}
	if at.Shown.How == "" {
		at.Shown.How = ShownByCommand
	}
	_ = r.AdvanceCursor(at)
}

// Unread counts what has come for the agent and was not shown to it: messages, open
// notes, questions and answers; none if it is no member. It reads the cursor only if there
// is something to count.
func (r *Room) Unread(st *turn.State) turn.Unread {
	if !r.IsMember(st) {
		return turn.Unread{}
	}
	mail, notes := st.Mail(r.Self.ID), st.UnreadNotes(r.Self.ID, 0)
	t, s, err := r.questions()
	talk := err == nil && len(s.Questions) > 0
	if mail <= 0 && notes == 0 && !talk {
		return turn.Unread{}
	}
	at := r.Cursor(st)
	u := turn.Unread{Messages: max(0, mail-at.Read), Notes: st.UnreadNotes(r.Self.ID, at.NotesSeq)}
	if talk {
		n := s.NewsFor(r.Self.ID, at.topicSeen(t.Name()), r.absent(st))
		u.Questions, u.Answers = n.Questions, n.Answers
	}
	return u
}

// NotesShown moves the agent's cursor over notes that were printed. shown tells them
// by their event_seq. A note before which another one was not shown stays unread.
func (r *Room) NotesShown(st *turn.State, shown func(seq int64) bool) {
	at := r.Cursor(st)
	r.notesSeen(st, st.NotesSeen(r.Self.ID, at.NotesSeq, shown))
}

// notesSeen moves the agent's cursor, if it is a member, over the notes up to an event.
func (r *Room) notesSeen(st *turn.State, seen int64) {
	if at := r.Cursor(st); r.IsMember(st) && seen > at.NotesSeq {
		at.NotesSeq = seen
		r.show(at)
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
	_, err = r.Events(ctx, at.EventSeq, func(e *event.Event) error {
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
	return at.EventSeq, err
}

// cursor is Cursor that is set before the first unread message for a member
// that has read nothing yet, and to the end for an agent that is no member.
func (r *Room) cursor(ctx context.Context, st *turn.State) (Cursor, error) {
	at := r.Cursor(st)
	if at.EventSeq != 0 {
		return at, nil
	}
	at.EventSeq = st.Seq
	unread := st.Mail(r.Self.ID) - at.Read
	if unread <= 0 {
		return at, nil
	}
	mail, err := r.LastEvents(ctx, st, false, int(unread), func(e *event.Event) bool { return turn.IsMail(e, r.Self.ID) })
	if len(mail) > 0 {
		at.EventSeq = mail[0].Seq - 1
	}
	return at, err
}

// A ReadCursor moves the agent's cursor as messages are shown. It stops for good at
// the first message that is not shown, which so stays unread.
type ReadCursor struct {
	room    *Room
	at      Cursor
	moved   bool
	stopped bool
}

// ReadCursor returns the cursor of a reader that starts after an event. If there are
// unread messages before that, or the agent is no member, the cursor does not move.
func (r *Room) ReadCursor(ctx context.Context, st *turn.State, after int64) (*ReadCursor, error) {
	at, err := r.cursor(ctx, st)
	c := &ReadCursor{room: r, at: at, stopped: !r.IsMember(st)}
	if err != nil || c.stopped || after <= at.EventSeq {
		return c, err
	}
	err = r.EachEvent(ctx, at.EventSeq, false, func(e *event.Event) error {
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
	case c.stopped || e.Seq <= c.at.EventSeq:
	case mail && !shown:
		c.stopped = true
	default:
		c.at.EventSeq = e.Seq
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
		c.room.show(c.at)
	}
}
