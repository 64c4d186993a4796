package topic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// asked returns a topic with a question of each kind by a:1: to b:1, to anybody, to any
// person. Its ids are q001, q002, q003.
func asked(t *testing.T) *topic.State {
	t.Helper()
	s := topic.New("t00000000000")
	change(t, s, topic.CreateNamed(nil, "room", nil))
	for i, to := range []string{"b:1", "", talk.AnyPerson} {
		events, _, err := s.Ask("a:1", topic.AskRequest{Question: "why?", To: to}, func() string { return []string{"q001", "q002", "q003"}[i] }, topic.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		change(t, s, events)
	}
	return s
}

func change(t *testing.T, s *topic.State, events []event.Event) {
	t.Helper()
	for i := range events {
		events[i].Seq, events[i].RoomID = s.Seq+1, s.TopicID
		if err := s.Apply(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDebts: who owes an answer, before and after the answer of each agent.
func TestDebts(t *testing.T) {
	for name, test := range map[string]struct {
		by, question string            // who answers what; nobody: ""
		owed         map[string]string // the questions that an agent owes then
	}{
		"nobody has answered":            {"", "", map[string]string{"a:1": "", "b:1": "q001 q002 ", "c:1": "q002 ", "human:x": "q002 q003 "}},
		"the one it is for":              {"b:1", "q001", map[string]string{"b:1": "q002 ", "c:1": "q002 "}},
		"somebody else":                  {"c:1", "q001", map[string]string{"b:1": "q001 q002 ", "c:1": "q002 "}},
		"anybody, where it is for all":   {"c:1", "q002", map[string]string{"b:1": "q001 ", "c:1": "", "human:x": "q003 "}},
		"an agent, where it is a person": {"c:1", "q003", map[string]string{"human:x": "q002 q003 "}},
		"a person, where it is a person": {"human:y", "q003", map[string]string{"human:x": "q002 ", "human:y": "q002 "}},
	} {
		s := asked(t)
		if test.by != "" {
			events, _, err := s.AnswerOne(test.by, test.question, "because", "a1")
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			change(t, s, events)
		}
		for agent, want := range test.owed {
			got := ""
			for _, q := range s.Debts(agent) {
				got += q.ID + " "
			}
			if got != want {
				t.Errorf("%s: %s owes %q, want %q", name, agent, got, want)
			}
		}
		settles := test.by == "b:1" || test.by == "c:1" && test.question == "q002" || test.by == "human:y"
		if events := s.MarkShown("a:1", []string{"q001", "q002", "q003"}, s.Seq); (len(events) == 1) != settles {
			t.Errorf("%s: showing the answers settles %d questions", name, len(events))
		}
		if events := s.MarkShown("a:1", []string{"q001", "q002", "q003"}, s.Seq-1); len(events) != 0 {
			t.Errorf("%s: an answer that was not shown settles them", name)
		}
		if events := s.MarkShown("b:1", []string{"q001", "q002", "q003"}, s.Seq); len(events) != 0 {
			t.Errorf("%s: another agent settles them", name)
		}
	}
}

// TestQuestionRefusals: each refusal of an answer and of a closing.
func TestQuestionRefusals(t *testing.T) {
	s := asked(t)
	answer := func(agent, id string) error {
		events, _, err := s.AnswerOne(agent, id, "because", "a1")
		change(t, s, events)
		return err
	}
	closing := func(agent, id, reason string) error {
		events, _, err := s.CloseOne(agent, agent == "human:x", id, reason)
		change(t, s, events)
		return err
	}
	for i, step := range []struct {
		err  error
		want code.Code
	}{
		{answer("b:1", "q00"), code.UnknownTarget},
		{answer("b:1", "q009"), code.UnknownTarget},
		{answer("b:1", ""), code.UnknownTarget},
		{answer("a:1", "q001"), code.OwnQuestion},
		{answer("b:1", "q001"), ""},
		{answer("b:1", "q001"), code.AlreadyAnswered},
		{closing("c:1", "q001", "why not"), code.UnknownTarget},
		{closing("human:x", "q001", " "), code.ReasonRequired},
		{closing("human:x", "q001", "done"), ""},
		{closing("a:1", "q001", ""), ""},
		{answer("c:1", "q001"), code.QuestionClosed},
		{closing("a:1", "q002", ""), ""},
		{answer("b:1", "q002"), code.QuestionClosed},
	} {
		if got := code.Of(step.err); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
	if got := s.Question("q001").Status; got != topic.Answered {
		t.Errorf("a question with answers was closed as %s", got)
	}
	if got := s.Question("q002").Status; got != topic.Cancelled {
		t.Errorf("a question without answers was closed as %s", got)
	}
}

// TestNamed: the first characters of an id name a question, pending ones before others.
func TestNamed(t *testing.T) {
	s := topic.New("t00000000000")
	change(t, s, topic.CreateNamed(nil, "room", nil))
	for _, id := range []string{"qaaa1", "qaaa2", "qbbb1"} {
		events, _, err := s.Ask("a:1", topic.AskRequest{Question: "why?"}, func() string { return id }, topic.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		change(t, s, events)
	}
	if _, err := s.Named("qaaa"); code.Of(err) != code.AmbiguousTarget {
		t.Errorf("two of a kind: %v", err)
	}
	if q, err := s.Named("qbbb"); err != nil || q.ID != "qbbb1" {
		t.Errorf("one of a kind: %v", err)
	}
	events, _, err := s.CloseOne("a:1", false, "qaaa1", "")
	if err != nil {
		t.Fatal(err)
	}
	change(t, s, events)
	if q, err := s.Named("qaaa"); err != nil || q.ID != "qaaa2" {
		t.Errorf("one of a kind that is pending: %v", err)
	}
}

// TestNewAnswers: the answers to questions of an agent, in the order in which they came.
func TestNewAnswers(t *testing.T) {
	s := asked(t)
	events, _, err := s.AnswerOne("c:1", "q001", "because", "a1")
	if err != nil {
		t.Fatal(err)
	}
	change(t, s, events)
	for _, c := range []struct {
		agent string
		seen  talk.Seen
		want  int
	}{
		{"a:1", talk.Seen{}, 1}, {"c:1", talk.Seen{}, 0}, {"a:1", talk.Seen{AnswersSeq: s.Seq - 1}, 1},
		{"a:1", talk.Seen{AnswersSeq: s.Seq}, 0}, {"a:1", talk.Seen{TopicSeq: s.Seq}, 0},
	} {
		if found := s.NewAnswers(c.agent, &c.seen); len(found) != c.want || c.want == 1 && (found[0].ID != "q001" || found[0].AnsweredBy != "c:1") {
			t.Errorf("%s with %+v: %+v, want %d", c.agent, c.seen, found, c.want)
		}
	}
}

// TestLostTexts: what the journal has lost is said as that, and has no made-up time.
func TestLostTexts(t *testing.T) {
	lost := topic.Lookup(func(seq int64) (*event.Event, error) { return &event.Event{Seq: seq, Type: event.Damaged}, nil })
	q := asked(t).Question("q001")
	if p, err := lost.Pending(q); err != nil || p.Text != topic.LostText {
		t.Errorf("%+v %v", p, err)
	}
	a, err := lost.Answer(topic.AnswerRef{AnsweredBy: "b:1", Seq: 9})
	if err != nil || a.Payload.Markdown != topic.LostText || a.AnsweredBy != "b:1" {
		t.Errorf("%+v %v", a, err)
	}
	if settled, err := lost.Answer(topic.AnswerRef{Seq: 9}); err != nil || settled.AnsweredBy != topic.LostName {
		t.Errorf("%+v %v", settled, err)
	}
	for _, v := range []any{a, a.Shown()} {
		if text, err := json.Marshal(v); err != nil || strings.Contains(string(text), "answered_at") {
			t.Errorf("%s %v", text, err)
		}
	}
}
