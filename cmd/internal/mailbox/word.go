package mailbox

import (
	"context"
	"math"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// fill adds what there is for the agent beyond the cursor, and the open questions and notes that
// were shown to it before. It returns the topic of the questions.
func (in *Inbox) fill(ctx context.Context, m *Mailbox) (s *topic.State, err error) {
	t, s, settled, err := m.questions().SettledTopic(ctx)
	if err != nil {
		if err = in.spoiled(err); err != nil {
			return nil, err
		}
		s, settled = topic.New(t.Name()), true
	}
	in.topic, in.settled, in.Jobs = t, in.settled && settled, []JobEnd{}
	in.at.On(s.Life())
	in.Counts = Counts(m.counts(in.state, in.at, s))
	if err = in.addMail(ctx, m); err == nil && m.Room.IsMember(in.state) {
		err = in.addNotes(ctx, m)
	}
	if err == nil {
		err = in.spoiled(in.addQuestions(ctx, m, s))
	}
	return s, err
}

// spoiled returns an error of the questions, unless they are damaged: the rest is shown all the same, and says so.
func (in *Inbox) spoiled(err error) error {
	if code.Of(err) != code.CorruptRoom {
		return err
	}
	in.Problem, in.Counts.Questions, in.Counts.Answers = "the questions cannot be read: "+code.MessageOf(err)+"; see: tt doctor", 0, 0
	in.Questions, in.Answers, in.Asked = []InboxQuestion{}, []InboxAnswer{}, []questions.Question{}
	in.words = slices.DeleteFunc(in.words, func(w talk.Word) bool { return w.Kind == talk.KindQuestion || w.Kind == talk.KindAnswer })
	return nil
}

// eachMail calls fn with the messages for a member, and the ends of its jobs, that it was not shown, until fn
// returns an error.
func (m *Mailbox) eachMail(ctx context.Context, st *turn.State, id string, at Cursor, fn func(*talk.Word, *event.Event) error) error {
	me, after := st.Member(id), min(at.EventSeq, at.JobsSeq)
	if me == nil || me.LastMail <= after {
		return nil
	}
	return m.Room.EachEvent(ctx, max(me.Joined, after), false, func(e *event.Event) error {
		w := talk.Of(e)
		switch {
		case e.Seq > me.LastMail:
			return member.ErrEnough
		case !talk.MeantFor(e, id) || w.Kind != talk.KindMessage && w.Kind != talk.KindJob || at.Has(w.Kind, e.Seq):
			return nil
		}
		return fn(&w, e)
	})
}

func (in *Inbox) addMail(ctx context.Context, m *Mailbox) error {
	if me := in.state.Member(m.Room.Self.ID); me != nil {
		in.lastMail = me.LastMail
	}
	return m.eachMail(ctx, in.state, m.Room.Self.ID, in.at, func(w *talk.Word, e *event.Event) error {
		switch {
		case w.Kind == talk.KindMessage && len(in.Messages) < in.most:
			in.Messages = append(in.Messages, turn.Public(e.Clone()))
		case w.Kind == talk.KindJob && len(in.Jobs) < in.most:
			in.Jobs = append(in.Jobs, JobEnd{e.Seq, talk.JobOf(e), e.CreatedAt})
			in.Jobs[len(in.Jobs)-1].Oldest = 0
		default:
			in.Left++
			return nil
		}
		in.words = append(in.words, *w)
		return nil
	})
}

func (in *Inbox) addNotes(ctx context.Context, m *Mailbox) error {
	notes, fresh := talk.NotesFor(in.state.Notes, m.Room.Self.ID, &in.at.Seen)
	for i, n := range notes[:min(len(notes), in.most)] {
		e, err := m.Room.FS.Event(ctx, n.Seq)
		if err != nil {
			return err
		}
		body := talk.Of(e).Text
		in.Notes = append(in.Notes, InboxNote{talk.NoteView{Note: n, Body: body}, i >= fresh})
		if i < fresh {
			in.words = append(in.words, n.Word(body))
		}
	}
	in.Left += max(0, fresh-in.most)
	return nil
}

// addQuestions adds the answers to questions of the agent, and the questions that it owes an answer.
func (in *Inbox) addQuestions(ctx context.Context, m *Mailbox, s *topic.State) (err error) {
	texts := questions.Texts(ctx, in.topic)
	for _, n := range s.NewAnswers(m.Room.Self.ID, &in.at.Seen) {
		text, _, err := texts.Question(n.Question)
		if err != nil {
			return err
		}
		a, err := texts.Answer(n.AnswerRef)
		if err != nil {
			return err
		}
		in.Answers = append(in.Answers, InboxAnswer{n.ID, text, a.Shown()})
		in.words = append(in.words, talk.Word{Kind: talk.KindAnswer, ID: n.ID, Seq: n.AnswerRef.Seq, From: a.AnsweredBy,
			Text: a.Payload.Markdown})
	}
	owed, left := debtsShown(s.Debts(m.Room.Self.ID), in.at.TopicSeq, in.most)
	views, err := m.questions().Views(ctx, in.state, in.topic, owed)
	if err != nil {
		return err
	}
	in.Left += left
	for _, v := range views {
		shown := v.Seq <= in.at.TopicSeq
		in.Questions = append(in.Questions, InboxQuestion{v, shown})
		if !shown {
			in.words = append(in.words, talk.Word{Kind: talk.KindQuestion, ID: v.ID, Seq: v.Seq, From: v.From, Text: v.Text,
				Gone: v.FromState == questions.Gone})
		}
	}
	return nil
}

// nothing is a cursor that moves over nothing.
func (in *Inbox) nothing() Cursor {
	return Cursor{JoinedAt: in.at.JoinedAt, Seen: talk.Seen{Topic: in.at.Topic}}
}

// showing returns what the cursor moves over, and which questions of the agent have their answers
// shown, when the words are shown for which fn returns true. rest is how many are left.
func (in *Inbox) showing(fn func(*talk.Word) bool) (shown Cursor, answered []string, rest int) {
	shown = in.nothing()
	left := shown.Pass(in.words, fn)
	if !shown.IsZero() { // so that what was shown is not read again
		for kind, unread := range map[string]int64{talk.KindMessage: in.Counts.Messages, talk.KindJob: in.Counts.Jobs} {
			if unread == 0 {
				*shown.At(kind) = in.lastMail
			}
		}
	}
	return shown, in.answered(left...), len(left)
}

// answered returns the questions of the agent whose answers are among the words, and none of them is left.
func (in *Inbox) answered(left ...*talk.Word) (ids []string) {
	for i := range in.words {
		w := &in.words[i]
		isLeft := func(l *talk.Word) bool { return l.Kind == w.Kind && l.ID == w.ID }
		if w.Kind == talk.KindAnswer && !slices.Contains(ids, w.ID) && !slices.ContainsFunc(left, isLeft) {
			ids = append(ids, w.ID)
		}
	}
	return ids
}

// WordsShown records that the words for which fn returns true were shown to the agent, see
// [RoomNews.Unshown]. It reports whether that is done: what may still be undone is shown again.
func (m *Mailbox) WordsShown(ctx context.Context, fn func(*talk.Word) bool) bool {
	snap, settled, err := m.Room.FS.SettledView(ctx)
	if err != nil || !settled {
		return false
	}
	if !m.Room.IsMember(snap.State) {
		return true // which has no cursor
	}
	in := &Inbox{state: snap.State, settled: true, most: math.MaxInt, at: m.Cursor(snap.State)}
	_, err = in.fill(ctx, m)
	return err == nil && in.settled && m.shown(ctx, in, fn) == nil
}

// shown records that words of the inbox were shown.
func (m *Mailbox) shown(ctx context.Context, in *Inbox, fn func(*talk.Word) bool) error {
	shown, answered, _ := in.showing(fn)
	for i := range in.words {
		if w := &in.words[i]; w.Kind == talk.KindMessage && fn(w) {
			shown.Singly = append(shown.Singly, w.Seq)
		}
	}
	err := m.questions().MarkShown(ctx, in.topic, answered, shown.AnswersSeq)
	if err != nil { // they are shown again, and marked then
		shown.TopicSeq, shown.AnswersSeq = 0, 0
	}
	if m.Room.IsMember(in.state) && !shown.IsZero() {
		m.show(shown)
	}
	return err
}

// Unshown calls fn with what was said to the agent and was not shown to it. fn reports whether it
// shows a word, which it does after Unshown. Those of its kind that follow one that is not shown
// stay unshown too. rest is how many were left.
func (n *RoomNews) Unshown(fn func(*talk.Word) bool) (rest int) {
	in := n.in
	if n.All.Words.Questions+n.All.Words.Answers == 0 { // those of an agent that has gone are no news
		in.words = slices.DeleteFunc(in.words, func(w talk.Word) bool { return w.Kind == talk.KindQuestion })
	}
	n.printed.Cursor, n.printed.Answered, rest = in.showing(fn)
	return rest
}

// debtsShown returns the questions that an inbox shows: first those after the event seen,
// then as many of the others as there is place for. left is how many of the first have none.
func debtsShown(owed []*topic.Question, seen int64, most int) (shown []*topic.Question, left int) {
	unseen := len(owed)
	for unseen > 0 && owed[len(owed)-unseen].Seq <= seen {
		unseen--
	}
	old, fresh := owed[:len(owed)-unseen], owed[len(owed)-unseen:]
	left = max(0, unseen-most)
	fresh = fresh[:unseen-left]
	return slices.Concat(fresh, old[:min(len(old), most-len(fresh))]), left
}

// counts counts what is beyond the cursor, of which an agent that is no member has questions alone.
func (m *Mailbox) counts(st *turn.State, at Cursor, s *topic.State) (u talk.Unread) {
	me := m.Room.Self.ID
	at.On(s.Life())
	if m.Room.IsMember(st) {
		u = m.mail(st, me, at)
		notes, fresh := talk.NotesFor(st.Notes, me, &at.Seen)
		for _, n := range notes[:fresh] {
			*u.Of(n.Kind())++
		}
	}
	absent := m.questions().Absent(st)
	for _, q := range s.Debts(me) {
		if !at.Has(talk.KindQuestion, q.Seq) && !absent(q.AskedBy) {
			u.Questions++
		}
	}
	u.Answers = int64(len(s.NewAnswers(me, &at.Seen)))
	return u
}

// mail counts the messages and ends of jobs that a member was not shown.
func (m *Mailbox) mail(st *turn.State, id string, at Cursor) (u talk.Unread) {
	_ = m.eachMail(context.Background(), st, id, at, func(w *talk.Word, _ *event.Event) error { *u.Of(w.Kind)++; return nil })
	return u
}

// A JobEnd is the end of a job of the agent.
type JobEnd struct {
	Seq int64 `json:"event_seq"`
	talk.JobEnd
	At event.Time `json:"created_at"`
}
