package talk_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/wire"
)

// notesOf returns notes, oldest first, each "author" or "author>target".
func notesOf(list ...string) (notes []talk.Note) {
	for i, by := range list {
		by, page := strings.CutSuffix(by, "!")
		author, target, _ := strings.Cut(by, ">")
		n := talk.Note{ID: fmt.Sprint("n", i+1), Seq: int64(10 * (i + 1)), Author: author, Target: target, Severity: talk.SeverityInfo}
		if page {
			n.Severity = talk.SeverityPage
		}
		notes = append(notes, n)
	}
	return notes
}

func TestUnreadNotes(t *testing.T) {
	for _, c := range []struct {
		name  string
		notes []string
		seen  talk.Seen
		want  int64
		pages int64
	}{
		{"none", nil, talk.Seen{}, 0, 0},
		{"by another", []string{"b"}, talk.Seen{}, 1, 0},
		{"one's own", []string{"a", "a>b", "a!"}, talk.Seen{}, 0, 0},
		{"for the agent", []string{"b>a"}, talk.Seen{}, 1, 0},
		{"for another", []string{"b>c", "b", "b>c!"}, talk.Seen{}, 1, 0},
		{"seen", []string{"b", "b", "b"}, talk.Seen{NotesSeq: 20}, 1, 0},
		{"all seen", []string{"b", "b"}, talk.Seen{NotesSeq: 20}, 0, 0},
		{"a page is counted apart", []string{"b", "b!", "b>a!"}, talk.Seen{}, 1, 2},
		{"a page after notes that were seen", []string{"b", "b!", "b"}, talk.Seen{NotesSeq: 30}, 0, 1},
		{"a page before notes that were not", []string{"b", "b!", "b"}, talk.Seen{PagesSeq: 20}, 2, 0},
	} {
		var u talk.Unread
		notes, fresh := talk.NotesFor(notesOf(c.notes...), "a", &c.seen)
		for _, n := range notes[:fresh] {
			*u.Of(n.Kind())++
		}
		if u != (talk.Unread{Notes: c.want, Pages: c.pages}) {
			t.Errorf("%s: %+v, want %d and %d", c.name, u, c.want, c.pages)
		}
	}
}

// The seen notes end before the first one for the agent that was not shown.
func TestNotesSeen(t *testing.T) {
	for _, c := range []struct {
		name  string
		notes []string
		seen  talk.Seen
		shown []int64
		want  talk.Seen
	}{
		{"nothing shown", []string{"b"}, talk.Seen{}, nil, talk.Seen{}},
		{"all shown", []string{"b", "b"}, talk.Seen{}, []int64{10, 20}, talk.Seen{NotesSeq: 20}},
		{"the first is missing", []string{"b", "b"}, talk.Seen{}, []int64{20}, talk.Seen{}},
		{"one in the middle is missing", []string{"b", "b", "b"}, talk.Seen{}, []int64{10, 30}, talk.Seen{NotesSeq: 10}},
		{"one of another agent is missing", []string{"b", "b>c", "a", "b"}, talk.Seen{}, []int64{10, 40}, talk.Seen{NotesSeq: 40}},
		{"already seen ones are missing", []string{"b", "b"}, talk.Seen{NotesSeq: 10}, []int64{20}, talk.Seen{NotesSeq: 20}},
		{"never backwards", []string{"b"}, talk.Seen{NotesSeq: 50}, []int64{10}, talk.Seen{NotesSeq: 50}},
		{"a page alone", []string{"b", "b!", "b"}, talk.Seen{}, []int64{20}, talk.Seen{PagesSeq: 20}},
		{"a page is missing", []string{"b", "b!", "b"}, talk.Seen{}, []int64{10, 30}, talk.Seen{NotesSeq: 30}},
		{"one of two pages", []string{"b!", "b", "b!"}, talk.Seen{}, []int64{20, 30}, talk.Seen{NotesSeq: 20}},
	} {
		got := c.seen
		var words []talk.Word
		notes, fresh := talk.NotesFor(notesOf(c.notes...), "a", &c.seen)
		for _, n := range notes[:fresh] {
			words = append(words, n.Word(""))
		}
		got.Pass(words, func(w *talk.Word) bool { return slices.Contains(c.shown, w.Seq) })
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Pages come before others, and what was not shown before what was. No more than five are
// shown.
func TestBriefNotes(t *testing.T) {
	for _, c := range []struct {
		name  string
		notes []string
		seen  talk.Seen
		want  []string
	}{
		{"none", nil, talk.Seen{}, nil},
		{"unread, then the oldest", []string{"b", "a", "b>c", "b"}, talk.Seen{NotesSeq: 10}, []string{"n4", "n1", "n2", "n3"}},
		{"the oldest unread ones", []string{"b", "b", "b", "b", "b", "b", "b"}, talk.Seen{NotesSeq: 10}, []string{"n2", "n3", "n4", "n5", "n6"}},
		{"all seen", []string{"b", "b", "b", "b", "b", "b"}, talk.Seen{NotesSeq: 60}, []string{"n1", "n2", "n3", "n4", "n5"}},
		{"a new page of many", []string{"b", "b", "b", "b", "b", "b", "b!"}, talk.Seen{}, []string{"n7", "n1", "n2", "n3", "n4"}},
		{"a page that was seen", []string{"b", "b!", "b"}, talk.Seen{PagesSeq: 20}, []string{"n2", "n1", "n3"}},
	} {
		var got []string
		for _, n := range talk.BriefNotes(notesOf(c.notes...), "a", &c.seen) {
			got = append(got, n.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFitNotes(t *testing.T) {
	long, id := strings.Repeat("x", talk.MaxNote), strings.Repeat("\"", 128)
	for _, c := range []struct {
		name   string
		author string
		bodies []string
		want   int // notes
		cut    int
	}{
		{"none", "b", nil, 0, 0},
		{"short ones", "b", []string{"1", "2", "3", "4", "5"}, 5, 0},
		{"one that is too long", "b", []string{long}, 1, 1},
		{"a long one takes what short ones leave", "b", []string{"1", strings.Repeat("x", 1500), "3"}, 3, 0},
		{"all too long", "b", []string{long, long, long, long, long}, 5, 5},
		{"escapes", "b", []string{strings.Repeat("\x1b\"", 3000), strings.Repeat("\u2028é", 2000)}, 2, 2},
		{"long ids", id, []string{long, long, long, long, long}, 2, 2},
	} {
		var notes []talk.BriefNote
		for i, body := range c.bodies {
			n := talk.Note{ID: "316a7b6f-9f02-4d27-ac77-a2e3ab99078d", Seq: int64(100 - i), Author: c.author, Target: c.author, Severity: talk.SeverityInfo}
			notes = append(notes, talk.BriefNote{ID: n.ID, Author: n.Author, Target: n.Target, Severity: n.Severity, Body: body})
		}
		fitted := talk.FitNotes(notes)
		if size := len(wire.Append(nil, fitted)); size > 2048 {
			t.Errorf("%s: %d bytes", c.name, size)
		}
		cut := 0
		for i, n := range fitted {
			if n.Seq != notes[i].Seq {
				t.Errorf("%s: in another order", c.name)
			}
			if n.Truncated {
				cut++
			}
			if n.Truncated != strings.HasSuffix(n.Body, "…") || !utf8.ValidString(n.Body) {
				t.Errorf("%s: truncated is %v for %q", c.name, n.Truncated, n.Body)
			}
		}
		if len(fitted) != c.want || cut != c.cut {
			t.Errorf("%s: %d notes, %d of them cut, want %d and %d", c.name, len(fitted), cut, c.want, c.cut)
		}
	}
}

// Of each kind what was shown ends with the first word that was not, and questions end with answers.
func TestPass(t *testing.T) {
	words := []talk.Word{
		{Kind: talk.KindMessage, ID: "m1", Seq: 3}, {Kind: talk.KindMessage, ID: "m2", Seq: 5}, {Kind: talk.KindPage, ID: "p1", Seq: 4},
		{Kind: talk.KindNote, ID: "n1", Seq: 2}, {Kind: talk.KindNote, ID: "n2", Seq: 6}, {Kind: talk.KindAnswer, ID: "q1", Seq: 7},
		{Kind: talk.KindAnswer, ID: "q2", Seq: 8}, {Kind: talk.KindQuestion, ID: "q3", Seq: 9}, {Kind: talk.KindJob, ID: "17", Seq: 1},
	}
	whole := talk.Seen{EventSeq: 5, PagesSeq: 4, NotesSeq: 6, TopicSeq: 9, AnswersSeq: 8, JobsSeq: 1}
	with := func(change func(*talk.Seen)) talk.Seen { s := whole; change(&s); return s }
	for _, c := range []struct {
		without, left string // the words that are not shown, and those that count as not shown
		want          talk.Seen
	}{
		{"", "", whole},
		{"m1", "m1 m2", with(func(s *talk.Seen) { s.EventSeq = 0 })},
		{"m2", "m2", with(func(s *talk.Seen) { s.EventSeq = 3 })},
		{"p1", "p1", with(func(s *talk.Seen) { s.PagesSeq = 0 })},
		{"n1", "n1 n2", with(func(s *talk.Seen) { s.NotesSeq = 0 })},
		{"q1", "q1 q2 q3", with(func(s *talk.Seen) { s.TopicSeq, s.AnswersSeq = 0, 0 })},
		{"q2", "q2 q3", with(func(s *talk.Seen) { s.TopicSeq, s.AnswersSeq = 0, 7 })},
		{"q3", "q3", with(func(s *talk.Seen) { s.TopicSeq = 0 })},
		{"17", "17", with(func(s *talk.Seen) { s.JobsSeq = 0 })},
	} {
		var got talk.Seen
		var left []string
		for _, w := range got.Pass(words, func(w *talk.Word) bool { return !slices.Contains(strings.Fields(c.without), w.ID) }) {
			left = append(left, w.ID)
		}
		if !reflect.DeepEqual(got, c.want) || strings.Join(left, " ") != c.left {
			t.Errorf("without %q: %+v, left %v, want %+v and %q", c.without, got, left, c.want, c.left)
		}
	}
}
