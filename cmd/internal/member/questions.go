package member

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

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

// EnsureMember returns the room if the agent is a member. A person who is none becomes an
// observer, unless check refuses what the person is about to do.
func (r *Room) EnsureMember(ctx context.Context, check func(*turn.State) error) (*snapshot, error) {
	snap, err := r.Snapshot()
	if err != nil {
		return nil, err
	}
	switch {
	case r.IsMember(snap.State) && !r.Ended(snap.State):
	case r.IsHuman():
		if check != nil {
			if err := check(snap.State); err != nil {
				return nil, err
			}
		}
		r.found = snap
		return r.join(ctx, true)
	default:
		return nil, turn.NotJoined(snap.State, r.Self.ID)
	}
	r.RecordPresence(ctx, snap.State)
	return snap, nil
}

// CheckQuestion refuses a text that no room takes as a question.
func CheckQuestion(text string) error {
	return checkText(text, "question", topic.DefaultLimits().QuestionChars)
}

// CheckAnswer refuses a text that no room takes as an answer.
func CheckAnswer(text string) error {
	return checkText(text, "answer", topic.DefaultLimits().AnswerChars)
}

func checkText(text, what string, most int) error {
	switch n := utf8.RuneCountInString(text); {
	case n > most:
		return code.New(code.BodyTooLarge, "the %s has %d characters, at most %d are allowed", what, n, most).
			With("supplied", n).WithHint("put the text into a file of the workspace and name it")
	case !utf8.ValidString(text):
		return code.New(code.InvalidBody, "the %s is not valid UTF-8", what)
	case strings.TrimSpace(text) == "":
		return code.New(code.InvalidBody, "the %s is empty", what)
	}
	return nil
}

// An Asked is a question that was stored.
type Asked struct {
	ID       string
	To       string // as in [Question]
	ToState  string
	EventSeq int64 // of the topic
	Deadlock bool  // the agent holds the turn that the one who is asked waits for

	topic *topics.Room
}

// Ask stores a question of the agent: for a member, for any person ([topic.ToHuman]) or
// for anybody ([turn.Everyone]).
func (r *Room) Ask(ctx context.Context, to, text string) (a Asked, err error) {
	snap, err := r.EnsureMember(ctx, func(st *turn.State) error {
		_, err := turn.Asked(st, r.Facts(st), r.Self.ID, to)
		return err
	})
	if err != nil {
		return a, err
	}
	st := snap.State
	if utf8.RuneCountInString(r.Self.ID) > topic.MaxAgentNameChars {
		return a, tooLongID(r.Self.ID)
	}
	f := r.Facts(st)
	if a.To, err = turn.Asked(st, f, r.Self.ID, to); err != nil {
		return a, err
	}
	if utf8.RuneCountInString(a.To) > topic.MaxAgentNameChars {
		return a, tooLongID(a.To)
	}
	t, s, id, seq, err := topics.AskInRoom(ctx, r.Client.Store, r.Name(), st.CanonicalPath, r.Self.ID, topic.AskRequest{Question: text, To: a.To})
	if err != nil {
		return a, err
	}
	a.ID, a.EventSeq, a.topic = id, seq, t
	if st.Member(a.To) != nil {
		a.ToState = r.standing(st, f, t, a.To)
	}
	a.Deadlock = st.Owner == r.Self.ID && a.ToState == Waiting
	q := s.Question(id)
	r.tell(st, func(id string) bool { return q.OwedBy(id) })
	return a, nil
}

func tooLongID(id string) error {
	return code.New(code.InvalidAgentID, "%s is longer than %d characters: agents with such an id neither ask nor are asked", topic.Clip(id), topic.MaxAgentNameChars)
}

// tell notifies the members, and what listens for them, that a question or an answer has
// come for them.
func (r *Room) tell(st *turn.State, concerned func(id string) bool) {
	for i := range st.Members {
		if id := st.Members[i].AgentID; id != r.Self.ID && concerned(id) {
			r.NotifyNews(id)
			r.Client.Store.NotifyListener(id)
		}
	}
}

// Answer stores the agent's answer to a question, which id or its first characters name.
func (r *Room) Answer(ctx context.Context, id, text string) (q Question, answerID string, err error) {
	snap, err := r.EnsureMember(ctx, r.checkQuestion(ctx, id, func(s *topic.State) error {
		_, _, _, err := s.AnswerOne(r.Self.ID, id, text, func() string { return "" })
		return err
	}))
	if err != nil {
		return q, "", err
	}
	t, err := r.topicOf(ctx, id)
	if err != nil {
		return q, "", err
	}
	stored, answerID, err := topics.AnswerOne(ctx, t, r.Self.ID, id, text)
	if err != nil {
		return q, "", err
	}
	r.tell(snap.State, func(id string) bool { return id == stored.AskedBy })
	return Question{ID: stored.ID, From: stored.AskedBy, To: stored.To}, answerID, nil
}

// CloseQuestion settles a question, see [topic.State.CloseOne]. It returns the question as
// it is then.
func (r *Room) CloseQuestion(ctx context.Context, id, reason string) (q Question, err error) {
	snap, err := r.EnsureMember(ctx, r.checkQuestion(ctx, id, func(s *topic.State) error {
		_, _, err := s.CloseOne(r.Self.ID, true, id, reason)
		return err
	}))
	if err != nil {
		return q, err
	}
	t, err := r.topicOf(ctx, id)
	if err != nil {
		return q, err
	}
	full := ""
	after, changed, err := t.Update(ctx, func(s *topic.State) ([]event.Event, error) {
		events, found, err := s.CloseOne(r.Self.ID, r.IsHuman(), id, reason)
		if err == nil {
			full = found.ID
		}
		return events, err
	})
	if err != nil {
		return q, err
	}
	stored := after.State.Question(full)
	if len(changed) > 0 {
		r.tell(snap.State, func(id string) bool { return id == stored.AskedBy })
	}
	return Question{ID: full, From: stored.AskedBy, To: stored.To, Status: stored.Status, Answers: len(stored.Answers)}, nil
}

// checkQuestion returns a check for [Room.EnsureMember], by a rule of the topic that has
// the question.
func (r *Room) checkQuestion(ctx context.Context, id string, rule func(*topic.State) error) func(*turn.State) error {
	return func(*turn.State) error {
		t, err := r.topicOf(ctx, id)
		if err != nil {
			return err
		}
		snap, err := t.View()
		if err != nil {
			return err
		}
		return rule(snap.State)
	}
}

// topicOf returns the topic of the room that has the question: an earlier one if the
// present one has it not.
func (r *Room) topicOf(ctx context.Context, id string) (*topics.Room, error) {
	t, n := topics.OfRoom(r.Client.Store, r.Name())
	present := t
	for ; n >= 0 && t.Exists(); n-- {
		snap, err := t.View()
		if err != nil {
			return nil, err
		}
		if _, err := snap.State.Named(id); err == nil || code.Of(err) == code.AmbiguousTarget {
			return t, nil
		}
		if n > 0 {
			t = topics.At(r.Client.Store, r.Name(), n-1)
		}
	}
	if present.Exists() {
		return present, r.forgotten(ctx, present, id)
	}
	_, err := topic.New("").Named(id)
	return nil, err
}

// forgotten refuses with question_closed a question that the state of a topic has
// forgotten, and with unknown_target one that there never was.
func (r *Room) forgotten(ctx context.Context, t *topics.Room, id string) error {
	snap, err := t.View()
	if err != nil {
		return err
	}
	if snap.State.Forgets() {
		if all, err := topics.History(ctx, t); err == nil {
			if q, err := all.Named(id); err == nil {
				return topic.SettledError(q)
			}
		}
	}
	_, err = snap.State.Named(id)
	return err
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
	snap, err := t.View()
	if err != nil || len(snap.State.MarkShown(r.Self.ID, ids)) == 0 {
		return err
	}
	_, _, err = t.Update(ctx, func(s *topic.State) ([]event.Event, error) { return s.MarkShown(r.Self.ID, ids), nil })
	return err
}

// A Reply is how the wait for an answer has ended.
type Reply struct {
	Status  string         // see [ReplyAnswered]
	ToState string         // of an agent that was asked
	Answers []topic.Answer // with [ReplyAnswered]
}

// The statuses of a [Reply].
const (
	ReplyQueued    = "queued"         // nobody has waited
	ReplyAnswered  = "answered"       //
	ReplyCancelled = "cancelled"      // a person has closed the question
	ReplyGone      = "recipient_gone" // nobody is there to answer it
	ReplyTimeout   = "timeout"
)

// AwaitAnswer waits until a question of the agent has an answer, is closed, or has nobody
// to answer it, or until ctx ends. When its answers were shown, the caller calls
// [Room.ReplyShown].
func (r *Room) AwaitAnswer(ctx context.Context, a Asked) (reply Reply, err error) {
	var exits exitWatcher
	defer exits.close()
	reply = Reply{Status: ReplyTimeout, ToState: a.ToState}
	named := a.ToState != ""
	err = r.AwaitBeside(ctx, func() fsroom.Neighbour { return a.topic }, func(snap *snapshot) (bool, fsroom.Sleep, error) {
		st := snap.State
		view, err := a.topic.View()
		if err != nil {
			return true, fsroom.Sleep{}, err
		}
		q := view.State.Question(a.ID)
		if q == nil || q.Status == topic.Cancelled {
			reply.Status = ReplyCancelled
			return true, fsroom.Sleep{}, nil
		}
		f := r.Facts(st)
		if named {
			reply.ToState = r.standing(st, f, a.topic, a.To)
		}
		switch {
		case len(q.Answers) > 0:
			reply.Status = ReplyAnswered
			reply.Answers, err = r.answers(ctx, a.topic, q)
			return true, fsroom.Sleep{}, err
		case q.Status != topic.Pending:
			reply.Status = ReplyCancelled
			return true, fsroom.Sleep{}, nil
		case !st.Open, named && (reply.ToState == Gone || reply.ToState == Left):
			reply.Status = ReplyGone
			return true, fsroom.Sleep{}, nil
		case !named:
			return false, fsroom.Sleep{}, nil
		}
		exits.watch(r.processRecord(a.To).Processes)
		return false, fsroom.Sleep{For: st.UntilGone(f, a.To), Exit: exits.C()}, nil
	})
	if err != nil && ctx.Err() != nil && reply.Status == ReplyTimeout {
		err = nil
	}
	return reply, err
}

func (r *Room) answers(ctx context.Context, t *topics.Room, q *topic.Question) ([]topic.Answer, error) {
	lookup, done, err := topics.OpenLookup(ctx, t)
	if err != nil {
		return nil, err
	}
	defer done()
	return lookup.Answers(q)
}

// ReplyShown marks the question as answered, after its answers were shown to the agent.
func (r *Room) ReplyShown(ctx context.Context, a Asked) {
	_ = r.markShown(ctx, a.topic, []string{a.ID})
}

// AwaitInbox waits until something has come for the agent that it was not shown, or until
// ctx ends. It returns the inbox as it is then, and the room's state. It takes no turn.
func (r *Room) AwaitInbox(ctx context.Context) (in *Inbox, st *turn.State, err error) {
	if err := r.own().EnsureWakeFile(); err != nil {
		return nil, nil, err
	}
	look := context.WithoutCancel(ctx)
	err = r.awaitNews(ctx, func(snap *snapshot) (bool, fsroom.Sleep, error) {
		st = snap.State
		if !st.Open || !r.IsMember(st) {
			return true, fsroom.Sleep{}, nil
		}
		if r.Unread(st) == (turn.Unread{}) {
			return false, fsroom.Sleep{}, nil
		}
		var err error
		in, err = r.Inbox(look, st)
		return err != nil || in.IsNew(), fsroom.Sleep{}, err
	})
	if err != nil && ctx.Err() == nil {
		return nil, nil, err
	}
	in, err = r.Inbox(look, st)
	return in, st, err
}
