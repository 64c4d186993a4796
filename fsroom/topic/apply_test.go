package topic_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func newEvent(seq int64, eventType, from, payload string) event.Event {
	return event.Event{Seq: seq, RoomID: "t", Type: eventType, From: from, Payload: []byte(payload)}
}

// TestApplyWhatDoesNotFit: such events count and change nothing else.
func TestApplyWhatDoesNotFit(t *testing.T) {
	s := topic.New("t")
	for _, e := range []event.Event{
		newEvent(1, topic.EventCreated, "", `{"format":1,"name":"pink","ordinal":1,"colour":"of a newer version"}`),
		newEvent(2, topic.EventAsked, "red", `{"question_id":"q","question_text":"?"}`),
		newEvent(3, topic.EventAnswer, "cat", `{"question_id":"q"}`),
	} {
		if err := s.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	before := *s.Clone()
	for i, e := range []event.Event{
		newEvent(0, "of_a_newer_version", "red", `[1]`),
		newEvent(0, "of_a_newer_version", "", ``),
		newEvent(0, topic.EventCreated, "", `{"format":1,"name":"blue"}`),
		newEvent(0, topic.EventAsked, "cat", `{"question_id":"q","question_text":"again"}`),
		newEvent(0, topic.EventAnswer, "cat", `{"question_id":"q"}`),
		newEvent(0, topic.EventAnswer, "red", `{"question_id":"q"}`),
		newEvent(0, topic.EventAnswer, "owl", `{"question_id":"none"}`),
		newEvent(0, topic.EventCancelled, "red", `{"question_id":"none"}`),
	} {
		e.Seq = int64(4 + i)
		if err := s.Apply(&e); err != nil {
			t.Errorf("%s: %v", e.Type, err)
		}
		before.Seq = e.Seq
		equal(t, e.Type, mustJSON(s), mustJSON(before))
	}
}

// TestApplyWhatDoesNotRead: the event is refused and the state left as it was.
func TestApplyWhatDoesNotRead(t *testing.T) {
	for _, eventType := range []string{topic.EventCreated, topic.EventAsked, topic.EventAnswer, topic.EventCancelled, topic.EventMarked} {
		s := topic.New("t")
		e := newEvent(1, eventType, "red", `{"question_id":1,"format":""}`)
		if err := s.Apply(&e); err == nil {
			t.Errorf("%s was taken", eventType)
		}
		equal(t, eventType, mustJSON(s), mustJSON(topic.New("t")))
	}
}

func TestApplyKeepsNoBuffer(t *testing.T) {
	e := newEvent(1, topic.EventCreated, "", `{"format":1,"name":"pink","metadata":{"a":1}}`)
	s := topic.New("t")
	if err := s.Apply(&e); err != nil {
		t.Fatal(err)
	}
	for i := range e.Payload {
		e.Payload[i] = 'x'
	}
	equal(t, "metadata", string(s.Metadata), `{"a":1}`)
}

// TestClonesAreIndependent: two clones of one state fold different answers.
func TestClonesAreIndependent(t *testing.T) {
	s := topic.New("t")
	events := []event.Event{
		newEvent(1, topic.EventCreated, "", `{"format":1,"name":"pink"}`),
		newEvent(2, topic.EventAsked, "red", `{"question_id":"q"}`),
	}
	for i := range 20 { // at some of these lengths the slice has room to spare
		events = append(events, newEvent(int64(3+i), topic.EventAnswer, f("a%d", i), `{"question_id":"q"}`))
	}
	for i := range events {
		one, two := s.Clone(), s.Clone()
		e, other := events[i], newEvent(events[i].Seq, topic.EventAnswer, "other", `{"question_id":"q"}`)
		if err := errors.Join(one.Apply(&e), two.Apply(&other), s.Apply(&e)); err != nil {
			t.Fatal(err)
		}
		equal(t, e.From, mustJSON(one), mustJSON(s))
	}
}

func TestNoTopic(t *testing.T) {
	s, id := topic.New("t"), func() string { return "id" }
	l := limitsWith(t, nil)
	errs := make([]error, 7)
	_, _, errs[0] = s.Close("", "")
	_, _, errs[1] = s.Ask("red", topic.AskRequest{Question: "?"}, id, l)
	_, _, errs[2] = s.Cancel("red", "q", "")
	_, _, errs[3] = s.MarkAnswered("red", "q")
	_, _, errs[4] = s.Answer("red", nil, id)
	_, errs[5] = s.Poll("q", 0, nil)
	_, errs[6] = s.PendingList("red", topic.PendingRequest{Limit: 1}, nil)
	for i, err := range errs {
		if code.Of(err) != topic.TopicNotFound {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestTakenIDsAreNotUsed(t *testing.T) {
	w := newWorld(t)
	id := w.made("pink")
	w.ids = 0
	first := w.newID()
	for range 2 {
		ids := []string{first, first, "other"}
		events, question, err := w.topic(id).state.Ask("red", topic.AskRequest{Question: "?"}, func() string { next := ids[0]; ids = ids[1:]; return next }, w.limits)
		if err != nil {
			t.Fatal(err)
		}
		w.commit(id, events)
		first = question
	}
	equal(t, "second", first, "other")
}

// TestStateStaysSmall: texts are not in the state, and a question that is done
// with costs about a hundred bytes.
func TestStateStaysSmall(t *testing.T) {
	play(t, []scenario{{"size", func(t *testing.T, s *stage) {
		const questions = 100
		empty := len(mustJSON(s.topic(s.id).state))
		for range questions {
			q := s.asks("A")
			s.ok("B", "answer", f(`{"topic_id":%q,"responses":[{"question_id":%q,"answer_markdown":%q,"suggested_followups":["x"]}]}`,
				s.id, q, fmt.Sprintf("%01000d", 1)))
			s.ok("A", "question_mark_answered", s.on(q))
		}
		if each := (len(mustJSON(s.topic(s.id).state)) - empty) / questions; each > 130 {
			t.Errorf("%d bytes for each question", each)
		}
	}}})
}
