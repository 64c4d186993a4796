package mailbox

import (
	"context"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// The delivery states of a message.
const (
	Stored   = "stored"   // in the journal
	WokenFor = "woken"    // the recipient was woken for it
	ShownTo  = "shown"    // it was printed where the recipient reads
	Answered = "answered" // the recipient wrote to the sender afterwards
)

// A Delivered is what became of a message for one recipient.
type Delivered struct {
	Seq      int64      `json:"event_seq"` // of the message
	From     string     `json:"from_agent_id"`
	To       string     `json:"to_agent_id"` // the recipient
	State    string     `json:"state"`       // the furthest delivery state
	StoredAt event.Time `json:"stored_at"`
	WokenAt  event.Time `json:"woken_at,omitzero"` // zero: it was not woken for it, or that was too long ago to be known
	WokenBy  string     `json:"woken_by,omitempty"`
	ShownAt  event.Time `json:"shown_at,omitzero"`            // zero: as WokenAt
	Answer   int64      `json:"answered_event_seq,omitempty"` // 0: none
	Preview  string     `json:"-"`                            // the first line of the message
}

// Delivered returns what became of a message: of the event with the number seq, or of the
// newest message of the agent if seq is 0, for which it may be nobody. One for the room has
// a row for each of the members that it was for.
func (m *Mailbox) Delivered(ctx context.Context, st *turn.State, seq int64) ([]Delivered, error) {
	message, err := m.messageAt(ctx, st, seq)
	if err != nil || message == nil {
		return []Delivered{}, err
	}
	rows := []Delivered{}
	recipients := []string{message.To}
	if message.To == "" {
		recipients = st.Others(message.From)
	}
	for _, id := range recipients {
		if member := st.Member(id); member == nil || !member.JoinedAt.After(message.CreatedAt.Time) || message.To != "" {
			rows = append(rows, m.delivered(st, message, id))
		}
	}
	return rows, m.Room.EachEvent(ctx, message.Seq, false, func(e *event.Event) error {
		for i := range rows {
			row := &rows[i]
			if row.Answer == 0 && e.Type == turn.MessageSent && e.From == row.To && e.To == message.From {
				row.State, row.Answer = Answered, e.Seq
			}
			// A later message was shown later, and only the last time is kept.
			if !row.ShownAt.IsZero() && turn.IsMail(e, row.To) && e.Seq <= m.CursorOf(st, row.To).EventSeq {
				row.ShownAt = event.Time{}
			}
		}
		return nil
	})
}

// messageAt returns the message with the number, or the newest of the agent for 0.
func (m *Mailbox) messageAt(ctx context.Context, st *turn.State, seq int64) (*event.Event, error) {
	found, err := m.Room.LastEvents(ctx, st, false, 1, func(e *event.Event) bool {
		return e.Type == turn.MessageSent && (e.Seq == seq || seq == 0 && e.From == m.Room.Self.ID)
	})
	switch {
	case len(found) > 0:
		return &found[0], err
	case err == nil && seq != 0:
		err = code.New(code.UnknownTarget, "event %d is no message of this room", seq).
			WithHint(`tt msg send answers the number of the event; "tt log" shows all of them`).With("event_seq", seq).With("last_event_seq", st.Seq)
	}
	return nil, err
}

// delivered returns what is known of a message for one recipient without the events that
// came after it.
func (m *Mailbox) delivered(st *turn.State, message *event.Event, id string) Delivered {
	row := Delivered{Seq: message.Seq, From: message.From, To: id, State: Stored, StoredAt: message.CreatedAt,
		Preview: turn.Preview(turn.Body(message))}
	at := m.CursorOf(st, id)
	if at.JoinedAt.After(message.CreatedAt.Time) { // it has joined again since
		return row
	}
	if w := at.Woken; w.EventSeq >= message.Seq && turn.ClassOf(message, id) != "" {
		row.State = WokenFor
		if message.Seq > w.From {
			row.WokenAt, row.WokenBy = w.At, w.How
		}
	}
	if at.EventSeq >= message.Seq {
		row.State, row.ShownAt = ShownTo, at.Shown.At
	}
	return row
}

// A MemberReach says how a member hears of news, and what it has not seen.
type MemberReach struct {
	ID         string        `json:"agent_id"`
	Reach      string        `json:"reach"`
	Listening  string        `json:"listening,omitempty"` // see [turn.MemberView]
	Unread     int64         `json:"unread"`              // messages that were not shown to it
	Process    turn.Process  `json:"process"`
	GoneAt     *event.Time   `json:"gone_at,omitempty"`    // see [turn.MemberView]
	NotifiedAt event.Time    `json:"notified_at,omitzero"` // the notification that it did not answer; zero: none
	Error      string        `json:"error,omitempty"`      // of the last attempt to wake it
	Note       string        `json:"note,omitempty"`       // why it may not hear as soon as it seems, "" if nothing is known
	Activity   turn.Activity `json:"activity,omitzero"`
	Within     time.Duration `json:"-"` // see [turn.Hearing]
	Why        string        `json:"-"` // see [turn.MemberView]
}

// Reach returns how the members hear of news, the inactive ones last.
func (m *Mailbox) Reach(st *turn.State, f turn.Facts) []MemberReach {
	list := []MemberReach{}
	for _, view := range st.MemberViews(f) {
		reach := MemberReach{ID: view.AgentID, Listening: view.Listening, Reach: view.Reach, Within: view.Within, Process: view.Process,
			GoneAt: view.GoneAt, Why: view.Why, Unread: max(0, st.Mail(view.AgentID)-m.CursorOf(st, view.AgentID).Read)}
		if view.Activity.What != "" {
			reach.Activity = view.Activity
		}
		if view.Reach == turn.ReachUnheard {
			reach.NotifiedAt = event.NewTime(f.Hearing(view.AgentID).Notified)
		}
		reach.Error = m.Room.HearingOf(view.AgentID).Listener().Error
		reach.Note = f.Hearing(view.AgentID).Note()
		list = append(list, reach)
	}
	return list
}
