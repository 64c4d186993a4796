package member

import (
	"context"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// What is known of who asked a question, or is to answer it.
const (
	Here    = "here"
	Waiting = "waiting" // for the turn
	Stopped = "stopped" // its process is suspended
	Gone    = "gone"    // its process has ended
	Left    = "left"    // it is no member
)

// A Question is a question of the room as commands show it.
type Question struct {
	ID        string
	From      string
	FromState string // see [Here]
	To        string // an agent, [topic.ToHuman], or "" for anybody
	ToState   string // of an agent that it is for
	AskedAt   event.Time
	Status    string // open, answered, cancelled
	Reason    string // why it was cancelled
	Answers   int
	Text      string
	Yours     bool // the caller asked it
	Owed      bool // the caller owes the answer
	seq       int64
}

// openStatus is the status of a pending question.
const openStatus = "open"

// questions returns the topic with the room's questions, and its state. Without a topic
// that is an empty one.
func (r *Room) questions() (*topics.Room, *topic.State, error) {
	t, _ := topics.OfRoom(r.Client.Store, r.Name())
	if !t.Exists() {
		return t, topic.New(t.Name()), nil
	}
	snap, err := t.View()
	if err != nil {
		return t, nil, err
	}
	return t, snap.State, nil
}

// standing returns what is known of an agent.
func (r *Room) standing(st *turn.State, f turn.Facts, t *topics.Room, id string) string {
	m := st.Member(id)
	switch {
	case m == nil && t.Agent(id).Held(topics.JoinedMark): // an agent of the bus
		return Here
	case m == nil:
		return Left
	case f.Gone(st, m):
		return Gone
	case r.IsWaiting(id):
		return Waiting
	case id != r.Self.ID && r.Sight(st, id).Stopped:
		return Stopped
	}
	return Here
}

// absent returns a function that reports whether the process of an asker has ended.
func (r *Room) absent(st *turn.State) func(id string) bool {
	var f *turn.Facts
	return func(id string) bool {
		m := st.Member(id)
		if m == nil {
			return false
		}
		if f == nil {
			facts := r.Facts(st)
			f = &facts
		}
		return f.Gone(st, m)
	}
}

// topicSeen returns the event of the topic up to which everything was shown.
func (c *Cursor) topicSeen(id string) int64 {
	if c.TopicID != id {
		return 0
	}
	return c.TopicSeq
}

// Debts returns how many questions the agent owes an answer, and how many of its own
// have answers that it was not shown.
func (r *Room) Debts(st *turn.State) (owed, answers int64) {
	t, s, err := r.questions()
	if err != nil || len(s.Questions) == 0 {
		return 0, 0
	}
	var at Cursor
	if r.IsMember(st) {
		at = r.Cursor(st)
	}
	n := s.NewsFor(r.Self.ID, at.topicSeen(t.Name()), func(string) bool { return true })
	return int64(len(s.Debts(r.Self.ID))), n.Answers
}

// A QuestionQuery selects open questions.
type QuestionQuery struct {
	Mine, Owed, All bool // asked by the agent; owed by it; all; none of these: the first two
}

// Questions returns the open questions that q selects, oldest first.
func (r *Room) Questions(ctx context.Context, st *turn.State, query QuestionQuery) ([]Question, error) {
	t, s, err := r.questions()
	if err != nil {
		return nil, err
	}
	me := r.Self.ID
	selected := slices.DeleteFunc(s.All(), func(q *topic.Question) bool {
		switch {
		case query.All:
			return false
		case query.Mine:
			return q.AskedBy != me
		case query.Owed:
			return !q.OwedBy(me)
		}
		return q.AskedBy != me && !q.OwedBy(me)
	})
	return r.questionViews(ctx, st, t, selected)
}

// questionViews returns the questions as commands show them.
func (r *Room) questionViews(ctx context.Context, st *turn.State, t *topics.Room, selected []*topic.Question) ([]Question, error) {
	list := []Question{}
	if len(selected) == 0 {
		return list, nil
	}
	lookup, done, err := topics.OpenLookup(ctx, t)
	if err != nil {
		return nil, err
	}
	defer done()
	f := r.Facts(st)
	for _, q := range selected {
		v, err := r.view(st, f, t, q, lookup)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (r *Room) view(st *turn.State, f turn.Facts, t *topics.Room, q *topic.Question, lookup topic.Lookup) (Question, error) {
	text, at, err := lookup.Question(q)
	v := Question{
		ID: q.ID, From: q.AskedBy, To: q.To, AskedAt: at, Status: q.Status, Reason: q.CancelReason, Answers: len(q.Answers), Text: text,
		Yours: q.AskedBy == r.Self.ID, Owed: q.OwedBy(r.Self.ID), FromState: r.standing(st, f, t, q.AskedBy), seq: q.Seq,
	}
	if q.Status == topic.Pending {
		v.Status = openStatus
	}
	if q.To != "" && q.To != topic.ToHuman {
		v.ToState = r.standing(st, f, t, q.To)
	}
	return v, err
}

// ShowQuestion returns a question with its answers, also one that is settled. shown is
// called when they were shown to the agent.
func (r *Room) ShowQuestion(ctx context.Context, st *turn.State, id string) (v Question, answers []topic.Answer, shown func(), err error) {
	t, n := topics.OfRoom(r.Client.Store, r.Name())
	for {
		if !t.Exists() {
			_, err := topic.New("").Named(id)
			return v, nil, nil, err
		}
		v, answers, err = r.showOn(ctx, st, t, id)
		if code.Of(err) != code.UnknownTarget || n == 0 {
			break
		}
		n--
		t = topics.At(r.Client.Store, r.Name(), n)
	}
	if err != nil {
		return v, nil, nil, err
	}
	return v, answers, func() { _ = r.markShown(ctx, t, []string{v.ID}) }, nil
}

func (r *Room) showOn(ctx context.Context, st *turn.State, t *topics.Room, id string) (v Question, answers []topic.Answer, err error) {
	snap, err := t.View()
	if err != nil {
		return v, nil, err
	}
	s := snap.State
	q, err := s.Named(id)
	if code.Of(err) == code.UnknownTarget && s.Forgets() {
		if s, err = topics.History(ctx, t); err == nil {
			q, err = s.Named(id)
		}
	}
	if err != nil {
		return v, nil, err
	}
	lookup, done, err := topics.OpenLookup(ctx, t)
	if err != nil {
		return v, nil, err
	}
	defer done()
	if v, err = r.view(st, r.Facts(st), t, q, lookup); err == nil {
		answers, err = lookup.Answers(q)
	}
	return v, answers, err
}

// markShown marks questions of the agent's as answered, after their answers were shown.
// If that fails they are to be shown again.
func (r *Room) markShown(ctx context.Context, t *topics.Room, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	t = fsroom.At(r.Client.Store, topics.Rules, t.Name()) // that of an inbox may be offline
	snap, err := t.View()
	if err != nil || len(snap.State.MarkShown(r.Self.ID, ids)) == 0 {
		return err
	}
	_, _, err = t.Update(ctx, func(s *topic.State) ([]event.Event, error) { return s.MarkShown(r.Self.ID, ids), nil })
	return err
}
