package topic_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/topic/topictest"
	"github.com/talking-stick/tt/journal/event"
	"pgregory.net/rapid"
)

// A model is the rules of answering once more, as plainly as possible.
type model struct {
	*topictest.World
	id        string
	closed    bool
	questions []*modelQuestion
}

type modelQuestion struct {
	id, asker, to, status string
	answers               []string // by whom
}

// TestRandomSchedules runs random calls of several agents against the model.
// That the state is the fold of the journal is checked by every commit.
func TestRandomSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := topictest.New(t)
		m := &model{World: w, id: w.Create(topic.CreateRequest{Name: "pink"}).TopicID}
		agent := rapid.SampledFrom([]string{"red", "cat", "gecko", "human:ann"})
		t.Repeat(map[string]func(*rapid.T){
			"ask":    func(t *rapid.T) { m.ask(t, agent.Draw(t, "agent")) },
			"answer": func(t *rapid.T) { m.answer(t, agent.Draw(t, "agent"), m.some(t)) },
			"cancel": func(t *rapid.T) { m.settle(t, agent.Draw(t, "agent"), m.one(t), topic.Cancelled) },
			"mark":   func(t *rapid.T) { m.settle(t, agent.Draw(t, "agent"), m.one(t), topic.Answered) },
			"close": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "dice") == 0 { // not so often that it is all that happens
					m.close(t)
				}
			},
			"pending": func(t *rapid.T) {
				m.pending(t, agent.Draw(t, "agent"))
			},
			"": func(t *rapid.T) { m.check(t) },
		})
	})
}

func (m *model) one(t *rapid.T) *modelQuestion {
	if len(m.questions) == 0 {
		t.Skip("no questions yet")
	}
	return rapid.SampledFrom(m.questions).Draw(t, "question")
}

// some are different questions, now and then with one that does not exist.
func (m *model) some(t *rapid.T) []*modelQuestion {
	all := append([]*modelQuestion{{id: "unknown"}}, m.questions...)
	return rapid.SliceOfNDistinct(rapid.SampledFrom(all), 0, min(4, len(all)), func(q *modelQuestion) string { return q.id }).Draw(t, "questions")
}

func (m *model) state() *topic.State { return m.Topic(m.id).State }

func want(t *rapid.T, err error, c code.Code) bool {
	if code.Of(err) != c {
		t.Fatalf("error %v, want %q", err, c)
	}
	return err == nil
}

func (m *model) ask(t *rapid.T, agent string) {
	refusal := code.Code("")
	to := rapid.SampledFrom([]string{"", "red", "cat", talk.AnyPerson}).Draw(t, "to")
	if m.closed {
		refusal = topic.TopicClosed
	} else if to == agent {
		refusal = topic.InvalidArgument
	}
	events, id, err := m.state().Ask(agent, topic.AskRequest{Question: "why?", To: to}, m.NewID, m.Limits)
	if want(t, err, refusal) {
		m.Commit(m.id, events)
		m.questions = append(m.questions, &modelQuestion{id: id, asker: agent, to: to, status: topic.Pending})
	}
}

func (m *model) answer(t *rapid.T, agent string, questions []*modelQuestion) {
	var responses []topic.Response
	var open []*modelQuestion
	own, again := false, false
	for _, q := range questions {
		responses = append(responses, topic.Response{QuestionID: q.id, Payload: topic.Payload{Pointers: []string{}, Followups: []string{"x"}}})
		if q.status == topic.Pending {
			open = append(open, q)
			own = own || q.asker == agent
			again = again || slices.Contains(q.answers, agent)
		}
	}
	refusal := code.Code("")
	if own {
		refusal = topic.ForbiddenSelfAnswer
	} else if again {
		refusal = topic.ForbiddenAlreadyAnswered
	}
	events, tally, err := m.state().Answer(agent, responses, m.NewID)
	if !want(t, err, refusal) {
		if len(events) != 0 {
			t.Fatalf("a refusal with %d events", len(events))
		}
		return
	}
	if len(tally.AnswerIDs) != len(open) || len(tally.Skipped) != len(questions)-len(open) || len(events) != len(open) {
		t.Fatalf("%+v and %d events, want %d of %d saved", tally, len(events), len(open), len(questions))
	}
	m.Commit(m.id, events)
	for _, q := range open {
		q.answers = append(q.answers, agent)
	}
}

func (m *model) settle(t *rapid.T, agent string, q *modelQuestion, status string) {
	refusal, repeated := code.Code(""), q.status == status
	switch {
	case agent != q.asker:
		refusal = topic.ForbiddenNotAsker
	case q.status != topic.Pending && !repeated:
		refusal = topic.InvalidArgument
	}
	var events []event.Event
	var err error
	if status == topic.Cancelled {
		events, err = m.state().Cancel(agent, q.id, "why")
	} else {
		events, err = m.state().MarkAnswered(agent, q.id)
	}
	m.Commit(m.id, events)
	if !want(t, err, refusal) {
		return
	}
	if (len(events) == 0) != repeated {
		t.Fatalf("%d events, repeated %v", len(events), repeated)
	}
	q.status = status
}

func (m *model) close(t *rapid.T) {
	events, err := m.state().Close("", "over")
	if !want(t, err, "") || (len(events) == 0) != m.closed {
		t.Fatalf("%d events, closed %v", len(events), m.closed)
	}
	m.Commit(m.id, events)
	m.closed = true
}

func (m *model) pending(t *rapid.T, agent string) {
	var offered, own []string
	for _, q := range m.questions {
		switch {
		case q.status != topic.Pending:
		case q.asker == agent:
			own = append(own, q.id)
		case !slices.Contains(q.answers, agent) && (q.to == "" || q.to == agent || q.to == talk.AnyPerson && agent == "human:ann"):
			offered = append(offered, q.id)
		}
	}
	ids := func(questions []*topic.Question) (ids []string) {
		for _, q := range questions {
			ids = append(ids, q.ID)
		}
		return ids
	}
	if got := ids(m.state().Offered(agent)); !slices.Equal(got, offered) || m.state().OfferSettled(agent) != (len(offered) > 0 || m.closed) {
		t.Fatalf("offered %v, want %v; settled: %v", got, offered, m.state().OfferSettled(agent))
	}
	if got := ids(m.state().Own(agent)); !slices.Equal(got, own) {
		t.Fatalf("own %v, want %v", got, own)
	}
}

// check compares every question with the state.
func (m *model) check(t *rapid.T) {
	for _, q := range m.questions {
		stored, err := m.state().FindQuestion(q.id)
		if err != nil {
			t.Fatalf("find: %v", err)
		}
		answers, err := topic.Lookup(m.Topic(m.id).Lookup).Answers(stored)
		if err != nil {
			t.Fatalf("answers: %v", err)
		}
		var by []string
		for _, a := range answers {
			by = append(by, a.AnsweredBy)
		}
		if stored.Status != q.status || !slices.Equal(by, q.answers) {
			t.Fatalf("%s is %s, answered by %v, want %s by %v", q.id, stored.Status, by, q.status, q.answers)
		}
		if slices.Contains(by, q.asker) || len(slices.Compact(slices.Sorted(slices.Values(by)))) != len(by) {
			t.Fatalf("asked by %s, answered by %s", q.asker, strings.Join(by, ", "))
		}
		if m.state().AskSettled(q.id, 1) != (len(by) > 0 || q.status != topic.Pending || m.closed) {
			t.Fatalf("settled is %v", m.state().AskSettled(q.id, 1))
		}
	}
}
