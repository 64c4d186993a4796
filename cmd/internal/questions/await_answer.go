package questions

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
)

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
	var exits member.ExitWatcher
	defer exits.Close()
	reply = Reply{Status: ReplyTimeout, ToState: a.ToState}
	named := a.ToState != ""
	err = r.Room.FS.AwaitBeside(ctx, func() fsroom.Neighbour { return a.topic },
		func(snap *fsroom.Snapshot[*turn.State]) (bool, fsroom.Sleep, error) {
			st := snap.State
			view, err := a.topic.View()
			if err != nil {
				return true, fsroom.Sleep{}, err
			}
			q, f := view.State.Question(a.ID), r.Room.Facts(st)
			if named {
				reply.ToState = r.standing(st, f, a.topic, a.To)
			}
			switch {
			case q == nil, q.Status == topic.Cancelled, q.Status != topic.Pending && len(q.Answers) == 0:
				reply.Status = ReplyCancelled
			case len(q.Answers) > 0:
				reply.Status = ReplyAnswered
				reply.Answers, err = r.answers(ctx, a.topic, q)
			case !st.Open, named && (reply.ToState == Gone || reply.ToState == Left):
				reply.Status = ReplyGone
			case named:
				exits.Watch(r.Room.Processes(a.To))
				return false, fsroom.Sleep{For: st.UntilGone(f, a.To), Exit: exits.C()}, nil
			default:
				return false, fsroom.Sleep{}, nil
			}
			return true, fsroom.Sleep{}, err
		})
	if err != nil && ctx.Err() != nil && reply.Status == ReplyTimeout {
		err = nil
	}
	return reply, err
}

func (r *Room) answers(ctx context.Context, t *Topic, q *topic.Question) ([]topic.Answer, error) {
	lookup, done, err := OpenLookup(ctx, t)
	if err != nil {
		return nil, err
	}
	defer done()
	return lookup.Answers(q)
}

// ReplyShown marks the question as answered, after its answers were shown to the agent.
func (r *Room) ReplyShown(ctx context.Context, a Asked) {
	_ = r.MarkShown(ctx, a.topic, []string{a.ID})
	if a.own != nil {
		_ = r.MarkShown(ctx, a.own, []string{a.ID})
	}
}
