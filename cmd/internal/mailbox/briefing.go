package mailbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// Briefing implements [member.News]. st is the room before the grant, or as it is if the
// agent had the turn already. What cannot be read is left out, and stays unread.
func (m *Mailbox) Briefing(ctx context.Context, st *turn.State, handoff int64) (turn.Briefing, func(*turn.State)) {
	at := m.Cursor(st)
	var shown talk.Seen
	b := turn.Briefing{NotesTotal: len(st.Notes), Missed: m.missed(ctx, st, handoff)}
	m.addChanges(ctx, st, &b)
	b.Interrupted = m.interrupted(ctx, st)
	if len(st.Notes) > 0 {
		b.Notes = m.briefNotes(ctx, st, &at.Seen)
		var words []talk.Word
		notes, fresh := talk.NotesFor(st.Notes, m.Room.Self.ID, &at.Seen)
		for _, n := range notes[:fresh] {
			words = append(words, n.Word(""))
		}
		shown.Pass(words, func(w *talk.Word) bool { // one that was cut is shown whole by an inbox
			return slices.ContainsFunc(b.Notes, func(n talk.BriefNote) bool { return n.ID == w.ID && !n.Truncated })
		})
	}
	at.Seen.Advance(shown)
	b.Unread = m.unread(st, at)
	return b, func(after *turn.State) {
		if m.Room.IsMember(after) && !shown.IsZero() {
			m.show(Cursor{JoinedAt: m.Cursor(after).JoinedAt, Seen: shown})
		}
	}
}

func (m *Mailbox) briefNotes(ctx context.Context, st *turn.State, seen *talk.Seen) []talk.BriefNote {
	notes := talk.BriefNotes(st.Notes, m.Room.Self.ID, seen)
	for i := range notes {
		e, err := m.Room.FS.Event(ctx, notes[i].Seq)
		if err != nil {
			return nil
		}
		notes[i].Body = talk.Of(e).Text
	}
	return talk.FitNotes(notes)
}

// missedReach is how many events before a turn are read at most for what is told with it.
const missedReach = 4096

// recent calls fn with the events after first, up to last.
func (m *Mailbox) recent(ctx context.Context, first, last int64, fn func(*event.Event)) error {
	return m.Room.EachEvent(ctx, max(first, last-missedReach), false, func(e *event.Event) error {
		if e.Seq > last {
			return member.ErrEnough
		}
		fn(e)
		return nil
	})
}

// missed returns the handoffs that the agent has missed, but the one of the event
// handoff.
func (m *Mailbox) missed(ctx context.Context, st *turn.State, handoff int64) []turn.MissedHandoff {
	first, last := st.MayHaveMissed(m.Room.Self.ID)
	list := turn.MissedList{Agent: m.Room.Self.ID, Except: handoff}
	if last == 0 || m.recent(ctx, first, last, list.Add) != nil {
		return nil
	}
	return list.List()
}

// addChanges adds what changed in the tree since the agent's last turn. What cannot be read is left out, and so is a turn
// that changed nothing.
func (m *Mailbox) addChanges(ctx context.Context, st *turn.State, b *turn.Briefing) {
	since, more := st.ChangesSince(m.Room.Self.ID)
	b.MoreChanges = more
	for _, c := range since {
		e, err := m.Room.FS.Event(ctx, c.Seq)
		switch {
		case err != nil || len(e.Payload) == 0:
			b.MoreChanges++
		case !turn.ChangedNothing(e):
			b.AddChange(e.Payload)
		}
	}
}

// An Interrupted is a turn that was taken from its holder, for whoever goes on with it.
type Interrupted struct {
	turn.Interruption
	*member.Changed
	Diff string           `json:"diff,omitempty"`
	Undo string           `json:"undo,omitempty"`
	Host string           `json:"host,omitempty"` // another one, which has recorded what it changed
	Jobs []InterruptedJob `json:"jobs"`
}

// An InterruptedJob is a job that was started in the turn.
type InterruptedJob struct {
	JobID   int64  `json:"job_id"`
	Name    string `json:"name"`
	Outcome string `json:"outcome,omitempty"`
	Running bool   `json:"running,omitempty"`
}

// The bounds of what is told of an interrupted turn.
const (
	mostInterruptedPaths = 50
	mostInterruptedJobs  = 5
)

// interrupted returns what is known of the turn that the agent has taken over, or of several if
// that one had been taken over, too, as JSON. It is nil for a turn that was not taken from
// somebody who had it. st is the room before the grant, or as it is if the agent had the turn
// already.
func (m *Mailbox) interrupted(ctx context.Context, st *turn.State) json.RawMessage {
	if st.Owner == "" {
		return nil
	}
	if st.Owner == m.Room.Self.ID {
		if e, err := m.Room.FS.Event(ctx, st.Member(st.Owner).LastHeld); err != nil || e.Type != turn.Takeover {
			return nil
		}
	}
	var book turn.LogBook
	if m.recent(ctx, 0, st.Seq, func(e *event.Event) { book.Add(e) }) != nil {
		return nil
	}
	if st.Owner != m.Room.Self.ID {
		book.TakenOver(st, m.Room.Facts(st))
	}
	var shown []Interrupted
	for _, i := range book.Interruptions() {
		shown = append(shown, m.viewInterrupted(ctx, st, i))
	}
	var b []byte
	switch len(shown) {
	case 0:
	case 1:
		b, _ = json.Marshal(shown[0])
	default:
		b, _ = json.Marshal(shown)
	}
	return b
}

func (m *Mailbox) viewInterrupted(ctx context.Context, st *turn.State, i turn.Interruption) Interrupted {
	v := Interrupted{Interruption: i, Jobs: []InterruptedJob{}}
	tree := m.Room.Recorder(st)
	v.Host, v.Changed = m.Room.HostOfTurn(ctx, i.Turn), tree.Changed(i.Turn, mostInterruptedPaths)
	if tree.Records() && v.Host == "" {
		v.Diff, v.Undo = fmt.Sprintf("tt diff %d", i.Turn), fmt.Sprintf("tt undo %d", i.Turn)
	}
	all, _ := m.Room.Jobs().List()
	for _, j := range all {
		if j.Agent == i.Agent && j.Turn == i.Turn && len(v.Jobs) < mostInterruptedJobs {
			v.Jobs = append(v.Jobs, InterruptedJob{JobID: j.ID, Name: j.Name, Outcome: j.Outcome, Running: j.Outcome == ""})
		}
	}
	return v
}

// Interruptions reads what [Mailbox.Briefing] says of interrupted turns.
func Interruptions(raw json.RawMessage) (list []Interrupted) {
	var one Interrupted
	if json.Unmarshal(raw, &list) != nil && json.Unmarshal(raw, &one) == nil {
		list = []Interrupted{one}
	}
	return list
}
