package questions

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/talk"
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

// A Room is a room of tt as one agent uses it, with its questions.
type Room struct{ Room *member.Room }

// Of returns the room with its questions.
func Of(r *member.Room) *Room { return &Room{r} }

// A Question is a question of the room as commands show it.
type Question struct {
	ID        string     `json:"question_id"`
	From      string     `json:"from_agent_id"`
	FromState string     `json:"from_state,omitempty"`  // see [Here]
	To        string     `json:"to_agent_id,omitempty"` // an agent, [talk.AnyPerson], or "" for anybody
	ToState   string     `json:"to_state,omitempty"`    // of an agent that it is for
	AskedAt   event.Time `json:"asked_at,omitzero"`
	Status    string     `json:"status"`           // open, answered, cancelled
	Reason    string     `json:"reason,omitempty"` // why it was cancelled
	Text      string     `json:"question"`
	Yours     bool       `json:"yours"` // the caller asked it
	Owed      bool       `json:"owed"`  // the caller owes the answer
	Answers   int        `json:"answers"`
	Seq       int64      // of the event of the topic
}

// Status returns the status of a question as commands show it: a pending one is open.
func Status(q *topic.Question) string {
	if q.Status == topic.Pending {
		return topic.Open
	}
	return q.Status
}

// Topic returns the topic with the room's questions, and its state. Without a topic that is an empty one.
func (r *Room) Topic() (*Topic, *topic.State, error) {
	t := OfRoom(r.Room.Client.Store, r.Room.FS.Name())
	if !t.Exists() {
		return t, topic.New(t.Name()), nil
	}
	snap, err := t.View()
	if err != nil {
		return t, nil, err
	}
	return t, snap.State, nil
}

// SettledTopic is [Room.Topic] when what was left half done is complete, see [Room.mend], for those who
// record what they have seen, see [fsroom.Room.SettledView].
func (r *Room) SettledTopic(ctx context.Context) (t *Topic, s *topic.State, settled bool, err error) {
	if t, s, err = r.Topic(); err != nil || !s.Exists() {
		return t, s, err == nil, err
	}
	r.mend(ctx, t, s)
	snap, settled, err := t.SettledView(ctx)
	if err != nil {
		return t, nil, false, err
	}
	return t, snap.State, settled, nil
}

// Cursor returns what an agent was shown in its present membership, nothing if it is no member.
func (r *Room) Cursor(st *turn.State, id string) (c hearing.Cursor) {
	if m := st.Member(id); m != nil {
		c = hearing.ReadCursor(r.Room.FS.Agent(id), m.JoinedAt)
		r.Fit(&c)
	}
	return c
}

// Fit is [hearing.Cursor.Fit] for the room.
func (r *Room) Fit(c *hearing.Cursor) {
	c.Fit(r.Room.FS, OfRoom(r.Room.Client.Store, r.Room.FS.Name()))
}

// Advance moves the stored cursor of an agent over what at has in addition. at is one that [Room.Cursor] returned, or has its JoinedAt.
// So those that show and those that wake may store their parts at the same time. The file is replaced atomically and without a sync: if
// the cursor cannot be stored, things are shown again.
func (r *Room) Advance(id string, at hearing.Cursor) error {
	var c hearing.Cursor
	return r.Room.FS.Agent(id).Change(hearing.CursorFile, &c, func() {
		if c.JoinedAt.After(at.JoinedAt.Time) { // the room may have been put back from a copy, to an earlier membership
			if snap, err := r.Room.FS.View(); err == nil && r.Cursor(snap.State, id).JoinedAt.Equal(at.JoinedAt.Time) {
				c = hearing.Cursor{JoinedAt: at.JoinedAt}
			}
		}
		r.Fit(&c)
		r.Fit(&at)
		c.Advance(at)
	})
}

// standing returns what is known of an agent.
func (r *Room) standing(st *turn.State, f turn.Facts, t *Topic, id string) string {
	m := st.Member(id)
	switch {
	case m == nil && t.Agent(id).Held(JoinedMark): // an agent of the bus
		return Here
	case m == nil:
		return Left
	case f.Gone(st, m):
		return Gone
	case r.Room.IsWaiting(id):
		return Waiting
	case id != r.Room.Self.ID && f.Presence(id).Stopped:
		return Stopped
	}
	return Here
}

// Absent returns a function that reports whether the process of an asker has ended.
func (r *Room) Absent(st *turn.State) func(id string) bool {
	facts := sync.OnceValue(func() turn.Facts { return r.Room.Facts(st) })
	return func(id string) bool { return st.Member(id) != nil && facts().Gone(st, st.Member(id)) }
}

// A QuestionQuery selects open questions.
type QuestionQuery struct {
	Mine, Owed, All bool // asked by the agent; owed by it; all; none of these: the first two
}

// Questions returns the open questions that q selects, oldest first.
func (r *Room) Questions(ctx context.Context, st *turn.State, query QuestionQuery) ([]Question, error) {
	t, s, err := r.Topic()
	if err == nil && r.mend(ctx, t, s) {
		t, s, err = r.Topic()
	}
	if err != nil {
		return nil, err
	}
	me := r.Room.Self.ID
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
	return r.Views(ctx, st, t, selected)
}

// Views returns the questions as commands show them.
func (r *Room) Views(ctx context.Context, st *turn.State, t *Topic, selected []*topic.Question) ([]Question, error) {
	list := []Question{}
	if len(selected) == 0 {
		return list, nil
	}
	f := r.Room.Facts(st)
	for _, q := range selected {
		v, err := r.view(ctx, st, f, t, q)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (r *Room) view(ctx context.Context, st *turn.State, f turn.Facts, t *Topic, q *topic.Question) (Question, error) {
	text, at, err := Texts(ctx, t).Question(q)
	v := Question{
		ID: q.ID, From: q.AskedBy, To: q.To, AskedAt: at, Status: Status(q), Reason: q.CancelReason, Answers: len(q.Answers), Text: text,
		Yours: q.AskedBy == r.Room.Self.ID, Owed: q.OwedBy(r.Room.Self.ID), FromState: r.standing(st, f, t, q.AskedBy), Seq: q.Seq,
	}
	if q.To != "" && q.To != talk.AnyPerson {
		v.ToState = r.standing(st, f, t, q.To)
	}
	if v.Yours && v.ToState == Left {
		if there, err := r.Room.Reaching(nil, q.To); err == nil && there != r.Room {
			if snap, err := there.FS.View(); err == nil {
				v.ToState = Of(there).standing(snap.State, there.Facts(snap.State), t, q.To)
			}
		}
	}
	return v, err
}

// ShowQuestion returns a question with its answers, also one that is settled. shown is called when they were shown to the agent.
func (r *Room) ShowQuestion(ctx context.Context, st *turn.State, id string) (v Question, answers []topic.ShownAnswer, shown func(),
	err error) {
	t, q, _, err := find(ctx, r.Room.Client.Store, r.Room.FS.Name(), id)
	if err != nil {
		return v, nil, nil, err
	}
	if v, err = r.view(ctx, st, r.Room.Facts(st), t, q); err == nil {
		answers, err = Texts(ctx, t).Answers(q)
	}
	last := int64(0)
	for _, a := range q.Answers {
		last = a.Seq
	}
	return v, answers, func() { _ = r.MarkShown(ctx, t, []string{v.ID}, last) }, err
}

// MarkShown marks questions of the agent's as answered, after their answers up to the event last were shown. If it fails, they are again.
func (r *Room) MarkShown(ctx context.Context, t *Topic, ids []string, last int64) error {
	if len(ids) == 0 {
		return nil
	}
	t = fsroom.At(r.Room.Client.Store, roomtypes.Topics(), t.Name()) // that of an inbox may be offline
	snap, err := t.View()
	if err != nil || len(snap.State.MarkShown(r.Room.Self.ID, ids, last)) == 0 {
		return err
	}
	_, _, err = t.Update(ctx, func(s *topic.State) ([]event.Event, error) { return s.MarkShown(r.Room.Self.ID, ids, last), nil })
	return err
}

// QuestionLog returns what happened to the questions of the room since a moment, oldest first: at most so many entries, the newest.
func (r *Room) QuestionLog(ctx context.Context, since time.Time, most int) ([]turn.LogEntry, error) {
	var entries []turn.LogEntry
	t := OfRoom(r.Room.Client.Store, r.Room.FS.Name())
	if !t.Exists() {
		return nil, nil
	}
	_, err := t.Events(ctx, 0, func(e *event.Event) error {
		kind := logKinds[e.Type]
		if kind != "" && !e.CreatedAt.Before(since) {
			id, text := topic.Words(e)
			entries = append(entries, turn.LogEntry{
				Kind: kind, TopicSeq: e.Seq, At: e.CreatedAt, Agent: e.From, To: e.To, Event: e.Type, Reason: e.Reason, Text: text, Question: id,
			})
		}
		return nil
	})
	return entries[max(0, len(entries)-most):], err
}

var logKinds = map[string]string{topic.EventAsked: "question", topic.EventAnswer: "answer", topic.EventMarked: "question_settled",
	topic.EventCancelled: "question_settled"}

// MergeLog returns the entries of two logs, each oldest first, in the order of time.
func MergeLog(a, b []turn.LogEntry) []turn.LogEntry {
	merged := make([]turn.LogEntry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0].At.Before(a[0].At.Time) {
			merged, b = append(merged, b[0]), b[1:]
		} else {
			merged, a = append(merged, a[0]), a[1:]
		}
	}
	return append(append(merged, a...), b...)
}
