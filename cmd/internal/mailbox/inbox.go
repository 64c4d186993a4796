package mailbox

import (
	"context"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// An Inbox is what there is for an agent in a room.
type Inbox struct {
	AgentID, RoomID, CanonicalPath string

	Turn      InboxTurn
	Questions []questions.Question // that it owes an answer
	Answers   []InboxAnswer        // to its questions, not shown to it yet
	Messages  []event.Event        // not shown to it yet
	Notes     []turn.NoteView      // open ones for it
	Counts    InboxCounts
	Next      string // what to do now

	shown    Cursor           // the cursor when all of this was shown
	isNew    bool             // there is something that was not shown yet
	topic    *questions.Topic // nil: without questions
	answered []string         // the agent's questions whose answers are shown
}

// An InboxTurn is how the turn stands for the agent.
type InboxTurn struct {
	State       string
	TurnID      int64
	ForYou      bool // it holds the turn, or may take it before others
	Owner       string
	ReservedFor string

	LeaseExpiresAt, ClaimExpiresAt *event.Time
}

// An InboxAnswer is an answer to a question of the agent.
type InboxAnswer struct {
	QuestionID string
	Question   string // its text
	topic.Answer
}

// InboxCounts are how many there are of each kind. There may be more than the inbox shows.
type InboxCounts struct{ Questions, Answers, Messages, Notes int64 }

// mostInbox is how many of each kind an inbox shows at most, the oldest of those that were
// not shown yet. The others are shown next time.
const mostInbox = 50

// Inbox returns what there is for the agent.
func (m *Mailbox) Inbox(ctx context.Context, st *turn.State) (*Inbox, error) {
	f := m.Facts(st)
	v := st.Room(f)
	in := &Inbox{AgentID: m.Self.ID, RoomID: st.RoomID, CanonicalPath: st.CanonicalPath, Messages: []event.Event{}, Answers: []InboxAnswer{}}
	in.Turn = InboxTurn{
		State: v.State, TurnID: v.TurnID, Owner: v.Owner, ReservedFor: v.ReservedFor, LeaseExpiresAt: v.LeaseExpiresAt, ClaimExpiresAt: v.ClaimExpiresAt,
		ForYou: m.IsMember(st) && (v.Owner == m.Self.ID || v.ReservedFor == m.Self.ID || st.Pending.Preferred == m.Self.ID),
	}
	var at Cursor
	if m.IsMember(st) {
		at = m.Cursor(st)
	}
	in.shown = at
	if err := in.addQuestions(ctx, m, st, at); err != nil {
		return nil, err
	}
	if m.IsMember(st) {
		if err := in.addMessages(ctx, m, st); err != nil {
			return nil, err
		}
		if err := in.addNotes(ctx, m, st, at); err != nil {
			return nil, err
		}
	}
	in.Next = in.next()
	return in, nil
}

// IsNew reports whether there is something that was not shown to the agent yet.
func (in *Inbox) IsNew() bool { return in.isNew }

// IsEmpty reports whether there is nothing for the agent.
func (in *Inbox) IsEmpty() bool { return in.Counts == InboxCounts{} && !in.Turn.ForYou }

// addQuestions adds the questions that the agent owes an answer, and the answers to its
// own.
func (in *Inbox) addQuestions(ctx context.Context, m *Mailbox, st *turn.State, at Cursor) error {
	t, s, err := m.questions().Topic()
	if err != nil {
		return err
	}
	seen := at.TopicSeen(t.Name())
	owed := s.Debts(m.Self.ID)
	news := s.NewsFor(m.Self.ID, seen, m.questions().Absent(st))
	in.Counts.Questions, in.Counts.Answers = int64(len(owed)), news.Answers
	in.isNew = news != topic.News{}
	in.topic, in.shown.TopicID, in.shown.TopicSeq = t, t.Name(), max(seen, s.Seq)
	owed, left := debtsShown(owed, seen)
	if left != nil {
		in.shown.TopicSeq = left.Seq - 1
	}
	if in.Questions, err = m.questions().Views(ctx, st, t, owed); err != nil || news.Answers == 0 {
		return err
	}
	lookup, done, err := questions.OpenLookup(ctx, t)
	if err != nil {
		return err
	}
	defer done()
	for _, q := range s.Own(m.Self.ID) {
		refs := q.NewAnswers(seen)
		if len(refs) == 0 {
			continue
		}
		text, _, err := lookup.Question(q)
		if err != nil {
			return err
		}
		for _, ref := range refs {
			a, err := lookup.Answer(ref)
			if err != nil {
				return err
			}
			in.Answers = append(in.Answers, InboxAnswer{q.ID, text, a})
		}
		in.answered = append(in.answered, q.ID)
	}
	return nil
}

// debtsShown returns the questions that an inbox shows, oldest first: of those up to the
// event seen only as many as there is place for. left is the first one after that event
// which is left out.
func debtsShown(owed []*topic.Question, seen int64) (shown []*topic.Question, left *topic.Question) {
	unseen := len(owed)
	for unseen > 0 && owed[len(owed)-unseen].Seq <= seen {
		unseen--
	}
	old, fresh := owed[:len(owed)-unseen], owed[len(owed)-unseen:]
	if unseen > mostInbox {
		fresh, left = fresh[:mostInbox], fresh[mostInbox]
	}
	return slices.Concat(old[:min(len(old), mostInbox-len(fresh))], fresh), left
}

// addMessages adds the messages that the agent was not shown.
func (in *Inbox) addMessages(ctx context.Context, m *Mailbox, st *turn.State) error {
	in.Counts.Messages = max(0, st.Mail(m.Self.ID)-in.shown.Read)
	if in.Counts.Messages == 0 {
		in.shown.EventSeq = max(in.shown.EventSeq, st.Seq)
		return nil
	}
	in.isNew = true
	after, err := m.ReadUpTo(ctx, st)
	if err != nil {
		return err
	}
	read, err := m.ReadCursor(ctx, st, after)
	if err != nil {
		return err
	}
	err = m.EachEvent(ctx, after, false, func(e *event.Event) error {
		mail := turn.IsMail(e, m.Self.ID)
		if e.Seq > st.Seq || mail && len(in.Messages) == mostInbox {
			return member.ErrEnough
		}
		if read.Pass(e, mail); mail {
			in.Messages = append(in.Messages, turn.Public(e.Clone()))
		}
		return nil
	})
	in.shown.EventSeq, in.shown.Read = read.at.EventSeq, read.at.Read
	return err
}

// addNotes adds the open notes for the agent.
func (in *Inbox) addNotes(ctx context.Context, m *Mailbox, st *turn.State, at Cursor) error {
	in.Notes = []turn.NoteView{}
	in.Counts.Notes = st.UnreadNotes(m.Self.ID, 0)
	if in.Counts.Notes == 0 {
		return nil
	}
	in.isNew = in.isNew || st.UnreadNotes(m.Self.ID, at.NotesSeq) > 0
	reader, err := m.Reader()
	if err != nil {
		return err
	}
	defer reader.Close()
	shown := make(map[int64]bool)
	in.Notes, err = st.NotesFor(m.Self.ID, at.NotesSeq, mostInbox, func(seq int64) (*event.Event, error) { return reader.Event(ctx, seq) })
	for i := range in.Notes {
		shown[in.Notes[i].Seq] = true
	}
	in.shown.NotesSeq = st.NotesSeen(m.Self.ID, at.NotesSeq, func(seq int64) bool { return shown[seq] })
	return err
}

// next returns what the agent should do now.
func (in *Inbox) next() string {
	switch {
	case in.Turn.State == turn.StateClosed:
		return "nothing: the room has ended"
	case len(in.Questions) > 0:
		return "tt answer " + in.Questions[0].ID + ` "…"`
	case in.Turn.Owner == in.AgentID && in.Turn.ForYou:
		return "work; then tt release with a handoff"
	case in.Turn.ForYou:
		return "tt wait: the turn is yours"
	}
	return "tt wait --inbox"
}

// InboxShown records that the inbox was shown to the agent, and marks the agent's
// questions as answered whose answers were.
func (m *Mailbox) InboxShown(ctx context.Context, st *turn.State, in *Inbox) {
	if m.questions().MarkShown(ctx, in.topic, in.answered) != nil { // they are shown again, and marked then
		in.shown.TopicID, in.shown.TopicSeq = "", 0
	}
	if m.IsMember(st) && in.isNew {
		m.show(in.shown)
	}
}

// Fields implements [wire.Fields].
func (in *Inbox) Fields(c *wire.Codec) {
	c.Text("agent_id", &in.AgentID)
	c.Text("room_id", &in.RoomID)
	c.Text("canonical_path", &in.CanonicalPath)
	c.Object("turn", &in.Turn)
	wire.List(c, "questions", &in.Questions)
	wire.List(c, "answers", &in.Answers)
	wire.List(c, "messages", &in.Messages)
	wire.List(c, "notes", &in.Notes)
	c.Object("counts", &in.Counts)
	c.Text("next_action", &in.Next)
}

// Fields implements [wire.Fields].
func (t *InboxTurn) Fields(c *wire.Codec) {
	c.Text("state", &t.State)
	c.Bool("for_you", &t.ForYou)
	c.Int("turn_id", &t.TurnID)
	c.OptText("owner", &t.Owner)
	c.OptText("reserved_for", &t.ReservedFor)
	if t.LeaseExpiresAt != nil {
		c.Time("lease_expires_at", t.LeaseExpiresAt)
	}
	if t.ClaimExpiresAt != nil {
		c.Time("claim_expires_at", t.ClaimExpiresAt)
	}
}

// Fields implements [wire.Fields].
func (a *InboxAnswer) Fields(c *wire.Codec) {
	c.Text("question_id", &a.QuestionID)
	c.Text("question", &a.Question)
	a.Answer.Fields(c)
}

// Fields implements [wire.Fields].
func (n *InboxCounts) Fields(c *wire.Codec) {
	c.Int("questions", &n.Questions)
	c.Int("answers", &n.Answers)
	c.Int("messages", &n.Messages)
	c.Int("notes", &n.Notes)
}

// List returns the answer as a list.
func (a *InboxAnswer) List() []topic.Answer { return []topic.Answer{a.Answer} }
