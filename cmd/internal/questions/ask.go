package questions

import (
	"context"
	"math"
	"unicode/utf8"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// An Asked is a question that was stored, and how the wait for an answer has ended.
type Asked struct {
	ID       string              `json:"question_id"`
	To       string              `json:"to_agent_id,omitempty"` // as in [Question]
	ToState  string              `json:"to_state,omitempty"`
	Status   string              `json:"status"`            // see [ReplyAnswered]
	EventSeq int64               `json:"event_seq"`         // of the topic
	Answers  []topic.ShownAnswer `json:"answers,omitempty"` // with [ReplyAnswered]
	Deadlock bool                // the agent holds the turn that the one who is asked waits for
	In       *Room               // where it was asked, see [Room.Ask]

	last  int64 // the event up to which Answers are
	topic *Topic
	own   *Topic // that of the agent's own room, if it is another one; nil: it is not
}

// The statuses of an [Asked].
const (
	ReplyQueued    = "queued"         // nobody has waited
	ReplyAnswered  = "answered"       //
	ReplyCancelled = "cancelled"      // a person has closed the question
	ReplyGone      = "recipient_gone" // nobody is there to answer it
	ReplyTimeout   = "timeout"
)

// Ask stores a question of the agent: for a member, for any person ([talk.AnyPerson]) or for anybody ([turn.Everyone]). One for an agent
// that works in another working tree of the repository is stored there, and under the same id in the room, where it is a question of the
// agent as others are.
func (r *Room) Ask(ctx context.Context, to, text string) (a Asked, err error) {
	there, err := r.Room.Reaching(nil, to)
	if err != nil {
		return a, err
	}
	request := topic.AskRequest{Question: text, To: to}
	if there == r.Room {
		return r.ask(ctx, request, nil)
	}
	return Of(there).ask(ctx, request, r)
}

// ask is Ask in the room. The agent's own one is another, or nil.
func (r *Room) ask(ctx context.Context, request topic.AskRequest, own *Room) (a Asked, err error) {
	snap, err := r.Room.EnsureMember(ctx, func(st *turn.State) error {
		_, err := turn.Asked(st, r.Room.Facts(st), r.Room.Self.ID, request.To)
		return err
	})
	if err != nil {
		return a, err
	}
	st := snap.State
	f := r.Room.Facts(st)
	if a.To, err = turn.Asked(st, f, r.Room.Self.ID, request.To); err != nil {
		return a, err
	}
	for _, id := range []string{r.Room.Self.ID, a.To} {
		if utf8.RuneCountInString(id) > topic.MaxAgentNameChars {
			return a, code.New(code.InvalidAgentID, "%s is longer than %d characters: agents with such an id neither ask nor are asked",
				topic.Clip(id), topic.MaxAgentNameChars)
		}
	}
	request.To = a.To
	if own != nil && !own.Room.IsShared() { // the answer would not find the room of an engine
		request.Other = r.Room.FS.Name()
		here, err := own.Room.EnsureMember(ctx, nil)
		if err == nil {
			a.own, _, request.ID, err = AskInRoom(ctx, own.Room.Client.Store, own.Room.FS.Name(), here.State.CanonicalPath,
				r.Room.Self.ID, request)
		}
		if err != nil {
			return a, err
		}
		request.Other = own.Room.FS.Name()
	}
	t, s, id, err := AskInRoom(ctx, r.Room.Client.Store, r.Room.FS.Name(), st.CanonicalPath, r.Room.Self.ID, request)
	if err != nil {
		if a.own != nil {
			_, _, _ = Settle(ctx, a.own, request.ID, func(s *topic.State) ([]event.Event, error) {
				return s.Cancel(r.Room.Self.ID, request.ID, "it could not be asked")
			})
		}
		return a, err
	}
	q := s.Question(id)
	a.ID, a.Status, a.EventSeq, a.topic, a.In = id, ReplyQueued, q.Seq, t, r
	if st.Member(a.To) != nil {
		a.ToState = r.standing(st, f, t, a.To)
	}
	a.Deadlock = st.Owner == r.Room.Self.ID && a.ToState == Waiting
	r.tell(st, func(id string) bool { return q.OwedBy(id) })
	return a, nil
}

// tell notifies the members, and what listens for them, that a question or an answer has come for them.
func (r *Room) tell(st *turn.State, concerned func(id string) bool) {
	for i := range st.Members {
		if id := st.Members[i].AgentID; id != r.Room.Self.ID && concerned(id) {
			r.Room.FS.Agent(id).Notify()
			r.Room.Client.Store.NotifyListener(id)
		}
	}
}

// Answer stores the agent's answer to a question, which id or its first characters name.
func (r *Room) Answer(ctx context.Context, id, text string) (q Question, answerID string, err error) {
	answerID = newAnswerID()
	q, err = r.change(ctx, id, func(s *topic.State) ([]event.Event, *topic.Question, error) {
		return s.AnswerOne(r.Room.Self.ID, id, text, answerID)
	})
	return q, answerID, err
}

// CloseQuestion settles a question, see [topic.State.CloseOne]. It returns the question as it is then.
func (r *Room) CloseQuestion(ctx context.Context, id, reason string) (q Question, err error) {
	return r.change(ctx, id, func(s *topic.State) ([]event.Event, *topic.Question, error) {
		return s.CloseOne(r.Room.Self.ID, r.Room.IsHuman(), id, reason)
	})
}

// change makes a change of the agent to the question that id means, and to its twin. It returns the question as it is then.
func (r *Room) change(ctx context.Context, id string, decide func(*topic.State) ([]event.Event, *topic.Question, error)) (Question, error) {
	var q topic.Question
	rule := func(s *topic.State) ([]event.Event, error) {
		events, found, err := decide(s)
		if err == nil {
			q = *found
		}
		return events, err
	}
	member, err := r.Room.EnsureMember(ctx, func(*turn.State) error {
		t, err := r.topicOf(ctx, id)
		if err != nil {
			return err
		}
		snap, err := t.View()
		if err == nil {
			_, err = rule(snap.State)
		}
		return err
	})
	if err != nil {
		return Question{}, err
	}
	t, err := r.topicOf(ctx, id)
	if err != nil {
		return Question{}, err
	}
	s, changed, err := change(ctx, t, []string{id}, rule)
	if err != nil {
		return Question{}, err
	}
	q = *s.Question(q.ID)
	if changed {
		r.tell(member.State, func(id string) bool { return id == q.AskedBy })
	}
	return Question{ID: q.ID, From: q.AskedBy, To: q.To, Status: q.Status, Answers: len(q.Answers)}, nil
}

// topicOf returns the topic of the room that has the question, which may be changed there.
func (r *Room) topicOf(ctx context.Context, id string) (*Topic, error) {
	t, q, forgotten, err := find(ctx, r.Room.Client.Store, r.Room.FS.Name(), id)
	if forgotten {
		err = topic.SettledError(q)
	}
	return t, err
}

// find returns the question of a room that id means, and the topic that has it. forgotten reports that it is in the
// history of the topic alone.
func find(ctx context.Context, store *fsroom.Store, room, id string) (t *Topic, q *topic.Question, forgotten bool, err error) {
	t = OfRoom(store, room)
	snap, err := t.View()
	if err != nil {
		return nil, nil, false, err
	}
	if q, err = snap.State.Named(id); code.Of(err) == code.UnknownTarget && snap.State.Forgets() {
		all, failed := History(ctx, t)
		if failed != nil {
			return nil, nil, false, failed
		}
		q, err = all.Named(id)
		forgotten = err == nil && q.Status != topic.Pending // else a mirror has learned of it meanwhile
	}
	return t, q, forgotten, err
}

// AwaitAnswer waits until a question of the agent has an answer, is closed, or has nobody to answer it, or until ctx ends. When its
// answers were shown, the caller calls [Room.ReplyShown].
func (r *Room) AwaitAnswer(ctx context.Context, a Asked) (Asked, error) {
	var exits member.ExitWatcher
	defer exits.Close()
	a.Status = ReplyTimeout
	named := a.ToState != ""
	err := r.Room.FS.AwaitBoth(ctx, "", func() fsroom.Neighbour { return a.topic },
		func(snap *fsroom.Snapshot[*turn.State]) (bool, fsroom.Sleep, error) {
			st := snap.State
			view, err := a.topic.View()
			if err != nil {
				return true, fsroom.Sleep{}, err
			}
			q, f := view.State.Question(a.ID), r.Room.Facts(st)
			if named {
				a.ToState = r.standing(st, f, a.topic, a.To)
			}
			switch {
			case q == nil, q.Status == topic.Cancelled, q.Status != topic.Pending && len(q.Answers) == 0:
				a.Status = ReplyCancelled
			case len(q.Answers) > 0:
				a.Status, a.last = ReplyAnswered, view.State.Seq
				a.Answers, err = Texts(ctx, a.topic).Answers(q)
			case !st.Open, named && (a.ToState == Gone || a.ToState == Left):
				a.Status = ReplyGone
			case named:
				exits.Watch(r.Room.Processes(a.To))
				return false, fsroom.Sleep{For: st.UntilGone(f, a.To), Exit: exits.C()}, nil
			default:
				return false, fsroom.Sleep{}, nil
			}
			return true, fsroom.Sleep{}, err
		})
	if err != nil && ctx.Err() != nil && a.Status == ReplyTimeout {
		err = nil
	}
	return a, err
}

// ReplyShown marks the question as answered, after its answers were shown to the agent.
func (r *Room) ReplyShown(ctx context.Context, a Asked) {
	_ = r.MarkShown(ctx, a.topic, []string{a.ID}, a.last)
	if a.own != nil {
		_ = r.MarkShown(ctx, a.own, []string{a.ID}, math.MaxInt64)
	}
}
