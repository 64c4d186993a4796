package mailbox

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// RoomNews is what there is for an agent in a room.
type RoomNews struct {
	Mailbox *Mailbox
	Path    string
	Member  bool          // false: the agent is in the room no more
	Waiting bool          // a process of the agent waits for the turn
	Inbox   bool          // and for messages
	All     turn.News     // what was not shown to it
	Fresh   turn.News     // the part of All that it was not woken for
	Pending bool          // a change is under way that may bring more
	End     event.Event   // of one that is no member: by which it is none
	Until   time.Duration // how long it is until the agent, which wants the turn, may have it, by time alone; 0: it does not come so

	in       *Inbox // what was said to the agent: nothing if it is no member
	seq      int64  // of the last event that the news covers
	topicSeq int64  // of the last event of the room's questions that the news covers

	printed hearing.PrintedRoom // see Printed
}

// News returns what there is for the agent beyond what was printed to it, if printed is
// not nil. Agents are notified of a change before it is committed, so callers wait for that
// first, see [fsroom.Files.Settled].
func (m *Mailbox) News(ctx context.Context, printed *hearing.PrintedRoom) (RoomNews, error) {
	m.Room.SettleJobs(ctx)
	pending := m.Room.FS.IsChanging()
	snap, settled, err := m.Room.FS.SettledView(ctx)
	if err != nil {
		return RoomNews{}, err
	}
	st := snap.State
	n := RoomNews{Mailbox: m, Path: m.Room.Path(st), Member: m.Room.IsMember(st), Pending: pending, seq: st.Seq,
		in: &Inbox{state: st, settled: settled, most: math.MaxInt}}
	if !n.Member {
		if printed != nil && printed.Left {
			return n, nil
		}
		return n, n.addEnd(ctx)
	}
	f := m.Room.Facts(st)
	p := f.Presence(m.Room.Self.ID)
	n.Waiting, n.Inbox = p.Waiting, p.Inbox
	if n.in.at = m.Cursor(st); printed != nil {
		n.in.at.Advance(printed.Cursor)
		m.questions().Fit(&n.in.at)
	}
	return n, n.add(ctx, f)
}

// add fills in All and Fresh for an agent that is a member.
func (n *RoomNews) add(ctx context.Context, f turn.Facts) error {
	m, st, at, me := n.Mailbox, n.in.state, n.in.at, n.Mailbox.Room.Self.ID
	n.All.AddOffer(st, f, me, at.TurnSeq)
	n.Fresh.AddOffer(st, f, me, max(at.TurnSeq, at.Woken.EventSeq))
	n.All.AddCall(st, f, me)
	if n.Until = m.Room.UntilCalled(st, f, me); !m.Room.Called() {
		n.Fresh.AddCall(st, f, me)
	}
	if seq, _ := st.TakenOver(me); seq > at.TurnSeq {
		n.addLoss(turn.Takeover, seq)
	}
	s, err := n.in.fill(ctx, m)
	if err != nil {
		return err
	}
	n.topicSeq = s.Seq
	for i := range n.in.words {
		w := &n.in.words[i]
		woken := at.Woken.EventSeq
		if w.Kind == talk.KindAnswer || w.Kind == talk.KindQuestion {
			woken = n.in.at.Woken.TopicSeq
		}
		n.All.AddWord(st, w, me)
		if w.Seq > woken {
			n.Fresh.AddWord(st, w, me)
		}
	}
	return nil
}

// addLoss takes into account that the agent has lost its turn, its membership or the room by an event of a type.
func (n *RoomNews) addLoss(kind string, seq int64) {
	if n.All.Lost = kind; seq > n.in.at.Woken.EventSeq {
		n.Fresh.Lost = kind
	}
}

// addEnd adds how an agent that is in the room no more lost its membership, and the messages that it had not seen then.
// One that has left by itself knows.
func (n *RoomNews) addEnd(ctx context.Context) error {
	me := n.Mailbox.Room.Self.ID
	n.Mailbox.own().Read(hearing.CursorFile, &n.in.at)
	n.Mailbox.questions().Fit(&n.in.at)
	var end event.Event
	left := false // by itself
	err := n.Mailbox.Room.EachEvent(ctx, n.in.at.EventSeq, true, func(e *event.Event) error {
		switch {
		case e.From == me && (e.Type == turn.MemberJoined || e.Type == turn.MemberLeft):
			end, left, n.in.words = event.Event{}, e.Type == turn.MemberLeft, nil
		case e.Type == turn.JournalDamaged: // it may have joined again
			left = false
		case end.Seq <= n.in.at.TurnSeq && !left && turn.ClassOf(e, me) == turn.ClassLost && e.Type != turn.Takeover:
			end = e.Clone()
		case end.Type == "" && !left && talk.IsMail(e, me):
			n.in.words = append(n.in.words, talk.Of(e))
		}
		return nil
	})
	if end.Type == "" || end.Seq <= n.in.at.TurnSeq {
		n.in.words = nil
	} else {
		n.addLoss(end.Type, end.Seq)
		n.seq, n.End = end.Seq, end
	}
	return err
}

// Due returns the news for which the agent is to be woken now. If there is none, left is
// how long it is until the agent is to be woken again for old news, 0 if it is not.
func (n *RoomNews) Due(now time.Time) (news turn.News, left time.Duration) {
	if !n.Fresh.IsZero() {
		return n.All.Like(n.Fresh), 0
	}
	w := n.in.at.Woken
	if n.All.IsZero() || w.Tries == 0 || w.Tries >= hearing.MaxTries {
		return turn.News{}, 0
	}
	if left = w.At.Add(retryAfter[w.Tries-1]).Sub(n.Mailbox.onRoomClock(now)); left > 0 {
		return turn.News{}, left
	}
	return n.All, 0
}

// retryAfter are the times between two wakes for the same news, if the first had no effect:
// the agent is woken again half a minute and two minutes after it.
var retryAfter = [hearing.MaxTries - 1]time.Duration{30 * time.Second, 90 * time.Second}

// Wake records that the agent is woken for the news, before it is. If it returns an error
// the agent must not be woken: it would be again and again.
func (n *RoomNews) Wake(how string, now time.Time) error {
	w := hearing.Woken{EventSeq: max(n.seq, n.in.at.Woken.EventSeq), TopicSeq: n.topicSeq,
		At: event.NewTime(n.Mailbox.onRoomClock(now)), How: how, Tries: 1}
	if n.Fresh.IsZero() {
		w.EventSeq, w.TopicSeq, w.Tries = n.in.at.Woken.EventSeq, n.in.at.Woken.TopicSeq, n.in.at.Woken.Tries+1
	}
	if n.All.Offer != 0 || n.All.Call {
		n.Mailbox.Room.Call()
	}
	at := n.in.nothing()
	at.Woken = w
	return n.Mailbox.AdvanceCursor(at)
}

// Printed returns what was printed of the news: what [RoomNews.Unshown] offered and its
// function accepted, and with turn what became of the turn. ok is false if it is nothing, or if it may still be undone: then it is
// printed again.
func (n *RoomNews) Printed(turn bool) (p hearing.PrintedRoom, ok bool) {
	p = n.printed
	p.Room = n.Mailbox.Room.FS.Name()
	if turn && n.Member {
		p.Cursor.TurnSeq = n.seq
	}
	p.Left = turn && !n.Member
	ok = n.in.settled && (p.Left || p.Cursor.TurnSeq > 0 || !p.Cursor.IsZero())
	p.Cursor.Shown = n.Mailbox.shownNow()
	n.Mailbox.questions().Fit(&p.Cursor)
	return p, ok
}

// Shown records that what was printed was shown to the agent.
func (m *Mailbox) Shown(ctx context.Context, p *hearing.PrintedRoom) error {
	if p.Left {
		m.Room.Drop()
		return nil
	}
	if len(p.Answered) > 0 {
		t, s, err := m.questions().Topic()
		if err == nil && p.Cursor.Topic == s.Life() {
			err = m.questions().MarkShown(ctx, t, p.Answered, p.Cursor.AnswersSeq)
		}
		if err != nil && !fsroom.IsUnreachable(err) {
			return err
		}
	}
	return m.AdvanceCursor(p.Cursor)
}

// A Cursor says what an agent was shown, and what it was woken for.
type Cursor = hearing.Cursor

// Cursor returns the agent's cursor in its present membership, an empty one if it is no
// member or nothing was stored.
func (m *Mailbox) Cursor(st *turn.State) Cursor { return m.CursorOf(st, m.Room.Self.ID) }

// CursorOf is [Mailbox.Cursor] for any agent.
func (m *Mailbox) CursorOf(st *turn.State, id string) Cursor { return m.questions().Cursor(st, id) }

// AdvanceCursor is [questions.Room.Advance] for the agent.
func (m *Mailbox) AdvanceCursor(at Cursor) error { return m.questions().Advance(m.Room.Self.ID, at) }

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
func (m *Mailbox) Unread(st *turn.State) talk.Unread { return m.unread(st, m.Cursor(st)) }

// unread is Unread beyond a cursor.
func (m *Mailbox) unread(st *turn.State, at Cursor) talk.Unread {
	if !m.Room.IsMember(st) {
		return talk.Unread{}
	}
	t, s, err := m.questions().Topic()
	if err != nil {
		s = topic.New(t.Name())
	}
	return m.counts(st, at, s)
}

// UnreadInterrupts returns how many of the unread messages are urgent.
func (m *Mailbox) UnreadInterrupts(ctx context.Context, st *turn.State) (n int, err error) {
	return n, m.eachMail(ctx, st, m.Room.Self.ID, m.Cursor(st), func(w *talk.Word, _ *event.Event) error {
		if w.Urgent {
			n++
		}
		return nil
	})
}

// Read returns up to which event the agent has read its messages, and which after it: all if it is no member.
func (m *Mailbox) Read(st *turn.State) talk.Seen {
	me, at := st.Member(m.Room.Self.ID), m.Cursor(st).Seen
	if at.EventSeq = st.Seq; me != nil {
		at.EventSeq = max(me.Joined, m.Cursor(st).EventSeq)
	}
	return at
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
	if talk.IsMail(e, r.mailbox.Room.Self.ID) {
		r.shown[e.ID] = true
	}
}

// Save records what was shown.
func (r *Reader) Save(ctx context.Context) {
	if len(r.shown) > 0 && r.mailbox.WordsShown(ctx, func(w *talk.Word) bool { return w.Kind == talk.KindMessage && r.shown[w.ID] }) {
		clear(r.shown)
	}
}
