package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

// Options say which part of the history a model has.
type Options struct {
	Now    int64 // milliseconds since 1970
	Since  int64 // leave out what was over before the first event at or after this time; 0: nothing
	Redact bool  // put its length for every text
}

// Model returns the model of the events. What lasts at the beginning of the part, such
// as a turn, is there as a whole. The builder must not be used afterwards.
func (b *Builder) Model(o Options) *Model {
	if b.index == nil {
		b.begin()
	}
	m := &b.m
	b.cut(b.firstSince(o.Since))
	if n := len(m.Turns) - MaxTurns; n > 0 {
		m.Omitted = n
		b.cut(m.Turns[n].Seq)
	}
	b.bound(o.Now)
	m.Idle = b.idle()
	b.keepAgents()
	if o.Redact {
		m.redact()
	}
	return m
}

// firstSince returns the number of the first event at or after the time, one more than
// that of the last event if there is none.
func (b *Builder) firstSince(at int64) int64 {
	if i := slices.IndexFunc(b.events, func(e mark) bool { return e.at >= at }); i >= 0 {
		return b.events[i].seq
	}
	if n := len(b.events); n > 0 {
		return b.events[n-1].seq + 1
	}
	return 0
}

// cut removes what was over before the event with the number.
func (b *Builder) cut(first int64) {
	m := &b.m
	over := func(end int64) bool { return end > 0 && end < first }
	b.events = slices.DeleteFunc(b.events, func(e mark) bool { return e.seq < first })
	m.Turns = slices.DeleteFunc(m.Turns, func(t Turn) bool { return over(t.EndSeq) })
	m.Offered = slices.DeleteFunc(m.Offered, func(s Span) bool { return over(s.endSeq) })
	m.Here = slices.DeleteFunc(m.Here, func(s Span) bool { return over(s.endSeq) })
	m.Lives = slices.DeleteFunc(m.Lives, func(l Life) bool { return over(l.endSeq) })
	m.Messages = slices.DeleteFunc(m.Messages, func(x Message) bool { return x.Seq < first })
	m.Notes = slices.DeleteFunc(m.Notes, func(n Note) bool { return n.Seq < first })
	m.Damaged = slices.DeleteFunc(m.Damaged, func(d Oddity) bool { return d.Seq < first })
	m.Steps = slices.DeleteFunc(m.Steps, func(s Oddity) bool { return s.Seq < first })
	from := b.last + 1
	if len(b.events) > 0 {
		from = b.events[0].at
	}
	m.Questions = slices.DeleteFunc(m.Questions, func(q Question) bool { return q.Settled > 0 && q.Settled < from })
}

// bound sets the times between which the model lies, and counts its events.
func (b *Builder) bound(now int64) {
	m := &b.m
	m.Events = int64(len(b.events))
	m.From, m.To = b.last, b.last
	for _, e := range b.events {
		m.From, m.To = min(m.From, e.at), max(m.To, e.at)
		if e.unknown != "" {
			if m.Unknown == nil {
				m.Unknown = map[string]int{}
			}
			m.Unknown[e.unknown]++
		}
	}
	for _, t := range m.Turns {
		m.From, m.To = min(m.From, t.Start), max(m.To, t.Start, t.End)
	}
	for _, o := range m.Offered {
		m.To = max(m.To, o.Start, o.End)
	}
	for _, q := range m.Questions {
		m.To = max(m.To, q.At, q.Settled)
		for _, a := range q.Answers {
			m.To = max(m.To, a.At)
		}
	}
	if b.current() != nil || b.offer() != nil {
		m.To = max(m.To, now)
	}
}

// keepAgents removes the agents that nothing refers to any more.
func (b *Builder) keepAgents() {
	m := &b.m
	used := make([]bool, len(m.Agents))
	m.eachAgent(func(i *int) { used[*i] = true })
	renumbered := make([]int, len(m.Agents))
	kept := []Agent{}
	for i, a := range m.Agents {
		if renumbered[i] = len(kept); used[i] {
			kept = append(kept, a)
		}
	}
	m.eachAgent(func(i *int) { *i = renumbered[*i] })
	m.Agents = kept
}

// eachAgent calls fn with every reference to an agent.
func (m *Model) eachAgent(fn func(*int)) {
	each := func(references ...*int) {
		for _, i := range references {
			if i != nil {
				fn(i)
			}
		}
	}
	for i := range m.Turns {
		each(&m.Turns[i].Agent, m.Turns[i].To, m.Turns[i].TakenFrom)
	}
	for i := range m.Offered {
		each(&m.Offered[i].Agent)
	}
	for i := range m.Here {
		each(&m.Here[i].Agent)
	}
	for i := range m.Messages {
		each(&m.Messages[i].From, m.Messages[i].To)
	}
	for i := range m.Notes {
		each(&m.Notes[i].From, m.Notes[i].For)
	}
	for i := range m.Questions {
		q := &m.Questions[i]
		each(&q.From, q.To)
		for j := range q.Answers {
			each(&q.Answers[j].From)
		}
	}
	for i := range m.Lives {
		each(m.Lives[i].By)
	}
}

// redact puts its length for every text that an agent has written. What agents and rooms
// are called stays.
func (m *Model) redact() {
	m.Redacted = true
	for i := range m.Turns {
		t := &m.Turns[i]
		t.Reason, t.EndReason, t.Paths = length(t.Reason), length(t.EndReason), nil
		if len(t.Handoff) > 0 {
			t.Handoff = redacted(t.Read(), len(t.Handoff))
		}
	}
	for i := range m.Messages {
		m.Messages[i].Body = length(m.Messages[i].Body)
	}
	for i := range m.Notes {
		m.Notes[i].Body = length(m.Notes[i].Body)
	}
	for i := range m.Questions {
		q := &m.Questions[i]
		q.Text, q.Reason = length(q.Text), length(q.Reason)
		for j := range q.Answers {
			q.Answers[j].Text = length(q.Answers[j].Text)
		}
	}
	for i := range m.Lives {
		m.Lives[i].Reason = length(m.Lives[i].Reason)
	}
}

// length returns the length of a text as a text, "" for none.
func length(text string) string {
	if text == "" {
		return ""
	}
	return code.Count(utf8.RuneCountInString(text), "character")
}

// redacted returns a handoff of lengths. Of what it does not know, whose keys are texts
// too, it keeps nothing but the size of the whole.
func redacted(h turn.Handoff, size int) json.RawMessage {
	h.Status, h.NextAction = length(h.Status), length(h.NextAction)
	for i := range h.Artifacts {
		a := &h.Artifacts[i]
		a.Path, a.Note = length(a.Path), length(a.Note)
		if !slices.Contains(turn.Roles(), a.Role) {
			a.Role = length(a.Role)
		}
	}
	for i := range h.OpenQuestions {
		h.OpenQuestions[i] = length(h.OpenQuestions[i])
	}
	for i := range h.DoNot {
		h.DoNot[i] = length(h.DoNot[i])
	}
	document, err := json.Marshal(h)
	if err != nil { // cannot happen: it has nothing but texts and numbers
		return nil
	}
	return fmt.Appendf(document[:len(document)-1], `,"bytes":%d}`, size)
}
