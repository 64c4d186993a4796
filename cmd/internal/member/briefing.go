package member

import (
	"context"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// briefing returns the briefing for a turn that came with the handoff of an event, and
// the event_seq up to which the agent has seen the notes when it is shown. st is the
// room before the grant, or as it is if the agent had the turn already. What cannot be
// read is left out, and stays unread.
func (r *Room) briefing(ctx context.Context, st *turn.State, handoff int64) (turn.Briefing, int64) {
	seen := r.Cursor(st).NotesSeq
	b := turn.Briefing{NotesTotal: len(st.Notes), Missed: r.missed(ctx, st, handoff)}
	if len(st.Notes) > 0 {
		b.Notes = r.briefNotes(ctx, st, seen)
		shown := make(map[int64]bool)
		for _, n := range b.Notes {
			shown[n.Seq] = true
		}
		seen = st.NotesSeen(r.Self.ID, seen, func(seq int64) bool { return shown[seq] })
	}
	b.Unread = r.Unread(st)
	b.Unread.Notes = st.UnreadNotes(r.Self.ID, seen)
	return b, seen
}

func (r *Room) briefNotes(ctx context.Context, st *turn.State, seen int64) []turn.BriefNote {
	reader, err := r.Reader()
	if err != nil {
		return nil
	}
	defer reader.Close()
	notes := st.BriefNotes(r.Self.ID, seen)
	for i := range notes {
		if notes[i].ReadBody(func(seq int64) (*event.Event, error) { return reader.Event(ctx, seq) }) != nil {
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
func (r *Room) missed(ctx context.Context, st *turn.State, handoff int64) []turn.MissedHandoff {
	first, last := st.MayHaveMissed(r.Self.ID)
	for window := int64(missedWindow); last > 0; window *= 8 {
		list := turn.MissedList{Agent: r.Self.ID, Except: handoff}
		after := max(first, last-window)
		err := r.EachEvent(ctx, after, false, func(e *event.Event) error {
			if e.Seq > last {
				return ErrEnough
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
