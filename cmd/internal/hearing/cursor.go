package hearing

import (
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// A Cursor says what an agent was shown of a room and of the room's questions, and what
// it was woken for. It is no part of the room's history: to lose it shows things again.
type Cursor struct {
	JoinedAt   event.Time // of the membership it counts in
	EventSeq   int64      // all messages up to this event of the room were shown; 0: none yet
	Read       int64      // the number of these messages
	NotesSeq   int64      // all notes up to this event of the room were shown, but the pages
	PagesSeq   int64      // all notes of severity page up to this event of the room were shown
	TurnSeq    int64      // what became of the turn up to this event of the room was shown, without a command of the agent
	TopicSeq   int64      // all questions and answers up to this event of the topic were shown
	AnswersSeq int64      // all answers up to this event of the topic were shown; at least TopicSeq
	TopicID    string     // the topic that these two count in
	Shown      Shown
	Woken      Woken
	Jobs       int64 // of so many jobs the end was shown
}

// A Shown says when the agent was last shown something, and how.
type Shown struct {
	At  event.Time
	How string // what showed it, "" for [ShownByCommand]
}

// A Woken says up to which events the agent was woken for, and has not been shown yet.
type Woken struct {
	EventSeq int64      // of the room
	From     int64      // up to which event of the room it was woken for before
	TopicSeq int64      // of the topic
	At       event.Time // of the last try
	How      string     // what woke it
	Tries    int        // how often, for these events
}

// ShownByCommand is the [Shown.How] of what a command printed.
const ShownByCommand = "command"

// Fields implements [wire.Fields].
func (c *Cursor) Fields(codec *wire.Codec) {
	codec.Time("joined_at", &c.JoinedAt)
	codec.Int("event_seq", &c.EventSeq)
	codec.Int("topic_seq", &c.TopicSeq)
	codec.OptObject("shown", &c.Shown, c.Shown == Shown{})
	codec.OptObject("woken", &c.Woken, c.Woken == Woken{})
	codec.Int("read", &c.Read)
	codec.OptInt("notes_event_seq", &c.NotesSeq)
	codec.OptInt("pages_event_seq", &c.PagesSeq)
	codec.OptInt("turn_event_seq", &c.TurnSeq)
	codec.OptText("topic_id", &c.TopicID)
	codec.OptInt("answers_topic_seq", &c.AnswersSeq)
	codec.OptInt("jobs", &c.Jobs)
}

// Fields implements [wire.Fields].
func (s *Shown) Fields(c *wire.Codec) {
	c.Time("at", &s.At)
	c.OptText("how", &s.How)
}

// Fields implements [wire.Fields].
func (w *Woken) Fields(c *wire.Codec) {
	c.Int("event_seq", &w.EventSeq)
	c.OptInt("from_event_seq", &w.From)
	c.OptInt("topic_seq", &w.TopicSeq)
	c.Time("at", &w.At)
	c.OptText("how", &w.How)
	c.Num("tries", &w.Tries)
}

// Advance moves the cursor over what b has in addition. No part of it goes back, and
// what b leaves zero stays. It reports whether anything has changed.
func (c *Cursor) Advance(b Cursor) bool {
	was := *c
	if !c.JoinedAt.Equal(b.JoinedAt.Time) { // of another membership
		if c.JoinedAt.After(b.JoinedAt.Time) {
			return false
		}
		*c = Cursor{JoinedAt: b.JoinedAt}
	}
	if b.TopicID != "" && b.TopicID != c.TopicID {
		c.TopicID, c.TopicSeq, c.AnswersSeq, c.Woken.TopicSeq = b.TopicID, 0, 0, 0
	}
	if b.EventSeq > c.EventSeq {
		c.EventSeq, c.Read = b.EventSeq, b.Read
	}
	c.NotesSeq = max(c.NotesSeq, b.NotesSeq)
	c.PagesSeq = max(c.PagesSeq, b.PagesSeq)
	c.TurnSeq = max(c.TurnSeq, b.TurnSeq)
	c.TopicSeq = max(c.TopicSeq, b.TopicSeq)
	c.AnswersSeq = max(c.AnswersSeq, b.AnswersSeq)
	c.Jobs = max(c.Jobs, b.Jobs)
	if b.Shown.At.After(c.Shown.At.Time) {
		c.Shown = b.Shown
	}
	c.Woken.advance(b.Woken)
	return *c != was
}

// advance is the part of [Cursor.Advance] for w. Another try for the same events is an
// advance.
func (w *Woken) advance(b Woken) {
	event, topic := max(w.EventSeq, b.EventSeq), max(w.TopicSeq, b.TopicSeq)
	if event > w.EventSeq || topic > w.TopicSeq || b.Tries > w.Tries && event == b.EventSeq && topic == b.TopicSeq {
		b.From = w.From
		if event > w.EventSeq {
			b.From = w.EventSeq
		}
		*w = b
		w.EventSeq, w.TopicSeq = event, topic
	}
}

// Notes returns which notes were shown.
func (c *Cursor) Notes() turn.SeenNotes { return turn.SeenNotes{Notes: c.NotesSeq, Pages: c.PagesSeq} }

// TopicSeen returns what was shown of a topic.
func (c *Cursor) TopicSeen(id string) topic.Seen {
	if c.TopicID != id {
		return topic.Seen{}
	}
	return topic.Seen{Questions: c.TopicSeq, Answers: max(c.TopicSeq, c.AnswersSeq)}
}

// ReadCursor returns the stored cursor of a member, an empty one if none was stored in the
// membership that began at the time. a is the member's directory in the room.
func ReadCursor(a fsroom.Agent, joined event.Time) (c Cursor) {
	if a.Read(CursorFile, &c) && c.JoinedAt.Equal(joined.Time) {
		return c
	}
	return Cursor{JoinedAt: joined}
}
