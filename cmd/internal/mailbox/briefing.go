package mailbox

import (
	"context"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// Briefing implements [member.News]. st is the room before the grant, or as it is if the
// agent had the turn already. What cannot be read is left out, and stays unread.
func (m *Mailbox) Briefing(ctx context.Context, st *turn.State, handoff int64) (turn.Briefing, func(*turn.State)) {
	at := m.Cursor(st)
	seen := at.Notes()
	b := turn.Briefing{NotesTotal: len(st.Notes), Missed: m.missed(ctx, st, handoff)}
	b.Changes, b.MoreChanges = m.changes(ctx, st)
	b.Interrupted = m.interrupted(ctx, st)
	if len(st.Notes) > 0 {
		b.Notes = m.briefNotes(ctx, st, seen)
		seen = st.NotesSeen(m.Room.Self.ID, seen, func(n *turn.Note) bool {
			return slices.ContainsFunc(b.Notes, func(shown turn.BriefNote) bool { return shown.ID == n.ID })
		})
	}
	b.Unread = m.Unread(st)
	b.Unread.Notes, b.Unread.Pages = st.UnreadNotes(m.Room.Self.ID, seen)
	return b, func(after *turn.State) { m.notesSeen(after, seen) }
}

func (m *Mailbox) briefNotes(ctx context.Context, st *turn.State, seen turn.SeenNotes) []turn.BriefNote {
	at, done, err := m.Room.FS.Lookup(ctx)
	if err != nil {
		return nil
	}
	defer done()
	notes := st.BriefNotes(m.Room.Self.ID, seen)
	for i := range notes {
		if notes[i].ReadBody(at) != nil {
			return nil
		}
	}
	return turn.FitNotes(notes)
}

// missedWindow is how many events before a turn are read for missed handoffs, at
// first and at most.
const (
	missedWindow = 64
	missedReach  = 4096
)

// missed returns the handoffs that the agent has missed, but the one of the event
// handoff. It reads the journal backwards, and only if there were turns in between.
func (m *Mailbox) missed(ctx context.Context, st *turn.State, handoff int64) []turn.MissedHandoff {
	first, last := st.MayHaveMissed(m.Room.Self.ID)
	for window := int64(missedWindow); last > 0; window *= 8 {
		list := turn.MissedList{Agent: m.Room.Self.ID, Except: handoff}
		after := max(first, last-window)
		err := m.Room.EachEvent(ctx, after, false, func(e *event.Event) error {
			if e.Seq > last {
				return member.ErrEnough
			}
			list.Add(e)
			return nil
		})
		switch {
		case err != nil:
			return nil
		case list.Found, list.Full(), after == first, window >= missedReach:
			return list.List()
		}
	}
	return nil
}
