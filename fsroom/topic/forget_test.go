package topic_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/topic/topictest"
	"github.com/talking-stick/tt/journal/event"
	"pgregory.net/rapid"
)

// A long is the journal of a topic with many questions.
type long struct {
	t      topictest.T
	events []event.Event
}

func (l *long) add(eventType, from, format string, args ...any) {
	l.events = append(l.events, newEvent(int64(len(l.events)+1), eventType, from, fmt.Sprintf(format, args...)))
}

func newLong(t topictest.T) *long {
	l := &long{t: t}
	l.add(topic.EventCreated, "", `{"format":1,"name":"pink","ordinal":1}`)
	return l
}

func (l *long) asks(n int) {
	l.add(topic.EventAsked, "red", `{"question_id":"q%d","question_text":"why?"}`, n)
}

func (l *long) settles(n int, eventType string) {
	l.add(eventType, "red", `{"question_id":"q%d"}`, n)
}

func (l *long) foldInto(s *topic.State) *topic.State {
	for i := range l.events {
		if err := s.Apply(&l.events[i]); err != nil {
			l.t.Fatalf("event %d: %v", i, err)
		}
	}
	return s
}

// TestStateForgetsTheSettled and nothing else: it agrees with the whole history on
// each question that it has, has each that is pending and the last that were
// settled, and counts them all.
func TestStateForgetsTheSettled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLong(t)
		var pending []int
		asked := 0
		for range rapid.IntRange(1, 1200).Draw(t, "events") {
			if len(pending) == 0 || rapid.IntRange(0, 99).Draw(t, "dice") < 45 {
				l.asks(asked)
				pending = append(pending, asked)
				asked++
				continue
			}
			i := rapid.IntRange(0, len(pending)-1).Draw(t, "which")
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				l.add(topic.EventAnswer, "cat", `{"question_id":"q%d"}`, pending[i])
			case 1:
				l.settles(pending[i], topic.EventMarked)
				pending = slices.Delete(pending, i, i+1)
			default:
				l.settles(pending[i], topic.EventCancelled)
				pending = slices.Delete(pending, i, i+1)
			}
		}
		s, all := l.foldInto(topic.New("t")), l.foldInto(topic.NewHistory("t"))
		if s.Counts() != all.Counts() || all.Counts().Total != asked || all.Forgets() || len(all.Questions) != asked {
			t.Fatalf("%v of %d, and the history has %v", s.Counts(), asked, all.Counts())
		}
		var settled []int64 // by which event, oldest first
		for i := range all.Questions {
			q := &all.Questions[i]
			if kept := s.Question(q.ID); kept != nil && topictest.JSON(kept) != topictest.JSON(q) || kept == nil && q.Status == topic.Pending {
				t.Fatalf("%s is %s, and in the history %s", q.ID, topictest.JSON(kept), topictest.JSON(q))
			}
			if q.Status != topic.Pending {
				settled = append(settled, q.SettledBy)
			}
		}
		slices.Sort(settled)
		for i, by := range settled[max(0, len(settled)-topic.KeptSettled):] {
			if !slices.ContainsFunc(s.Questions, func(q topic.Question) bool { return q.SettledBy == by }) {
				t.Fatalf("of the last %d settled, number %d is forgotten", topic.KeptSettled, i)
			}
		}
		if n := len(s.Questions) - s.Counts().Pending; n >= 2*topic.KeptSettled || s.Forgets() != (n < len(settled)) {
			t.Fatalf("%d settled questions are kept of %d; it forgets: %v", n, len(settled), s.Forgets())
		}
		if !slices.IsSortedFunc(s.Questions, func(a, b topic.Question) int { return int(a.Seq - b.Seq) }) {
			t.Fatal("not in the order in which they were asked")
		}
	})
}

// TestHistoryAcrossALoss: where events are lost, the history keeps the questions that it had.
func TestHistoryAcrossALoss(t *testing.T) {
	l := newLong(t)
	for n := range 3 * topic.KeptSettled {
		l.asks(n)
		l.settles(n, topic.EventMarked)
	}
	known := l.foldInto(topic.New("t"))
	l.add(event.JournalDamaged, "", `{"lost_from":9,"lost_to":9,"state":%s}`, topictest.JSON(known))
	s := l.foldInto(topic.NewHistory("elsewhere"))
	if s.TopicID != "elsewhere" {
		t.Errorf("topic %s", s.TopicID)
	}
	for n := range 3 * topic.KeptSettled {
		if s.Question(fmt.Sprint("q", n)) == nil {
			t.Fatalf("question %d is gone", n)
		}
	}
	if known.Forgotten == 0 || s.Forgotten != 0 || s.Counts() != known.Counts() {
		t.Errorf("%d forgotten, %d by the history; %+v, %+v", known.Forgotten, s.Forgotten, known.Counts(), s.Counts())
	}
}

// TestSettledQuestionsCostNothing, however many questions were settled.
func TestSettledQuestionsCostNothing(t *testing.T) {
	size := func(questions int) int {
		l := newLong(t)
		for n := range questions {
			l.asks(n)
			l.settles(n, topic.EventMarked)
		}
		return len(topictest.JSON(l.foldInto(topic.New("t"))))
	}
	if few, many := size(2*topic.KeptSettled), size(20*topic.KeptSettled); many > 2*few {
		t.Errorf("%d bytes of state after %d questions, %d after %d", few, 2*topic.KeptSettled, many, 20*topic.KeptSettled)
	}
}

// BenchmarkFold: the time for one question does not grow with their number.
func BenchmarkFold(b *testing.B) {
	for _, pending := range []bool{false, true} {
		for _, questions := range []int{1_000, 10_000, 40_000} {
			l := newLong(b)
			for n := range questions {
				l.asks(n)
				if !pending {
					l.settles(n, topic.EventMarked)
				}
			}
			b.Run(fmt.Sprintf("pending=%v/questions=%d", pending, questions), func(b *testing.B) {
				for b.Loop() {
					l.foldInto(topic.New("t"))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(questions), "ns/question")
			})
		}
	}
}
