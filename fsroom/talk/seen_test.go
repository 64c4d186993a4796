package talk_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/talking-stick/tt/fsroom/talk"
)

// A message that was shown before an older one counts as shown alone, once, and until all up to it were shown.
func TestSeenSingly(t *testing.T) {
	var s talk.Seen
	if !s.IsZero() {
		t.Error("the zero Seen has something")
	}
	s.Advance(talk.Seen{EventSeq: 10, NotesSeq: 40, Singly: []int64{14, 12, 9, 12}})
	s.Advance(talk.Seen{Singly: []int64{13, 12}})
	if want := (talk.Seen{EventSeq: 10, NotesSeq: 40, Singly: []int64{12, 13, 14}}); !reflect.DeepEqual(s, want) {
		t.Errorf("%v, want %v", s, want)
	}
	for seq, want := range map[int64]bool{9: true, 10: true, 11: false, 12: true, 14: true, 15: false} {
		if s.Has(talk.KindMessage, seq) != want {
			t.Errorf("message %d was shown: %t", seq, !want)
		}
	}
	if s.Has(talk.KindJob, 12) || s.Has(talk.KindQuestion, 12) || s.Has(talk.KindAnswer, 12) {
		t.Error("it counts for other kinds")
	}
	s.Advance(talk.Seen{EventSeq: 13})
	if !slices.Equal(s.Singly, []int64{14}) {
		t.Errorf("%v after all up to 13", s.Singly)
	}
	if s = (talk.Seen{Singly: []int64{1}}); s.IsZero() {
		t.Error("a single message is nothing")
	}
	many := talk.Seen{}
	for i := range int64(1000) {
		many.Advance(talk.Seen{Singly: []int64{i + 1}})
	}
	if n := len(many.Singly); n > 200 || !many.Has(talk.KindMessage, 1000) {
		t.Errorf("%d single messages, the newest one is among them: %t", n, many.Has(talk.KindMessage, 1000))
	}
}
