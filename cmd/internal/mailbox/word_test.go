package mailbox

import (
	"slices"
	"strings"
	"testing"
)

// TestShowing: of each kind what was shown ends with the first word that was not, and questions end
// with answers.
func TestShowing(t *testing.T) {
	in := &Inbox{answered: []string{"q1", "q2"}}
	add := func(kind, id string, set func(*Cursor)) { set(in.add(Word{Kind: kind, ID: id})) }
	add(WordMessage, "m1", func(c *Cursor) { c.EventSeq, c.Read = 3, 1 })
	add(WordMessage, "m2", func(c *Cursor) { c.EventSeq, c.Read = 5, 2 })
	add(WordPage, "p1", func(c *Cursor) { c.PagesSeq = 4 })
	add(WordNote, "n1", func(c *Cursor) { c.NotesSeq = 2 })
	add(WordNote, "n2", func(c *Cursor) { c.NotesSeq = 6 })
	add(WordAnswer, "q1", func(c *Cursor) { c.TopicID = "t" })
	add(WordAnswer, "q2", func(c *Cursor) { c.TopicID, c.AnswersSeq = "t", 9 })
	add(WordAnswer, "q2", func(c *Cursor) { c.TopicID, c.AnswersSeq = "t", 9 })
	add(WordQuestion, "q3", func(c *Cursor) { c.TopicID, c.TopicSeq, c.AnswersSeq = "t", 9, 9 })
	add(WordJob, "", func(c *Cursor) { c.Jobs = 1 })
	whole := Cursor{EventSeq: 5, Read: 2, PagesSeq: 4, NotesSeq: 6, TopicID: "t", TopicSeq: 9, AnswersSeq: 9, Jobs: 1}
	with := func(change func(*Cursor)) Cursor { c := whole; change(&c); return c }
	for _, c := range []struct {
		without  string // the words that are not shown
		want     Cursor
		answered string
		rest     int
	}{
		{"", whole, "q1 q2", 0},
		{"m1", with(func(c *Cursor) { c.EventSeq, c.Read = 0, 0 }), "q1 q2", 2},
		{"m2", with(func(c *Cursor) { c.EventSeq, c.Read = 3, 1 }), "q1 q2", 1},
		{"p1", with(func(c *Cursor) { c.PagesSeq = 0 }), "q1 q2", 1},
		{"n1", with(func(c *Cursor) { c.NotesSeq = 0 }), "q1 q2", 2},
		{"q1", with(func(c *Cursor) { c.TopicID, c.TopicSeq, c.AnswersSeq = "", 0, 0 }), "", 4},
		{"q2", with(func(c *Cursor) { c.TopicSeq, c.AnswersSeq = 0, 0 }), "q1", 3},
		{"q3", with(func(c *Cursor) { c.TopicSeq = 0 }), "q1 q2", 1},
	} {
		shown, answered, rest := in.showing(func(w *Word) bool { return w.ID == "" || !slices.Contains(strings.Fields(c.without), w.ID) })
		if shown != c.want || strings.Join(answered, " ") != c.answered || rest != c.rest {
			t.Errorf("without %q: %+v, %v, %d, want %+v, %s, %d", c.without, shown, answered, rest, c.want, c.answered, c.rest)
		}
	}
}
