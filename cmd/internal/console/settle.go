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
	d := m.detail
	if d.Member(m.member) == nil {
		m.member = firstMember(d, m.me)
	}
	if !slices.ContainsFunc(d.Questions, func(q questions.Question) bool { return q.ID == m.question }) {
		m.question = firstQuestion(d)
	}
	if !slices.ContainsFunc(d.Notes, func(n turn.NoteView) bool { return n.ID == m.note }) {
		m.note = firstNote(d)
	}
	counts := [panels]int{1, len(d.Members), len(d.Questions), len(d.Notes)}
	if counts[m.panel] == 0 {
		m.panel = panelJournal
	}
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

// firstMember is the one a person most likely means: the holder, the recipient, else the
// first that is not the person.
func firstMember(d *look.Detail, me string) string {
	for _, id := range []string{d.View.Owner, d.View.ReservedFor} {
		if id != me && d.Member(id) != nil {
			return id
		}
	}
	for i := range d.Members {
		if d.Members[i].AgentID != me {
			return d.Members[i].AgentID
		}
	}
	if len(d.Members) > 0 {
		return d.Members[0].AgentID
	}
	return ""
}

func firstQuestion(d *look.Detail) (id string) {
	for i := range d.Questions {
		if d.Questions[i].Owed {
			return d.Questions[i].ID
		}
	}
	if len(d.Questions) > 0 {
		return d.Questions[0].ID
	}
	return ""
}

func firstNote(d *look.Detail) string {
	for i := range d.Notes {
		if d.Notes[i].Severity == turn.SeverityPage {
			return d.Notes[i].ID
		}
	}
	if len(d.Notes) > 0 {
		return d.Notes[0].ID
	}
	return ""
}

func (m *model) selectedMember() *look.Member {
	if m.detail == nil {
		return nil
	}
	return m.detail.Member(m.member)
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
		if q := &m.detail.Questions[i]; q.ID == m.question {
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
		if n := &m.detail.Notes[i]; n.ID == m.note {
			return n
		}
	}
	return nil
}
