// Package mailbox is what one agent is told in one room of the talking stick: messages,
// notes, questions and answers, and what came with a turn; what it was shown of them, and
// what it is to be woken for.
package mailbox

import (
	"context"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A Mailbox is what there is for the agent in a room. It implements [member.News].
type Mailbox struct {
	Room  *member.Room
	found time.Time // when a wait found the first thing to tell; zero: nothing yet
}

// Of returns the mailbox of the agent in a room.
func Of(r *member.Room) *Mailbox { return &Mailbox{Room: r} }

// own is the agent's own directory in the room.
func (m *Mailbox) own() fsroom.Agent { return m.Room.FS.Agent(m.Room.Self.ID) }

// questions are those of the room.
func (m *Mailbox) questions() *questions.Room { return questions.Of(m.Room) }

// onRoomClock returns a time of this machine on the clock by which the room is judged: that
// of the engine, if there is one.
func (m *Mailbox) onRoomClock(t time.Time) time.Time { return t.Add(m.Room.Skew()) }

// Debts returns how many questions the agent owes an answer, and how many of its own
// have answers that it was not shown.
func (m *Mailbox) Debts(st *turn.State) (owed, answers int64) {
	_, s, err := m.questions().Topic()
	if err != nil || len(s.Questions) == 0 {
		return 0, 0
	}
	at := m.Cursor(st)
	return int64(len(s.Debts(m.Room.Self.ID))), int64(len(s.NewAnswers(m.Room.Self.ID, &at.Seen)))
}

// Notes returns the notes of the room that q selects.
func (m *Mailbox) Notes(ctx context.Context, st *turn.State, q talk.NoteQuery) ([]talk.NoteView, error) {
	after := int64(0)
	if !q.All && q.After == "" { // the open ones are in the state, but for their texts
		after = st.Seq
		for i := range st.Notes {
			after = min(after, st.Notes[i].Seq-1)
		}
	}
	h, err := m.noteHistory(ctx, after)
	if err != nil {
		return nil, err
	}
	return h.List(st.Notes, q)
}

// PastNotes returns all notes of the room's life, none if they cannot be read.
func (m *Mailbox) PastNotes(ctx context.Context, st *turn.State) []talk.NoteView {
	if h, err := m.noteHistory(ctx, 0); err == nil {
		return h.All(st.Notes)
	}
	return nil
}

func (m *Mailbox) noteHistory(ctx context.Context, after int64) (h talk.NoteHistory, err error) {
	err = m.Room.EachEvent(ctx, after, false, func(e *event.Event) error { h.Add(e); return nil })
	return h, err
}

// LeftOpen is what is open in a room when it ends.
type LeftOpen struct {
	Notes     int64 `json:"notes"`
	Questions int64 `json:"questions"`
}

// LeftOpen counts what is open in the room now.
func (m *Mailbox) LeftOpen() (open LeftOpen) {
	if snap, err := m.Room.FS.View(); err == nil {
		open.Notes = int64(len(snap.State.Notes))
	}
	if _, s, err := m.questions().Topic(); err == nil {
		open.Questions = int64(len(s.All()))
	}
	return open
}

// Await implements [member.News].
func (m *Mailbox) Await(ctx context.Context, inspect fsroom.Inspect[*turn.State]) error {
	return m.Room.FS.AwaitBoth(ctx, m.Room.Self.ID, func() fsroom.Neighbour {
		if t := questions.OfRoom(m.Room.Client.Store, m.Room.FS.Name()); t.Exists() {
			return t
		}
		return nil
	}, inspect)
}

// gatherTime is how long a wait that has something to tell waits for more: what comes
// together is told at once.
const gatherTime = 300 * time.Millisecond

// Look implements [member.News].
func (m *Mailbox) Look(ctx context.Context, st *turn.State) (member.Found, error) {
	u := m.Unread(st)
	if u.Notes > 0 {
		at := m.Cursor(st)
		notes, fresh := talk.NotesFor(st.Notes, m.Room.Self.ID, &at.Seen)
		if !slices.ContainsFunc(notes[:fresh], func(n talk.Note) bool { return n.Target == m.Room.Self.ID }) {
			u.Notes = 0 // notes for everybody come with the turn
		}
	}
	if u == (talk.Unread{}) {
		m.found = time.Time{}
		return member.Found{}, nil
	}
	in, err := m.Inbox(ctx)
	if err != nil || !in.IsNew() {
		return member.Found{}, err
	}
	in.RoomID, in.CanonicalPath, in.Turn = "", "", InboxTurn{} // which the answer to the wait has
	if m.found.IsZero() {
		m.found = time.Now()
	}
	return member.Found{
		News: in, Shown: func() { m.InboxShown(context.Background(), in) }, More: max(0, gatherTime-time.Since(m.found)),
	}, nil
}

// AwaitInbox waits until something has come for the agent that it was not shown, or until
// ctx ends. It returns the inbox as it is then. It takes no turn.
func (m *Mailbox) AwaitInbox(ctx context.Context) (in *Inbox, err error) {
	if err := m.own().EnsureWakeFile(); err != nil {
		return nil, err
	}
	look := context.WithoutCancel(ctx)
	var exits member.ExitWatcher
	defer exits.Close()
	err = m.Await(ctx, func(snap *fsroom.Snapshot[*turn.State]) (bool, fsroom.Sleep, error) {
		exits.Watch(m.Room.SettleJobs(look))
		sleep := fsroom.Sleep{Exit: exits.C()}
		if st := snap.State; !st.Open || !m.Room.IsMember(st) || m.Unread(st) == (talk.Unread{}) {
			return !st.Open || !m.Room.IsMember(st), sleep, nil
		}
		var err error
		in, err = m.Inbox(look)
		return err != nil || in.IsNew(), sleep, err
	})
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	return m.Inbox(look)
}

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
	seen     talk.Seen  // of the recipient
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
			if talk.IsMail(e, row.To) && row.seen.Has(talk.KindMessage, e.Seq) {
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
		Preview: talk.Preview(talk.Of(message).Text)}
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
	if at.Has(talk.KindMessage, message.Seq) {
		row.State, row.ShownAt, row.seen = ShownTo, at.Shown.At, at.Seen
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
			GoneAt: view.GoneAt, Why: view.Why, Unread: m.mail(st, view.AgentID, m.CursorOf(st, view.AgentID)).Messages}
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
