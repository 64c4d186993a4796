package topic_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"pgregory.net/rapid"
)

// A model is the rules of answering once more, as plainly as possible.
type model struct {
	*world
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
		w := newWorld(t)
		m := &model{world: w, id: w.made("pink")}
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
				m.pending(t, agent.Draw(t, "agent"), rapid.IntRange(1, 5).Draw(t, "limit"))
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

func (m *model) state() *topic.State { return m.topic(m.id).state }

func want(t *rapid.T, err error, c code.Code) bool {
	if code.Of(err) != c {
		t.Fatalf("error %v, want %q", err, c)
	}
	return err == nil
}

func (m *model) ask(t *rapid.T, agent string) {
	refusal := code.Code("")
	to := rapid.SampledFrom([]string{"", "red", "cat", topic.ToHuman}).Draw(t, "to")
	if m.closed {
		refusal = topic.TopicClosed
	} else if to == agent {
		refusal = topic.InvalidArgument
	}
	events, id, err := m.state().Ask(agent, topic.AskRequest{Question: "why?", To: to}, m.newID, m.limits)
	if want(t, err, refusal) {
		m.commit(m.id, events)
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
	events, tally, err := m.state().Answer(agent, responses, m.newID)
	if !want(t, err, refusal) {
		if len(events) != 0 {
			t.Fatalf("a refusal with %d events", len(events))
		}
		return
	}
	if tally.Saved != len(open) || len(tally.Skipped) != len(questions)-len(open) || len(events) != len(open) {
		t.Fatalf("%+v and %d events, want %d of %d saved", tally, len(events), len(open), len(questions))
	}
	m.commit(m.id, events)
	for _, q := range open {
		q.answers = append(q.answers, agent)
	}
}

func (m *model) settle(t *rapid.T, agent string, q *modelQuestion, status string) {
	decide := func() (n int, warned bool, err error) {
		if status == topic.Cancelled {
			events, warnings, err := m.state().Cancel(agent, q.id, "why")
			m.commit(m.id, events)
			return len(events), warnings != nil, err
		}
		events, warnings, err := m.state().MarkAnswered(agent, q.id)
		m.commit(m.id, events)
		return len(events), warnings != nil, err
	}
	refusal, repeated := code.Code(""), q.status == status
	switch {
	case agent != q.asker:
		refusal = topic.ForbiddenNotAsker
	case q.status != topic.Pending && !repeated:
		refusal = topic.InvalidArgument
	}
	n, warned, err := decide()
	if !want(t, err, refusal) {
		return
	}
	if warned != repeated || (n == 0) != repeated {
		t.Fatalf("%d events, warned %v, repeated %v", n, warned, repeated)
	}
	q.status = status
}

func (m *model) close(t *rapid.T) {
	events, warnings, err := m.state().Close("", "over")
	if !want(t, err, "") || (warnings != nil) != m.closed || (len(events) == 0) != m.closed {
		t.Fatalf("%d events, warnings %v, closed %v", len(events), warnings, m.closed)
	}
	m.commit(m.id, events)
	m.closed = true
}

func (m *model) pending(t *rapid.T, agent string, limit int) {
	var ids []string
	total := 0
	for _, q := range m.questions {
		if q.status == topic.Pending && q.asker != agent && !slices.Contains(q.answers, agent) && (q.to == "" || q.to == agent || q.to == topic.ToHuman && agent == "human:ann") {
			if total++; total <= limit {
				ids = append(ids, q.id)
			}
		}
	}
	r, err := m.state().PendingList(agent, topic.PendingRequest{Limit: limit}, m.topic(m.id).lookup)
	if err != nil {
		t.Fatalf("pending: %v", err)
	}
	var got []string
	for _, q := range r.Pending {
		got = append(got, q.QuestionID)
	}
	if r.Total != total || r.HasMore != (total > limit) {
		t.Fatalf("total %d, more %v, want %d with limit %d", r.Total, r.HasMore, total, limit)
	}
	if !slices.Equal(got, ids) || m.state().HasPending(agent) != (len(ids) > 0) {
		t.Fatalf("offered %v, want %v", got, ids)
	}
}

// check compares every question with what a poll tells.
func (m *model) check(t *rapid.T) {
	for _, q := range m.questions {
		r, err := m.state().Poll(q.id, 0, m.topic(m.id).lookup)
		if err != nil {
			t.Fatalf("poll: %v", err)
		}
		var by []string
		for _, a := range r.Answers {
			by = append(by, a.AnsweredBy)
		}
		if r.QuestionStatus != q.status || !slices.Equal(by, q.answers) || r.AnswersCount != len(by) {
			t.Fatalf("%s is %s, answered by %v, want %s by %v", q.id, r.QuestionStatus, by, q.status, q.answers)
		}
		if slices.Contains(by, q.asker) || len(slices.Compact(slices.Sorted(slices.Values(by)))) != len(by) {
			t.Fatalf("asked by %s, answered by %s", q.asker, strings.Join(by, ", "))
		}
		if m.state().AskSettled(q.id, 1) != (len(by) > 0 || q.status != topic.Pending || m.closed) {
			t.Fatalf("settled is %v", m.state().AskSettled(q.id, 1))
		}
	}
}
