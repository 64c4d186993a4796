package console

import (
	"slices"

	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// settle makes every cursor point at something that is there. A cursor names what it is
// on, so nothing moves under it.
func (m *model) settle() {
	rooms := m.shown()
	at := slices.IndexFunc(rooms, func(r *look.Room) bool { return r.Name == m.room })
	if at < 0 && len(rooms) > 0 && m.page == pageRooms && m.looked {
		at, m.room = 0, rooms[0].Name
	}
	m.top = window(m.top, at, len(rooms), m.listRows())
	m.item = max(0, min(m.item, len(m.items)-1))
	if m.detail == nil {
		return
	}
	for p := panelJournal + 1; p < panels; p++ {
		ids, first := m.ids(p)
		if !slices.Contains(ids, m.picked[p]) {
			m.picked[p] = first
		}
		if m.panel == p && len(ids) == 0 {
			m.panel = panelJournal
		}
	}
}

// ids returns what a list of the open room has, and the one of it that a person most likely
// means: the holder, the recipient, else somebody else; a question that the person owes; an
// urgent note. The journal has none.
func (m *model) ids(p panel) (ids []string, first string) {
	d := m.detail
	add := func(id string, likely bool) {
		ids = append(ids, id)
		if likely && first == "" {
			first = id
		}
	}
	switch p {
	case panelMembers:
		for _, id := range []string{d.View.Owner, d.View.ReservedFor} {
			if first == "" && id != m.me && d.Member(id) != nil {
				first = id
			}
		}
		for i := range d.Members {
			add(d.Members[i].AgentID, d.Members[i].AgentID != m.me)
		}
	case panelQuestions:
		for i := range d.Questions {
			add(d.Questions[i].ID, d.Questions[i].Owed)
		}
	case panelNotes:
		for i := range d.Notes {
			add(d.Notes[i].ID, d.Notes[i].Severity == turn.SeverityPage)
		}
	}
	if first == "" && len(ids) > 0 {
		first = ids[0]
	}
	return ids, first
}

// window returns the first of count lines to show so that the one at the cursor is among
// the rows, near the window before.
func window(top, at, count, rows int) int {
	if at < 0 {
		at = 0
	}
	top = min(top, at)
	top = max(top, at-rows+1)
	return max(0, min(top, count-rows))
}

func (m *model) selectedMember() *look.Member {
	if m.detail == nil {
		return nil
	}
	return m.detail.Member(m.picked[panelMembers])
}

// selectedQuestion is the one selected in the room or in the inbox.
func (m *model) selectedQuestion() *questions.Question {
	if m.page == pageInbox {
		if i := m.selectedItem(); i != nil && i.Kind == look.KindQuestion {
			return &questions.Question{ID: i.ID, From: i.From, AskedAt: event.NewTime(i.At), Text: i.Text}
		}
		return nil
	}
	for i := range m.detail.Questions {
		if q := &m.detail.Questions[i]; q.ID == m.picked[panelQuestions] {
			return q
		}
	}
	return nil
}

// selectedNote is the one selected in the room or in the inbox.
func (m *model) selectedNote() *turn.NoteView {
	if m.page == pageInbox {
		if i := m.selectedItem(); i != nil && i.Kind == look.KindNote {
			return &turn.NoteView{Note: turn.Note{ID: i.ID, Author: i.From}, Body: i.Text}
		}
		return nil
	}
	for i := range m.detail.Notes {
		if n := &m.detail.Notes[i]; n.ID == m.picked[panelNotes] {
			return n
		}
	}
	return nil
}
