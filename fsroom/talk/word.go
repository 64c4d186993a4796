// Package talk has the rules about words: messages, notes, questions, answers and the ends of jobs.
// Whatever the kind, a [Word] is one thing: somebody says it to an agent or to all, and it is unread until
// the agent was shown it, which its [Seen] says.
//
//	Of(event)                 the word that an event says        word.go
//	Seen.Has, Seen.Pass       what was shown                     seen.go
//	Check                     which texts no room takes          check.go
//	NotesFor, NoteHistory     notes, which stay until resolved   note.go
//	BriefNotes, FitNotes      those that come with a turn        brief.go
//	JobEnd, ToldJobs          the ends of jobs                   job.go
//
// Nothing here reads a clock or a disk, or knows who is a member of a room: that is for package turn. The
// rules of questions and their answers are in package topic.
package talk

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// The types of the events of a room that say something.
const (
	MessageSent  = "message_sent"
	NoteAdded    = "note_added"
	NoteResolved = "note_resolved"
	JobEnded     = "job_ended"
)

// AnyPerson as the recipient of a question means any person.
const AnyPerson = "human"

// The kinds of words.
const (
	KindMessage  = "message"
	KindNote     = "note"
	KindPage     = "page"     // a note that should be read at once
	KindAnswer   = "answer"   // to a question of the agent
	KindQuestion = "question" // that the agent owes an answer
	KindJob      = "job"      // the end of a job of the agent
)

// Kinds are all kinds of words.
var Kinds = []string{KindMessage, KindNote, KindPage, KindAnswer, KindQuestion, KindJob}

// A Word is something that was said.
type Word struct {
	Kind     string
	ID       string // of a note, a question, a job or the event of a message, or of the question that is answered
	Seq      int64  // of the event of the room; of questions and answers, of their topic
	From, To string // To is "" for all
	Text     string
	Urgent   bool // it should be read at once: a message that interrupts, a page
	Gone     bool // of a question: nobody waits for the answer
}

// Of returns the word that an event of a room says. Its Kind is "" for another event, and its Text without a
// readable payload.
func Of(e *event.Event) Word {
	w := Word{Seq: e.Seq, From: e.From, To: e.To}
	switch e.Type {
	case MessageSent:
		var p MessagePayload
		_ = Decode(e, &p)
		w.Kind, w.ID, w.Text, w.Urgent = KindMessage, e.ID, p.Body, p.Hint == HintInterrupt
	case NoteAdded:
		var p NotePayload
		_ = Decode(e, &p)
		n := p.Note(e)
		w = n.Word(cmp.Or(p.Body, p.Preview)) // streams have the preview alone
	case JobEnded:
		j := JobOf(e)
		w.Kind, w.ID, w.Text = KindJob, strconv.FormatInt(j.ID, 10), j.Words()
	}
	return w
}

// Calls reports whether the agent is told of the word although it did not ask. What is for all comes with
// its next command or turn, unless it is a message that interrupts.
func (w *Word) Calls(agent string) bool {
	switch w.Kind {
	case KindJob, KindAnswer:
		return true
	case KindQuestion:
		return !w.Gone
	case KindMessage:
		return w.To == agent || w.Urgent
	}
	return w.To == agent
}

// How urgent a message is.
const (
	HintNormal    = "normal"
	HintInterrupt = "interrupt"
)

// MessagePayload is the payload of a message_sent event.
type MessagePayload struct {
	Body string `json:"body"`
	Hint string `json:"delivery_hint"`
}

// MeantFor reports whether the event is addressed to the agent, or to all members by
// another agent.
func MeantFor(e *event.Event, agent string) bool {
	return e.To == agent || (e.To == "" && e.From != agent)
}

// IsMail reports whether the event is a message for the agent.
func IsMail(e *event.Event, agent string) bool {
	return e.Type == MessageSent && MeantFor(e, agent)
}

// Interrupts reports whether the event is a message that was sent as urgent.
func Interrupts(e *event.Event) bool { return e.Type == MessageSent && Of(e).Urgent }

// Decode decodes the payload of the event into v, which stays as it is without one.
func Decode(e *event.Event, v any) error {
	if len(e.Payload) == 0 {
		return nil
	}
	if err := wire.Decode(e.Payload, v); err != nil {
		return fmt.Errorf("%s event %d: payload: %w", e.Type, e.Seq, err)
	}
	return nil
}

// Fold gives the payload of the event to apply, which changes a state by it, unless it cannot be decoded.
func Fold[P any](e *event.Event, apply func(e *event.Event, p P)) error {
	var p P
	err := Decode(e, &p)
	if err == nil {
		apply(e, p)
	}
	return err
}
