package topic_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/topic/topictest"
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
		equal(t, e.Type, topictest.JSON(s), topictest.JSON(before))
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
		equal(t, eventType, topictest.JSON(s), topictest.JSON(topic.New("t")))
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

// TestATopicBeginsWithItsCreation: another first event is damage, also one of an unknown type.
func TestATopicBeginsWithItsCreation(t *testing.T) {
	for _, kind := range []string{"topic_foreseen", topic.EventAsked} {
		e := newEvent(1, kind, "red", `{"question_id":"q","format":1,"name":"pink"}`)
		if err := topic.New("t").Apply(&e); err == nil {
			t.Errorf("%s begins a topic", kind)
		}
	}
}

// TestClonesAreIndependent: two clones of one state fold different answers.
func TestClonesAreIndependent(t *testing.T) {
	s := topic.New("t")
	events := []event.Event{
		newEvent(1, topic.EventCreated, "", `{"format":1,"name":"pink"}`),
		newEvent(2, topic.EventAsked, "red", `{"question_id":"q"}`),
	}
	for i := range 20 { // at some of these lengths the slice has room to spare
		events = append(events, newEvent(int64(3+i), topic.EventAnswer, fmt.Sprintf("a%d", i), `{"question_id":"q"}`))
	}
	if err := s.Apply(&events[0]); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(events); i++ {
		one, two := s.Clone(), s.Clone()
		e, other := events[i], newEvent(events[i].Seq, topic.EventAnswer, "other", `{"question_id":"q"}`)
		if err := errors.Join(one.Apply(&e), two.Apply(&other), s.Apply(&e)); err != nil {
			t.Fatal(err)
		}
		equal(t, e.From, topictest.JSON(one), topictest.JSON(s))
	}
}

func TestNoTopic(t *testing.T) {
	s, id := topic.New("t"), func() string { return "id" }
	errs := make([]error, 5)
	_, errs[0] = s.Close("", "")
	_, _, errs[1] = s.Ask("red", topic.AskRequest{Question: "?"}, id, topic.DefaultLimits())
	_, errs[2] = s.Cancel("red", "q", "")
	_, errs[3] = s.MarkAnswered("red", "q")
	_, _, errs[4] = s.Answer("red", nil, id)
	for i, err := range errs {
		if code.Of(err) != topic.TopicNotFound {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestTakenIDsAreNotUsed(t *testing.T) {
	w := topictest.New(t)
	id := w.Create(topic.CreateRequest{Name: "pink"}).TopicID
	w.IDs = 0
	first := w.NewID()
	for range 2 {
		ids := []string{first, first, "other"}
		events, question, err := w.Topic(id).State.Ask("red", topic.AskRequest{Question: "?"}, func() string { next := ids[0]; ids = ids[1:]; return next }, w.Limits)
		if err != nil {
			t.Fatal(err)
		}
		w.Commit(id, events)
		first = question
	}
	equal(t, "second", first, "other")
}

// TestStateStaysSmall: texts are not in the state, and a settled question takes
// about a hundred bytes of it.
func TestStateStaysSmall(t *testing.T) {
	w := topictest.New(t)
	id := w.Create(topic.CreateRequest{Name: "pink"}).TopicID
	const questions = 100
	empty := len(topictest.JSON(w.Topic(id).State))
	for range questions {
		events, q, err := w.Topic(id).State.Ask("red", topic.AskRequest{Question: "why?"}, w.NewID, w.Limits)
		if err != nil {
			t.Fatal(err)
		}
		w.Commit(id, events)
		responses := []topic.Response{{QuestionID: q, Payload: topic.Payload{Markdown: strings.Repeat("long ", 200)}}}
		if events, _, err = w.Topic(id).State.Answer("cat", responses, w.NewID); err != nil {
			t.Fatal(err)
		}
		w.Commit(id, events)
		if events, err = w.Topic(id).State.MarkAnswered("red", q); err != nil {
			t.Fatal(err)
		}
		w.Commit(id, events)
	}
	if each := (len(topictest.JSON(w.Topic(id).State)) - empty) / questions; each > 130 {
		t.Errorf("%d bytes for each question", each)
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}
