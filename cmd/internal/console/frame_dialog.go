package console

import (
	tea "charm.land/bubbletea/v2"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/fsroom/turn"
)

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
