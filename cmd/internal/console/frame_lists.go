package console

import (
	"fmt"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/fsroom/talk"
)

// lists are the members, the questions and the notes. If there is no room for all, each
// has its share.
func (m *model) lists(l layout) []string {
	var members []string
	for i := range m.detail.Members {
		members = append(members, m.memberLine(&m.detail.Members[i], l.left))
	}
	list := func(p panel) (lines []string, urgent int) {
		for _, x := range m.listed(p) {
			lines = append(lines, m.itemLine(p, &x, l.left))
			if x.Urgent {
				urgent++
			}
		}
		return lines, urgent
	}
	questions, mine := list(panelQuestions)
	notes, _ := list(panelNotes)
	asked := fmt.Sprint(len(questions))
	if mine > 0 {
		asked += fmt.Sprintf(", %d for you", mine)
	}
	at := func(p panel) int {
		ids, _ := m.ids(p)
		return max(0, slices.Index(ids, m.picked[p]))
	}
	return m.stack(l, []section{
		{m.title(panelMembers, "MEMBERS", fmt.Sprint(len(members))), members, at(panelMembers)},
		{m.title(panelQuestions, "QUESTIONS", asked), questions, at(panelQuestions)},
		{m.title(panelNotes, "NOTES", fmt.Sprint(len(notes))), notes, at(panelNotes)},
	})
}

// A section is a list below a title, with a cursor.
type section struct {
	title string
	lines []string
	at    int
}

// stack puts sections one below the other, those without lines left out. What does not
// fit is scrolled to the cursor.
func (m *model) stack(l layout, sections []section) (lines []string) {
	left, share := l.lists, 1
	if l.wide {
		share = 3
	}
	for i, s := range sections {
		if len(s.lines) == 0 || left <= 0 {
			continue
		}
		reserved := 0 // for a title and a line of each that follows
		for _, other := range sections[i+1:] {
			if len(other.lines) > 0 {
				reserved += min(len(other.lines), share) + 1
			}
		}
		rows := min(len(s.lines), max(1, left-reserved-1))
		if l.titles {
			if hidden := len(s.lines) - rows; hidden > 0 {
				s.title += m.Own(draw.Dim, fmt.Sprintf(", %d more", hidden))
			}
			lines = append(lines, s.title)
			left--
		}
		rows = min(rows, left)
		top := window(0, s.at, len(s.lines), rows)
		lines = append(lines, s.lines[top:top+max(0, rows)]...)
		if left -= rows; l.wide && left > reserved+1 {
			lines = append(lines, "")
			left--
		}
	}
	return lines
}

func (m *model) memberLine(x *look.Member, w int) string {
	c := m.memberState(&m.detail.Room, x)
	line := m.cursorOf(panelMembers, x.AgentID == m.picked[panelMembers]) + m.marked(c) + " "
	name := x.AgentID
	if name == m.me {
		name += " (you)"
	}
	if m.w < 60 {
		return line + m.Text(draw.Plain, name)
	}
	line += m.Fit(m.Text(draw.Plain, name), m.nameWidth(w)) + " " + m.Own(c.style, c.word)
	style, word, _ := hearing(x)
	if word != "" && draw.Width(line)+2+draw.Width(word) < w {
		line += "  " + m.Own(style, word)
	}
	return line
}

// nameWidth is the columns of the names of members: what the longest one needs, as long
// as there is room for a state.
func (m *model) nameWidth(w int) int {
	const mark, state = 6, 20
	width := 0
	for i := range m.detail.Members {
		id := m.detail.Members[i].AgentID
		if width = max(width, draw.Width(m.Text(draw.Plain, id))+1); id == m.me {
			width = max(width, draw.Width(m.Text(draw.Plain, id))+len(" (you)")+1)
		}
	}
	return max(10, min(width, w-mark-state))
}

// itemLine is the line of a question or a note.
func (m *model) itemLine(p panel, x *look.Item, w int) string {
	mark, style := draw.Question, draw.Dim
	switch {
	case x.Kind == talk.KindNote && x.Urgent:
		mark, style = draw.Urgent, draw.Alarm
	case x.Kind == talk.KindNote:
		mark = draw.Note
	case x.Urgent:
		style = draw.Yellow
	}
	line := m.cursorOf(p, x.ID == m.picked[p]) + m.Own(style, m.Mark(mark)) + " " + m.Text(draw.Plain, x.From)
	if x.To != "" || x.Kind == talk.KindQuestion {
		line += m.Own(draw.Dim, " "+m.Mark(draw.Hands)+" ") + m.Text(draw.Plain, m.who(x.To))
	}
	line += "  " + m.Text(draw.Dim, firstLine(x.Text))
	return m.Sides(m.Fit(line, w-7), m.Own(draw.Dim, " "+draw.Span(m.now.Sub(x.At))+" "), w)
}
