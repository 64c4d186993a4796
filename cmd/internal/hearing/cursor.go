package hearing

import (
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A Cursor says what an agent was shown of a room and of the room's questions, and what
// it was woken for. It is no part of the room's history: to lose it shows things again.
type Cursor struct {
	JoinedAt event.Time `json:"joined_at"` // of the membership it counts in
	talk.Seen
	Shown   Shown `json:"shown,omitzero"`
	Woken   Woken `json:"woken,omitzero"`
	TurnSeq int64 `json:"turn_event_seq,omitempty"` // what became of the turn up to this event of the room was shown, without a command of the agent

	Last      fsroom.Mark `json:"last,omitzero"`       // the last event of the room that the cursor counts up to
	TopicLast fsroom.Mark `json:"topic_last,omitzero"` // of the topic
}

// A Shown says when the agent was last shown something, and how.
type Shown struct {
	At  event.Time `json:"at"`
	How string     `json:"how,omitempty"` // what showed it, "" for [ShownByCommand]
}

// A Woken says up to which events the agent was woken for, and has not been shown yet.
type Woken struct {
	EventSeq int64      `json:"event_seq"`                // of the room
	From     int64      `json:"from_event_seq,omitempty"` // up to which event of the room it was woken for before
	TopicSeq int64      `json:"topic_seq,omitempty"`      // of the topic
	At       event.Time `json:"at"`                       // of the last try
	How      string     `json:"how,omitempty"`            // what woke it
	Tries    int        `json:"tries"`                    // how often, for these events
}

// ShownByCommand is the [Shown.How] of what a command printed.
const ShownByCommand = "command"

// On makes the cursor one of a life of a topic: what was shown of another one does not count.
func (c *Cursor) On(life string) {
	if c.Topic != life {
		c.Topic, c.TopicSeq, c.AnswersSeq, c.Woken.TopicSeq, c.TopicLast = life, 0, 0, 0, fsroom.Mark{}
	}
}

// Advance moves the cursor over what b has in addition. No part of it goes back, and what b leaves zero stays.
func (c *Cursor) Advance(b Cursor) {
	if c.JoinedAt.After(b.JoinedAt.Time) { // of a later membership
		return
	}
	*c = c.in(b.JoinedAt)
	if b.Topic != "" {
		c.On(b.Topic)
	}
	c.Seen.Advance(b.Seen)
	c.TurnSeq = max(c.TurnSeq, b.TurnSeq)
	for last, next := range map[*fsroom.Mark]fsroom.Mark{&c.Last: b.Last, &c.TopicLast: b.TopicLast} {
		if next.Seq > last.Seq {
			*last = next
		}
	}
	if b.Shown.At.After(c.Shown.At.Time) {
		c.Shown = b.Shown
	}
	c.Woken.advance(b.Woken)
}

// advance is the part of [Cursor.Advance] for w. Another try for the same events is an advance.
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

// in returns the cursor in the membership that began at the time. One of an earlier membership says which answers were
// shown, and nothing else: the questions that the agent has asked outlive its memberships.
func (c *Cursor) in(joined event.Time) Cursor {
	if c.JoinedAt.Equal(joined.Time) {
		return *c
	}
	next := Cursor{JoinedAt: joined}
	if c.JoinedAt.Before(joined.Time) {
		next.Topic, next.AnswersSeq, next.TopicLast = c.Topic, max(c.AnswersSeq, c.TopicSeq), c.TopicLast
	}
	return next
}

// ReadCursor returns the stored cursor of a member, an empty one if none was stored, in the
// membership that began at the time. a is the member's directory in the room.
func ReadCursor(a fsroom.Agent, joined event.Time) (c Cursor) {
	a.Read(CursorFile, &c)
	return c.in(joined)
}

// Fit takes the cursor back to what the journals of the room and of its topic have in common with those in which it
// counts: what was shown is shown again, and nothing new is hidden. It records the last events that the cursor counts up to.
func (c *Cursor) Fit(r *fsroom.Room[*turn.State], t *fsroom.Room[*topic.State]) {
	newest := slices.Max(append([]int64{0}, c.Singly...))
	fit(r, &c.Last, &newest, &c.EventSeq, &c.NotesSeq, &c.PagesSeq, &c.JobsSeq, &c.TurnSeq, &c.Woken.EventSeq, &c.Woken.From)
	c.Singly = slices.DeleteFunc(slices.Clone(c.Singly), func(seq int64) bool { return seq > c.Last.Seq })
	fit(t, &c.TopicLast, &c.TopicSeq, &c.AnswersSeq, &c.Woken.TopicSeq)
}

func fit[S any](r *fsroom.Room[S], last *fsroom.Mark, parts ...*int64) {
	for _, part := range parts {
		if *part > last.Seq { // new
			*last = fsroom.Mark{Seq: *part}
		}
	}
	if last.Seq > 0 {
		*last = r.Common(*last)
	}
	for _, part := range parts {
		*part = min(*part, last.Seq)
	}
}

// A Printed is what a hook has printed for an agent. It counts as shown when a later hook of the session proves that the model was asked
// with it: a prompt that is cancelled takes what was printed beside it along. Until then it is said again with the next prompt.
type Printed struct {
	Session string        `json:"harness_session"` // of the harness
	Rooms   []PrintedRoom `json:"rooms"`
}

// A PrintedRoom is the part of a [Printed] that is about one room.
type PrintedRoom struct {
	Room     string   `json:"room_id"`
	Cursor   Cursor   `json:"cursor"`             // the agent's cursor moves over it then
	Answered []string `json:"answered,omitempty"` // the questions of the agent whose answers it had
	Left     bool     `json:"left,omitempty"`     // it said that the agent is in the room no more
}

// Of returns what was printed of a room, nil if nothing was.
func (p *Printed) Of(room string) *PrintedRoom {
	if i := slices.IndexFunc(p.Rooms, func(r PrintedRoom) bool { return r.Room == room }); i >= 0 {
		return &p.Rooms[i]
	}
	return nil
}

// Add takes in what was printed before.
func (p *Printed) Add(before Printed) {
	for _, r := range before.Rooms {
		if later := p.Of(r.Room); later != nil {
			r.Cursor.Advance(later.Cursor)
			later.Cursor, later.Left, later.Answered = r.Cursor, later.Left || r.Left, append(r.Answered, later.Answered...)
		} else {
			p.Rooms = append(p.Rooms, r)
		}
	}
}

// PrintedSince reports whether something was printed since then that is not known to have been in a request.
func (a Agent) PrintedSince(then time.Time) bool {
	const tick = 50 * time.Millisecond // times of files come from a coarser clock
	return !a.Dir().Changed(printedFile).Before(then.Add(-tick))
}

// HasPrinted reports whether something was printed that is not known to have been in a request, at the cost of one look at a file.
func (a Agent) HasPrinted() bool { return a.Store.ListenerHas(a.ID, printedFile) }

// Printed returns what was printed and is not known to have been in a request.
func (a Agent) Printed() (p Printed) {
	a.Dir().Read(printedFile, &p)
	return p
}

// SavePrinted stores what was printed; nothing removes the record. The caller has the lock of [Agent.Dir].
func (a Agent) SavePrinted(p Printed) error {
	if len(p.Rooms) == 0 {
		return a.Dir().Remove(printedFile)
	}
	return a.Dir().Write(printedFile, &p)
}
