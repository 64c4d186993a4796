package mailbox

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// The kinds of words.
const (
	WordMessage  = "message"
	WordNote     = "note"
	WordPage     = "page"     // a note that should be read at once
	WordAnswer   = "answer"   // to a question of the agent
	WordQuestion = "question" // that the agent owes an answer
	WordJob      = "job"      // the end of a job of the agent
)

// A Word is something that was said to the agent and was not shown to it.
type Word struct {
	Kind     string
	ID       string // of a note, a question, a job or the event of a message, or of the question that is answered
	Seq      int64  // of the event of the room; of questions and answers, of their topic
	From, To string // To is "" for all
	Text     string
	Urgent   bool // of a message
	Gone     bool // of a question: nobody waits for the answer

	upTo Cursor // what the cursor moves over when this was shown, and those of its kind before it
}

// onTopic reports whether the word is on the topic of the room's questions.
func (w *Word) onTopic() bool { return w.Kind == WordAnswer || w.Kind == WordQuestion }

// addTo takes the word into account, unless the agent is not told of it: what is for all comes
// with its next command or turn.
func (w *Word) addTo(n *turn.News, st *turn.State, agent string) {
	switch {
	case w.Kind == WordJob:
		n.Jobs++
	case w.Kind == WordAnswer:
		n.Answers++
	case w.Kind == WordQuestion && !w.Gone:
		n.Asked++
	case w.Kind == WordMessage && (w.To == agent || w.Urgent):
		n.Messages++
	case w.To == agent && (w.Kind == WordNote || w.Kind == WordPage):
		n.Notes++
	default:
		return
	}
	n.ByPerson = n.ByPerson || st.IsPerson(w.From)
}

// fill adds what there is for the agent beyond the cursor, and the open questions and notes that
// were shown to it before. It returns the topic of the questions.
func (in *Inbox) fill(ctx context.Context, m *Mailbox) (s *topic.State, err error) {
	t, s, settled, err := m.questions().SettledTopic(ctx)
	if err != nil {
		return nil, err
	}
	in.topic, in.settled, in.Jobs = t, in.settled && settled, []JobEnd{}
	in.past = Cursor{JoinedAt: in.at.JoinedAt}
	u := m.counts(in.state, in.at, t, s)
	in.Counts = Counts(u)
	if m.Room.IsMember(in.state) {
		if u.Messages > 0 {
			err = in.addMessages(ctx, m)
		}
		err = cmp.Or(err, in.addNotes(ctx, m), in.addJobs(ctx, m))
	}
	return s, cmp.Or(err, in.addQuestions(ctx, m, s))
}

func (in *Inbox) addMessages(ctx context.Context, m *Mailbox) error {
	me, at, end := m.Room.Self.ID, in.at, &in.past
	err := m.Room.EachEvent(ctx, at.EventSeq, false, func(e *event.Event) error {
		mail := turn.IsMail(e, me)
		switch {
		case e.Seq > in.state.Seq || mail && len(in.Messages) == in.most:
			return member.ErrEnough
		case e.Type == turn.JournalDamaged: // what was lost and not shown will never be
			at.Read = max(at.Read, turn.MailAtLoss(e, me))
		case mail:
			at.Read++
			in.Messages = append(in.Messages, turn.Public(e.Clone()))
			end = in.add(Word{Kind: WordMessage, ID: e.ID, Seq: e.Seq, From: e.From, To: e.To, Text: turn.Body(e), Urgent: turn.Interrupts(e)})
		}
		end.EventSeq, end.Read = e.Seq, at.Read
		return nil
	})
	in.left += max(0, int(in.Counts.Messages)-len(in.Messages))
	return err
}

// add adds a word. It returns what the cursor moves over with it, which is nothing yet.
func (in *Inbox) add(w Word) *Cursor {
	w.upTo = Cursor{JoinedAt: in.at.JoinedAt}
	in.words = append(in.words, w)
	return &in.words[len(in.words)-1].upTo
}

func (in *Inbox) addNotes(ctx context.Context, m *Mailbox) error {
	notes, fresh := in.state.NotesFor(m.Room.Self.ID, in.at.Notes())
	for i, n := range notes[:min(len(notes), in.most)] {
		e, err := m.Room.FS.Event(ctx, n.Seq)
		if err != nil {
			return err
		}
		body := turn.Body(e)
		in.Notes = append(in.Notes, InboxNote{turn.NoteView{Note: n, Body: body}, i >= fresh})
		if i >= fresh {
			continue
		}
		w := Word{Kind: WordNote, ID: n.ID, Seq: n.Seq, From: n.Author, To: n.Target, Text: body}
		if n.Severity == turn.SeverityPage {
			w.Kind = WordPage
			in.add(w).PagesSeq = n.Seq
		} else {
			in.add(w).NotesSeq = n.Seq
		}
	}
	in.left += max(0, fresh-in.most)
	return nil
}

func (in *Inbox) addJobs(ctx context.Context, m *Mailbox) error {
	ends, err := m.jobEnds(ctx, in.state, in.at)
	in.Jobs, in.Counts.Jobs = ends[:min(len(ends), in.most)], int64(len(ends))
	in.left += len(ends) - len(in.Jobs)
	for i := range in.Jobs {
		end := in.add(Word{Kind: WordJob, ID: strconv.FormatInt(ends[i].ID, 10), Seq: ends[i].Seq, Text: ends[i].Words()})
		end.Jobs = in.at.Jobs + int64(i) + 1
	}
	return err
}

// addQuestions adds the answers to questions of the agent, and the questions that it owes an answer.
func (in *Inbox) addQuestions(ctx context.Context, m *Mailbox, s *topic.State) (err error) {
	seen, end := in.at.TopicSeen(in.topic.Name()), &Cursor{}
	texts := questions.Texts(ctx, in.topic)
	for _, q := range s.Own(m.Room.Self.ID) {
		for i, ref := range q.NewAnswers(seen.Answers) {
			if i == 0 {
				in.answered = append(in.answered, q.ID)
			}
			text, _, err := texts.Question(q)
			if err != nil {
				return err
			}
			a, err := texts.Answer(ref)
			if err != nil {
				return err
			}
			in.Answers = append(in.Answers, InboxAnswer{q.ID, text, a.Shown()})
			end = in.add(Word{Kind: WordAnswer, ID: q.ID, Seq: ref.Seq, From: a.AnsweredBy, Text: a.Payload.Markdown})
			end.TopicID = in.topic.Name()
		}
	}
	end.AnswersSeq = s.Seq
	owed, left := debtsShown(s.Debts(m.Room.Self.ID), seen.Questions, in.most)
	views, err := m.questions().Views(ctx, in.state, in.topic, owed)
	if err != nil {
		return err
	}
	for _, v := range views {
		in.Questions = append(in.Questions, InboxQuestion{v, v.Seq <= seen.Questions})
		if v.Seq > seen.Questions {
			end = in.add(Word{Kind: WordQuestion, ID: v.ID, Seq: v.Seq, From: v.From, Text: v.Text,
				Gone: v.FromState == questions.Gone})
			end.TopicID, end.TopicSeq, end.AnswersSeq = in.topic.Name(), v.Seq, s.Seq
		}
	}
	if in.left += left; left == 0 {
		end.TopicSeq = s.Seq
	}
	return nil
}

// showing returns what the cursor moves over, and which questions of the agent have their answers
// shown, when the words are shown for which fn returns true. Of each kind they end with the first
// for which it does not; questions end with answers, too. rest is how many are left.
func (in *Inbox) showing(fn func(*Word) bool) (shown Cursor, answered []string, rest int) {
	shown, ended, open := in.past, map[string]bool{}, map[string]bool{}
	for i := range in.words {
		switch w := &in.words[i]; {
		case ended[w.Kind] || w.Kind == WordQuestion && ended[WordAnswer] || !fn(w):
			ended[w.Kind], open[w.ID] = true, true
			rest++
		default:
			shown.Advance(w.upTo)
		}
	}
	return shown, slices.DeleteFunc(slices.Clone(in.answered), func(id string) bool { return open[id] }), rest
}

// WordsShown records that the words for which fn returns true were shown to the agent, see
// [RoomNews.Unshown]. It reports whether that is done: what may still be undone is shown again.
func (m *Mailbox) WordsShown(ctx context.Context, fn func(*Word) bool) bool {
	snap, settled, err := m.Room.FS.SettledView(ctx)
	if err != nil || !settled {
		return false
	}
	if !m.Room.IsMember(snap.State) {
		return true // which has no cursor
	}
	in := &Inbox{state: snap.State, settled: true, most: math.MaxInt}
	if in.at, err = m.cursor(ctx, snap.State); err == nil {
		_, err = in.fill(ctx, m)
	}
	return err == nil && in.settled && m.shown(ctx, in, fn) == nil
}

// shown records that words of the inbox were shown.
func (m *Mailbox) shown(ctx context.Context, in *Inbox, fn func(*Word) bool) error {
	shown, answered, _ := in.showing(fn)
	err := m.questions().MarkShown(ctx, in.topic, answered)
	if err != nil { // they are shown again, and marked then
		shown.TopicID, shown.TopicSeq, shown.AnswersSeq = "", 0, 0
	}
	if m.Room.IsMember(in.state) && shown != (Cursor{JoinedAt: shown.JoinedAt}) {
		m.show(shown)
	}
	return err
}

// Unshown calls fn with what was said to the agent and was not shown to it. fn reports whether it
// shows a word, which it does after Unshown. Those of its kind that follow one that is not shown
// stay unshown too. rest is how many were left.
func (n *RoomNews) Unshown(fn func(*Word) bool) (rest int) {
	in := n.in
	if n.All.Asked+n.All.Answers == 0 { // those of an agent that has gone are no news
		in.words = slices.DeleteFunc(in.words, func(w Word) bool { return w.Kind == WordQuestion })
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
func (m *Mailbox) counts(st *turn.State, at Cursor, t *questions.Topic, s *topic.State) (u turn.Unread) {
	me := m.Room.Self.ID
	if m.Room.IsMember(st) {
		u.Messages, u.Jobs = max(0, st.Mail(me)-at.Read), max(0, st.JobEnds(me)-at.Jobs)
		u.Notes, u.Pages = st.UnreadNotes(me, at.Notes())
	}
	n := s.NewsFor(me, at.TopicSeen(t.Name()), m.questions().Absent(st))
	u.Questions, u.Answers = n.Questions, n.Answers
	return u
}

// A JobEnd is the end of a job of the agent.
type JobEnd struct {
	Seq int64 `json:"event_seq"`
	turn.JobEnd
	At event.Time `json:"created_at"`
}

// jobEnds returns the ends of jobs that the agent was not shown, oldest first. It reads the
// journal only if there are any.
func (m *Mailbox) jobEnds(ctx context.Context, st *turn.State, at Cursor) ([]JobEnd, error) {
	ends := []JobEnd{}
	count := st.JobEnds(m.Room.Self.ID) - at.Jobs
	if count <= 0 {
		return ends, nil
	}
	events, err := m.Room.LastEvents(ctx, st, false, int(count), func(e *event.Event) bool { return turn.TellsJob(e, m.Room.Self.ID) })
	for i := range events {
		j := turn.JobOf(&events[i])
		j.Oldest = 0
		ends = append(ends, JobEnd{events[i].Seq, j, events[i].CreatedAt})
	}
	return ends, err
}
