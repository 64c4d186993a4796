package hearing

import (
	"reflect"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
	"pgregory.net/rapid"
)

func at(seconds int64) event.Time { return event.NewTime(time.Unix(seconds, 0)) }

// TestCursorAdvance: each part of a cursor is set only if it is further.
func TestCursorAdvance(t *testing.T) {
	base := Cursor{
		JoinedAt: at(1), Seen: talk.Seen{EventSeq: 10, NotesSeq: 8, Topic: "t1", TopicSeq: 5},
		Shown: Shown{at(20), "command"}, Woken: Woken{EventSeq: 12, TopicSeq: 6, At: at(21), How: "exec", Tries: 1},
	}
	with := func(change func(*Cursor)) Cursor { c := base; change(&c); return c }
	for name, test := range map[string]struct{ b, want Cursor }{
		"nothing":            {Cursor{JoinedAt: at(1)}, base},
		"itself":             {base, base},
		"messages":           {Cursor{JoinedAt: at(1), Seen: talk.Seen{EventSeq: 11}}, with(func(c *Cursor) { c.EventSeq = 11 })},
		"older messages":     {Cursor{JoinedAt: at(1), Seen: talk.Seen{EventSeq: 9, NotesSeq: 7, TopicSeq: 4}}, base},
		"notes":              {Cursor{JoinedAt: at(1), Seen: talk.Seen{NotesSeq: 9}}, with(func(c *Cursor) { c.NotesSeq = 9 })},
		"questions":          {Cursor{JoinedAt: at(1), Seen: talk.Seen{Topic: "t1", TopicSeq: 7}}, with(func(c *Cursor) { c.TopicSeq = 7 })},
		"another topic":      {Cursor{JoinedAt: at(1), Seen: talk.Seen{Topic: "t2", TopicSeq: 1}}, with(func(c *Cursor) { c.Topic, c.TopicSeq, c.Woken.TopicSeq = "t2", 1, 0 })},
		"shown later":        {Cursor{JoinedAt: at(1), Shown: Shown{at(30), "hook"}}, with(func(c *Cursor) { c.Shown = Shown{at(30), "hook"} })},
		"shown earlier":      {Cursor{JoinedAt: at(1), Shown: Shown{at(10), "hook"}}, base},
		"woken for more":     {Cursor{JoinedAt: at(1), Woken: Woken{EventSeq: 13, At: at(22), Tries: 1}}, with(func(c *Cursor) { c.Woken = Woken{EventSeq: 13, From: 12, TopicSeq: 6, At: at(22), Tries: 1} })},
		"woken again":        {Cursor{JoinedAt: at(1), Woken: Woken{EventSeq: 12, TopicSeq: 6, At: at(22), Tries: 2}}, with(func(c *Cursor) { c.Woken = Woken{EventSeq: 12, TopicSeq: 6, At: at(22), Tries: 2} })},
		"woken for less":     {Cursor{JoinedAt: at(1), Woken: Woken{EventSeq: 11, TopicSeq: 6, At: at(22), Tries: 9}}, base},
		"joined again":       {Cursor{JoinedAt: at(2), Seen: talk.Seen{EventSeq: 1}}, Cursor{JoinedAt: at(2), Seen: talk.Seen{EventSeq: 1, Topic: "t1", AnswersSeq: 5}}},
		"before it rejoined": {Cursor{JoinedAt: at(0), Seen: talk.Seen{EventSeq: 99}}, base},
	} {
		got := base
		if got.Advance(test.b); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// TestCursorNeverGoesBack, whatever is stored in whatever order.
func TestCursorNeverGoesBack(t *testing.T) {
	number := rapid.Int64Range(0, 9)
	cursors := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Cursor {
		return Cursor{
			JoinedAt: at(1), Seen: talk.Seen{EventSeq: number.Draw(t, "event_seq"), NotesSeq: number.Draw(t, "notes"), TopicSeq: number.Draw(t, "topic")},
			Shown: Shown{At: at(number.Draw(t, "shown"))}, Woken: Woken{EventSeq: number.Draw(t, "woken"), TopicSeq: number.Draw(t, "woken topic"), Tries: 1},
		}
	}))
	rapid.Check(t, func(t *rapid.T) {
		c := Cursor{JoinedAt: at(1)}
		for _, b := range cursors.Draw(t, "cursors") {
			was := c
			c.Advance(b)
			if c.EventSeq != max(was.EventSeq, b.EventSeq) || c.NotesSeq != max(was.NotesSeq, b.NotesSeq) || c.TopicSeq != max(was.TopicSeq, b.TopicSeq) ||
				c.Shown.At.Before(was.Shown.At.Time) || c.Woken.EventSeq != max(was.Woken.EventSeq, b.Woken.EventSeq) || c.Woken.TopicSeq != max(was.Woken.TopicSeq, b.Woken.TopicSeq) {
				t.Fatalf("%+v and %+v make %+v", was, b, c)
			}
		}
	})
}

// TestCursorForm: the file has the documented form.
func TestCursorForm(t *testing.T) {
	c := Cursor{JoinedAt: at(0), Seen: talk.Seen{EventSeq: 31}, Shown: Shown{at(1), "hook"}, Woken: Woken{EventSeq: 31, At: at(2), How: "codex-queue", Tries: 1}}
	const want = `{"joined_at":"1970-01-01T00:00:00.000Z","event_seq":31,"topic_seq":0,"shown":{"at":"1970-01-01T00:00:01.000Z","how":"hook"},` +
		`"woken":{"event_seq":31,"at":"1970-01-01T00:00:02.000Z","how":"codex-queue","tries":1}}`
	if got := string(wire.Append(nil, &c)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
