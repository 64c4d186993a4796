package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

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
