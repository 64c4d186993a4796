package mailbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// An Inbox is what there is for an agent in a room.
type Inbox struct {
	AgentID       string               `json:"agent_id"`
	RoomID        string               `json:"room_id,omitempty"`
	CanonicalPath string               `json:"canonical_path,omitempty"`
	Turn          InboxTurn            `json:"turn,omitzero"`
	Questions     []InboxQuestion      `json:"questions"`      // that it owes an answer, the new ones first
	Answers       []InboxAnswer        `json:"answers"`        // to its questions, not shown to it yet
	Messages      []event.Event        `json:"messages"`       // not shown to it yet
	Notes         []InboxNote          `json:"notes"`          // open ones for it, the new ones first
	Jobs          []JobEnd             `json:"jobs"`           // of its own, not shown to it yet
	Asked         []questions.Question `json:"asked"`          // open ones of its own, with the beginning of their texts
	Needs         []Need               `json:"needs,omitzero"` // of a person: what agents wait for
	Counts        Counts               `json:"counts"`         // what was not shown to it before this
	Next          string               `json:"next_action"`    // what to do now

	Problem string `json:"problem,omitempty"` // why it has no questions, if they are damaged
	In      string `json:"-"`                 // see [member.In]
	Left    int    `json:"-"`                 // how much of what is new has no place here, and is shown next time

	state    *turn.State
	settled  bool        // nothing of this can be undone
	most     int         // of each kind, see [mostInbox]
	at       Cursor      // as it was
	words    []talk.Word // what of it was not shown to the agent
	lastMail int64       // see [turn.Member]
	topic    *questions.Topic
}

// An InboxTurn is how the turn stands for the agent.
type InboxTurn struct {
	turn.Position        // without what is wrong with the holder
	ForYou        bool   `json:"for_you"`              // it holds the turn, or may take it before others
	OfferedTo     string `json:"offered_to,omitempty"` // the only member that may claim the free turn for now
}

// A Need is what keeps an agent from working until a person does something.
type Need struct {
	AgentID       string `json:"agent_id"`
	RoomID        string `json:"room_id"`
	CanonicalPath string `json:"canonical_path"`

	What   string     `json:"what"` // permission, limit, or of the holder of the turn idle
	Since  event.Time `json:"since"`
	Detail string     `json:"detail,omitempty"`
}

// Words say what the agent needs.
func (n *Need) Words() string {
	return map[string]string{"permission": "waits for your permission", "limit": "is limited", "idle": "is idle and holds the turn"}[n.What]
}

// HolderNeed returns what the holder of the turn needs, nil if it needs nothing.
func (n *RoomNews) HolderNeed() *Need {
	if !n.Member || n.in.state.Owner == "" || n.in.state.Owner == n.Mailbox.Room.Self.ID {
		return nil
	}
	f := n.Mailbox.Room.Facts(n.in.state)
	for _, need := range needs(n.in.state, n.Path, []turn.MemberView{{AgentID: n.in.state.Owner, Activity: f.Activity(n.in.state.Owner)}}) {
		return &need
	}
	return nil
}

// needs returns what the members of a room in a directory need.
func needs(st *turn.State, path string, views []turn.MemberView) []Need {
	list := []Need{}
	for _, v := range views {
		what := map[string]string{turn.ActivityAsks: "permission", turn.ActivityLimited: "limit", turn.ActivityIdle: "idle"}[v.Activity.What]
		if what == "" || what == "idle" && v.AgentID != st.Owner {
			continue
		}
		list = append(list, Need{v.AgentID, st.RoomID, path, what, v.Activity.Since, v.Activity.Detail})
	}
	return list
}

// An InboxQuestion is a question that the agent owes an answer.
type InboxQuestion struct {
	questions.Question
	Shown bool // it was shown before
}

// An InboxNote is an open note for the agent.
type InboxNote struct {
	talk.NoteView
	Shown bool // it was shown before
}

// An InboxAnswer is an answer to a question of the agent.
type InboxAnswer struct {
	QuestionID string `json:"question_id"`
	Question   string `json:"question"` // its text
	topic.ShownAnswer
}

// mostInbox is how many of each kind an inbox shows at most: the first of those that were
// not shown yet, and others as far as there is place. The rest is shown next time.
const mostInbox = 50

// Inbox returns what there is for the agent now.
func (m *Mailbox) Inbox(ctx context.Context) (*Inbox, error) {
	snap, settled, err := m.Room.FS.SettledView(ctx)
	if err != nil {
		return nil, err
	}
	st := snap.State
	f := m.Room.Facts(st)
	v := st.Room(f)
	isMember := m.Room.IsMember(st)
	in := &Inbox{
		AgentID: m.Room.Self.ID, RoomID: st.RoomID, CanonicalPath: v.CanonicalPath, state: st, settled: settled, most: mostInbox,
		Messages: []event.Event{}, Answers: []InboxAnswer{}, Notes: []InboxNote{}, Questions: []InboxQuestion{}, Asked: []questions.Question{},
	}
	in.Turn = InboxTurn{Position: v.Position, OfferedTo: v.OfferedTo, ForYou: isMember && (v.Owner == m.Room.Self.ID && f.Window == 0 ||
		slices.Contains([]string{v.ReservedFor, st.Pending.Preferred}, m.Room.Self.ID))}
	in.Turn.Trouble = nil
	if m.Room.IsHuman() {
		in.Needs = needs(st, v.CanonicalPath, st.MemberViews(f))
	}
	in.at, in.In = m.Cursor(st), m.Room.In(m.Room.Client.Dir, m.Room.Path(st))
	asked, err := in.fill(ctx, m)
	if err == nil {
		err = in.spoiled(in.addAsked(ctx, m, asked))
	}
	if err != nil {
		return nil, err
	}
	in.Next = member.Next(in.next(m.Room.ActsFor(st)), in.In)
	return in, nil
}

// IsNew reports whether there is something that was not shown to the agent yet.
func (in *Inbox) IsNew() bool { return in.Counts != Counts{} }

// IsEmpty reports whether there is nothing for the agent.
func (in *Inbox) IsEmpty() bool {
	return len(in.Questions)+len(in.Answers)+len(in.Messages)+len(in.Notes)+len(in.Asked)+len(in.Jobs)+len(in.Needs) == 0 &&
		!in.IsNew() && !in.Turn.ForYou && in.Problem == ""
}

// addAsked adds the open questions of the agent's own but those whose answers are shown.
func (in *Inbox) addAsked(ctx context.Context, m *Mailbox, s *topic.State) (err error) {
	own := slices.DeleteFunc(s.Own(m.Room.Self.ID), func(q *topic.Question) bool { return slices.Contains(in.answered(), q.ID) })
	in.Asked, err = m.questions().Views(ctx, in.state, in.topic, own[:min(len(own), mostInbox)])
	for i := range in.Asked {
		in.Asked[i].Text = talk.Preview(in.Asked[i].Text)
	}
	return err
}

// next returns what the agent should do now. See [member.Room.ActsFor].
func (in *Inbox) next(actsFor string) string {
	switch {
	case in.Turn.State == turn.StateClosed:
		return "nothing: the room has ended"
	case len(in.Questions) > 0:
		return "tt answer " + in.Questions[0].ID + ` "…"`
	case in.Turn.Owner == in.AgentID && in.Turn.ForYou:
		return "work; then tt release with a handoff"
	case in.Turn.ForYou:
		return "tt wait: the turn is yours"
	case in.Left > 0:
		return "tt inbox: there is more"
	case actsFor != "":
		return member.WorkFor(actsFor)
	}
	return "tt wait --inbox"
}

// InboxShown records that the inbox was shown to the agent, and marks the agent's questions
// as answered whose answers were. What may still be undone is shown again.
func (m *Mailbox) InboxShown(ctx context.Context, in *Inbox) {
	if in.settled {
		_ = m.shown(ctx, in, func(*talk.Word) bool { return true })
	}
}

// Counts are those of what was not shown to the agent, by kind.
type Counts struct {
	Messages  int64 `json:"messages"`
	Notes     int64 `json:"notes"`
	Pages     int64 `json:"pages"`
	Questions int64 `json:"questions"`
	Answers   int64 `json:"answers"`
	Jobs      int64 `json:"jobs"`
}

// Shape implements [wire.Shaped]. What all questions of a list have in common, that they
// are open and owed by the agent, is left out.
func (q *InboxQuestion) Shape() any {
	if q.Shown {
		return &shown{Question: q.ID, From: q.From, Text: talk.Preview(q.Text)}
	}
	return &struct {
		ID        string     `json:"question_id"`
		From      string     `json:"from_agent_id"`
		FromState string     `json:"from_state,omitempty"`
		To        string     `json:"to_agent_id,omitempty"`
		AskedAt   event.Time `json:"asked_at,omitzero"`
		Text      string     `json:"question"`
	}{q.ID, q.From, q.FromState, q.To, q.AskedAt, q.Text}
}

// Shape implements [wire.Shaped].
func (n *InboxNote) Shape() any {
	if n.Shown {
		return &shown{Note: n.ID, From: n.Author, Text: talk.Preview(n.Body)}
	}
	return &n.NoteView
}

// A shown is something that was shown before: what it is, who wrote it, and its first words.
type shown struct {
	Question string `json:"question_id,omitempty"`
	Note     string `json:"note_id,omitempty"`
	From     string `json:"from_agent_id"`
	Text     string `json:"text"`
}

// An unreadAnswer is an answer in the refusal of [Mailbox.CheckAnswers].
type unreadAnswer struct {
	QuestionID string `json:"question_id"`
	Question   string `json:"question"`
	Answer     string `json:"answer"`
	From       string `json:"from_agent_id"`
}

// CheckAnswers refuses, once, to end a turn of the agent in which it asked a question whose
// answer it was not shown: its handoff would say that there is none. The refusal has the
// answers, which count as shown by that. What cannot be read refuses nothing.
func (m *Mailbox) CheckAnswers(ctx context.Context, st *turn.State) error {
	if st.Owner != m.Room.Self.ID || m.Unread(st).Answers == 0 {
		return nil
	}
	in := &Inbox{state: st, settled: true, most: mostInbox, at: m.Cursor(st)}
	s, err := in.fill(ctx, m)
	if err != nil || !in.settled || !slices.ContainsFunc(in.answered(), func(id string) bool {
		q := s.Question(id)
		return q.AskedAt != nil && !q.AskedAt.Before(st.Grant.At.Wall.Time)
	}) {
		return nil
	}
	var list []unreadAnswer
	var words []string
	for _, a := range in.Answers {
		words = append(words, fmt.Sprintf("%s answers %s (%s): %s", a.AnsweredBy, a.QuestionID, talk.Preview(a.Question), a.Markdown))
		list = append(list, unreadAnswer{a.QuestionID, a.Question, a.Markdown, a.AnsweredBy})
	}
	_ = m.shown(ctx, in, func(w *talk.Word) bool { return w.Kind == talk.KindAnswer })
	return code.New(code.UnreadAnswers, "you have not seen what was answered to your questions: %s", strings.Join(words, "; ")).
		WithHint("mend the handoff if an answer changes it, and run the command again: it goes through").With("answers", list)
}
