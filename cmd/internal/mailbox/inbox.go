package mailbox

import (
	"context"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
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

	state    *turn.State
	settled  bool   // nothing of this can be undone
	within   bool   // this is part of the answer to a wait
	shown    Cursor // the cursor when all of this was shown
	topic    *questions.Topic
	answered []string // the agent's questions whose answers are shown
}

// MarshalJSON returns the inbox as commands print it.
func (in *Inbox) MarshalJSON() ([]byte, error) { return wire.Append(nil, in), nil }

// An InboxTurn is how the turn stands for the agent.
type InboxTurn struct {
	State       string `json:"state"`
	ForYou      bool   `json:"for_you"` // it holds the turn, or may take it before others
	TurnID      int64  `json:"turn_id"`
	Owner       string `json:"owner,omitempty"`
	ReservedFor string `json:"reserved_for,omitempty"`

	LeaseExpiresAt *event.Time `json:"lease_expires_at,omitzero"`
	ClaimExpiresAt *event.Time `json:"claim_expires_at,omitzero"`
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
	if !n.Member || n.state.Owner == "" || n.state.Owner == n.Mailbox.Room.Self.ID {
		return nil
	}
	f := n.Mailbox.Room.Facts(n.state)
	for _, need := range needs(n.state, []turn.MemberView{{AgentID: n.state.Owner, Activity: f.Activity(n.state.Owner)}}) {
		return &need
	}
	return nil
}

// needs returns what the members need.
func needs(st *turn.State, views []turn.MemberView) []Need {
	list := []Need{}
	for _, v := range views {
		what := map[string]string{turn.ActivityAsks: "permission", turn.ActivityLimited: "limit", turn.ActivityIdle: "idle"}[v.Activity.What]
		if what == "" || what == "idle" && v.AgentID != st.Owner {
			continue
		}
		list = append(list, Need{v.AgentID, st.RoomID, st.CanonicalPath, what, v.Activity.Since, v.Activity.Detail})
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
	turn.NoteView
	Shown bool // it was shown before
}

// An InboxAnswer is an answer to a question of the agent.
type InboxAnswer struct {
	QuestionID string
	Question   string // its text
	topic.Answer
}

// List returns the answer as a list.
func (a *InboxAnswer) List() []topic.Answer { return []topic.Answer{a.Answer} }

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
		AgentID: m.Room.Self.ID, RoomID: st.RoomID, CanonicalPath: st.CanonicalPath, state: st, settled: settled,
		Messages: []event.Event{}, Answers: []InboxAnswer{}, Notes: []InboxNote{}, Questions: []InboxQuestion{}, Asked: []questions.Question{},
		Jobs: []JobEnd{},
	}
	in.Turn = InboxTurn{
		State: v.State, TurnID: v.TurnID, Owner: v.Owner, ReservedFor: v.ReservedFor, LeaseExpiresAt: v.LeaseExpiresAt,
		ClaimExpiresAt: v.ClaimExpiresAt,
		ForYou:         isMember && (v.Owner == m.Room.Self.ID || v.ReservedFor == m.Room.Self.ID || st.Pending.Preferred == m.Room.Self.ID),
	}
	if m.Room.IsHuman() {
		in.Needs = needs(st, st.MemberViews(f))
	}
	if isMember {
		in.shown = m.Cursor(st)
	}
	asked, err := in.addQuestions(ctx, m)
	if err == nil {
		err = in.addAsked(ctx, m, asked)
	}
	for _, add := range []func(context.Context, *Mailbox) error{in.addMessages, in.addNotes, in.addJobs} {
		if err == nil && isMember {
			err = add(ctx, m)
		}
	}
	if err != nil {
		return nil, err
	}
	in.Next = in.next()
	return in, nil
}

// State returns the room in which the inbox was found.
func (in *Inbox) State() *turn.State { return in.state }

// IsNew reports whether there is something that was not shown to the agent yet.
func (in *Inbox) IsNew() bool { return in.Counts != Counts{} }

// IsEmpty reports whether there is nothing for the agent.
func (in *Inbox) IsEmpty() bool {
	return len(in.Questions)+len(in.Answers)+len(in.Messages)+len(in.Notes)+len(in.Asked)+len(in.Jobs)+len(in.Needs) == 0 &&
		!in.IsNew() && !in.Turn.ForYou
}

// Left returns how much of what is new has no place here, and is shown next time.
func (in *Inbox) Left() int64 {
	left := in.Counts.Messages + in.Counts.Notes + in.Counts.Pages + in.Counts.Questions +
		in.Counts.Jobs - int64(len(in.Messages)+len(in.Jobs))
	for i := range in.Notes {
		if !in.Notes[i].Shown {
			left--
		}
	}
	for i := range in.Questions {
		if !in.Questions[i].Shown && in.Questions[i].FromState != questions.Gone {
			left--
		}
	}
	return max(0, left)
}

// addQuestions adds the questions that the agent owes an answer, and the answers to its
// own. It returns the topic that has them.
func (in *Inbox) addQuestions(ctx context.Context, m *Mailbox) (*topic.State, error) {
	q := m.questions()
	t, s, settled, err := q.SettledTopic(ctx)
	if err != nil {
		return nil, err
	}
	seen := in.shown.TopicSeen(t.Name())
	news := s.NewsFor(m.Room.Self.ID, seen, q.Absent(in.state))
	in.Counts.Questions, in.Counts.Answers = news.Questions, news.Answers
	in.settled = in.settled && settled
	in.topic, in.shown.TopicID = t, t.Name()
	in.shown.TopicSeq, in.shown.AnswersSeq = max(seen.Questions, s.Seq), max(seen.Answers, s.Seq)
	owed, left := debtsShown(s.Debts(m.Room.Self.ID), seen.Questions)
	if left != nil {
		in.shown.TopicSeq = left.Seq - 1
	}
	views, err := q.Views(ctx, in.state, t, owed)
	if err != nil {
		return nil, err
	}
	for _, v := range views {
		in.Questions = append(in.Questions, InboxQuestion{v, v.Seq <= seen.Questions})
	}
	if news.Answers > 0 {
		in.Answers, in.answered, _, err = newAnswers(ctx, t, s, m.Room.Self.ID, seen.Answers, time.Time{})
	}
	return s, err
}

// addAsked adds the open questions of the agent's own but those whose answers are shown.
func (in *Inbox) addAsked(ctx context.Context, m *Mailbox, s *topic.State) (err error) {
	own := slices.DeleteFunc(s.Own(m.Room.Self.ID), func(q *topic.Question) bool { return slices.Contains(in.answered, q.ID) })
	in.Asked, err = m.questions().Views(ctx, in.state, in.topic, own[:min(len(own), mostInbox)])
	for i := range in.Asked {
		in.Asked[i].Text = turn.Preview(in.Asked[i].Text)
	}
	return err
}

// newAnswers returns the answers to the open questions of the agent after an event of their
// topic, and the ids of these questions. recent reports whether one of them was asked since
// a moment.
func newAnswers(ctx context.Context, t *questions.Topic, s *topic.State, agent string, seen int64,
	since time.Time) (answers []InboxAnswer, ids []string, recent bool, err error) {
	lookup, done, err := questions.OpenLookup(ctx, t)
	if err != nil {
		return nil, nil, false, err
	}
	defer done()
	for _, q := range s.Own(agent) {
		refs := q.NewAnswers(seen)
		if len(refs) == 0 {
			continue
		}
		text, asked, err := lookup.Question(q)
		if err != nil {
			return nil, nil, false, err
		}
		recent = recent || !asked.Before(since)
		for _, ref := range refs {
			a, err := lookup.Answer(ref)
			if err != nil {
				return nil, nil, false, err
			}
			answers = append(answers, InboxAnswer{q.ID, text, a})
		}
		ids = append(ids, q.ID)
	}
	return answers, ids, recent, nil
}

// debtsShown returns the questions that an inbox shows: first those after the event seen,
// then as many of the others as there is place for. left is the first one after that event
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
	return slices.Concat(fresh, old[:min(len(old), mostInbox-len(fresh))]), left
}

// addMessages adds the messages that the agent was not shown.
func (in *Inbox) addMessages(ctx context.Context, m *Mailbox) error {
	st := in.state
	in.Counts.Messages = max(0, st.Mail(m.Room.Self.ID)-in.shown.Read)
	if in.Counts.Messages == 0 {
		in.shown.EventSeq = max(in.shown.EventSeq, st.Seq)
		return nil
	}
	read, err := m.ReadCursor(ctx, st, 0)
	if err != nil {
		return err
	}
	err = m.Room.EachEvent(ctx, read.at.EventSeq, false, func(e *event.Event) error {
		mail := turn.IsMail(e, m.Room.Self.ID)
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
func (in *Inbox) addNotes(ctx context.Context, m *Mailbox) error {
	seen := in.shown.Notes()
	notes, fresh := in.state.NotesFor(m.Room.Self.ID, seen)
	if len(notes) == 0 {
		return nil
	}
	in.Counts.Notes, in.Counts.Pages = in.state.UnreadNotes(m.Room.Self.ID, seen)
	at, done, err := m.Room.FS.Lookup(ctx)
	if err != nil {
		return err
	}
	defer done()
	for i, n := range notes[:min(len(notes), mostInbox)] {
		body, err := turn.NoteBody(&n, at)
		if err != nil {
			return err
		}
		in.Notes = append(in.Notes, InboxNote{turn.NoteView{Note: n, Body: body}, i >= fresh})
	}
	seen = in.state.NotesSeen(m.Room.Self.ID, seen, func(n *turn.Note) bool {
		return slices.ContainsFunc(in.Notes, func(shown InboxNote) bool { return shown.Seq == n.Seq })
	})
	in.shown.NotesSeq, in.shown.PagesSeq = seen.Notes, seen.Pages
	return nil
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

// InboxShown records that the inbox was shown to the agent, and marks the agent's questions
// as answered whose answers were. What may still be undone is shown again.
func (m *Mailbox) InboxShown(ctx context.Context, in *Inbox) {
	if !in.settled {
		return
	}
	if m.questions().MarkShown(ctx, in.topic, in.answered) != nil { // they are shown again, and marked then
		in.shown.TopicID, in.shown.TopicSeq, in.shown.AnswersSeq = "", 0, 0
	}
	if m.Room.IsMember(in.state) && (in.IsNew() || in.shownQuestions()) {
		m.show(in.shown)
	}
}

// shownQuestions reports whether there is a question that was not shown before. One of an
// agent that has gone is no news, and is shown all the same.
func (in *Inbox) shownQuestions() bool {
	return slices.ContainsFunc(in.Questions, func(q InboxQuestion) bool { return !q.Shown })
}
