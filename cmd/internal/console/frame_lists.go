package console

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
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

// boxWidth returns the columns of a dialog on a screen of w columns.
func boxWidth(w int) int { return min(w-2, 76) }

// fieldWidth is the columns for the text of a field.
func (m *model) fieldWidth(f *field) int {
	return boxWidth(max(m.w, leastWidth)) - 4 - labelWidth(f) - 2
}

func labelWidth(f *field) int {
	if f.label == "" {
		return 0
	}
	return 12
}

// most lines of a field, and of what a dialog is about, are shown.
const (
	fieldLines = 6
	aboutLines = 8
)

// withDialog puts the dialog over the screen. It returns the place of the cursor.
func (m *model) withDialog(lines []string, w, h int) ([]string, *tea.Cursor) {
	d := m.dialog
	width := boxWidth(w)
	inner := width - 4
	var body []string
	for _, paragraph := range d.about {
		body = append(body, draw.Wrap(paragraph, inner)...)
	}
	if most := max(1, min(aboutLines, h-8-2*len(d.fields))); len(body) > most {
		body = append(body[:most-1:most-1], m.Own(draw.Dim, m.Mark(draw.Ellipsis)))
	}
	if warning := m.overtaken(d); warning != "" {
		body = append(body, m.Text(draw.Yellow, m.Mark(draw.Urgent)+" "+warning))
	}
	var cursor *tea.Cursor
	for i, f := range d.fields {
		indent := labelWidth(f)
		room := fieldLines
		if i != d.at {
			room = 1
		}
		text, x, y := f.View(m.fieldWidth(f), min(room, max(1, h-10)))
		for n, line := range text {
			label, sign := "", " "
			if n == 0 {
				label, sign = f.label, m.Mark(draw.Crumb)
			}
			style := draw.Dim
			if i == d.at {
				style = draw.Bold
			}
			if i == d.at && n == y {
				cursor = tea.NewCursor(indent+2+x, len(body))
			}
			body = append(body, m.Own(style, m.Fit(label, indent)+sign)+" "+line)
		}
	}
	if d.missing != "" {
		body = append(body, m.Text(draw.Red, d.missing))
	}
	title := m.Text(draw.Bold, d.title)
	if d.toward != nil {
		to := d.toward[d.to]
		if to == turn.Everyone {
			to = "the room"
		}
		title = m.Text(draw.Bold, "message to "+to)
		if d.interrupt {
			title += m.Own(draw.Alarm, ", urgent")
		}
	}
	box := m.Box(title, body, width)
	row, column := max(1, min((h-len(box))*2/3, h-2-len(box))), (w-width)/2
	lines = m.Over(lines, box, row, column, w)
	if cursor != nil {
		cursor.X += column + 2
		cursor.Y += row + 1
	}
	return lines, cursor
}

func (m *model) dialogKeys() []keyHelp {
	d := m.dialog
	enter := d.verb
	if d.at < len(d.fields)-1 {
		enter = "next"
	}
	keys := []keyHelp{{"enter", enter}, {"esc", "never mind"}}
	if len(d.fields) > 0 {
		keys = append(keys, keyHelp{"alt-enter", "new line"}, keyHelp{"ctrl-e", "editor"})
	}
	if d.toward != nil {
		urgent := "urgent"
		if d.interrupt {
			urgent = "not urgent"
		}
		keys = append(keys, keyHelp{"tab", "to whom"}, keyHelp{"ctrl-t", urgent})
	}
	return keys
}
