package console

import (
	"slices"

	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/fsroom/talk"
)

// settle makes every cursor point at something that is there. A cursor names what it is
// on, so nothing moves under it.
func (m *model) settle() {
	rooms := m.shown()
	at := slices.IndexFunc(rooms, func(r *look.Room) bool { return r.Name == m.room })
	if at < 0 && len(rooms) > 0 && m.page == pageRooms {
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
	case panelJournal:
	case panelMembers:
		for _, id := range []string{d.View.Owner, d.View.ReservedFor} {
			if first == "" && id != m.me && d.Member(id) != nil {
				first = id
			}
		}
		for i := range d.Members {
			add(d.Members[i].AgentID, d.Members[i].AgentID != m.me)
		}
	default:
		for _, x := range m.listed(p) {
			add(x.ID, x.Urgent)
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
	at = max(0, at)
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

// listed returns the questions or the notes of the open room.
func (m *model) listed(p panel) []look.Item {
	if p == panelQuestions {
		return m.detail.Questions
	}
	return m.detail.Notes
}

// selected returns the question or note that is selected in the room or in the inbox, nil if
// none is.
func (m *model) selected(kind string) *look.Item {
	if m.page == pageInbox {
		if x := m.selectedItem(); x != nil && x.Kind == kind {
			return x
		}
		return nil
	}
	p := map[string]panel{talk.KindQuestion: panelQuestions, talk.KindNote: panelNotes}[kind]
	list := m.listed(p)
	if i := slices.IndexFunc(list, func(x look.Item) bool { return x.ID == m.picked[p] }); i >= 0 {
		return &list[i]
	}
	return nil
}
