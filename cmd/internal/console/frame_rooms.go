package console

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/look"
)

// columns are the widths of the columns of the list. A column of width 0 is left out.
type columns struct{ state, room, stick, since, bar, lease, waiting, count int }

func columnsFor(w int) columns {
	c := columns{}
	switch {
	case w >= 110:
		c = columns{state: 14, stick: 21, since: 7, bar: 10, lease: 8, waiting: 24, count: 3}
	case w >= 80:
		c = columns{state: 14, stick: 18, since: 7, bar: 5, lease: 8, waiting: 4, count: 2}
	case w >= 60:
		c = columns{state: 14, stick: 18, since: 7}
	default:
		c = columns{state: 2, stick: min(16, w/3)}
	}
	c.room = w - 3 - c.state - c.stick - c.since - c.bar - c.lease - c.waiting - 2*c.count
	return c
}

// listBody lists the rooms.
func (m *model) listBody(w, h int) []string {
	rooms := m.shown()
	switch {
	case !m.looked:
		return nil
	case len(m.rooms) == 0:
		return []string{"   No rooms yet. An agent opens one with tt join or tt wait."}
	case len(rooms) == 0:
		return []string{"   No room contains " + m.Text(draw.Bold, m.filters[0]) + "."}
	}
	c := columnsFor(w)
	lines := []string{m.Own(draw.Dim, m.listTitles(c))}
	trees := nested(rooms)
	for i := m.top; i < len(rooms) && len(lines) < h; i++ {
		lines = append(lines, m.listRow(rooms[i], trees[i], c))
	}
	if below := len(rooms) - m.top - (h - 1); below > 0 && len(lines) == h {
		lines[0] = m.Sides(m.Fit(lines[0], w-12), m.Own(draw.Dim, fmt.Sprintf("%d more %s ", below, m.Mark(draw.Below))), w)
	}
	return lines
}

func (m *model) listTitles(c columns) string {
	state := "STATE"
	if c.state < 5 {
		state = ""
	}
	line := "   " + m.Fit(state, c.state) + m.Fit("ROOM", c.room) + m.Fit("STICK", c.stick)
	if c.since > 0 {
		line += m.right("FOR", c.since-1) + " "
	}
	if c.lease > 0 {
		line += m.Fit("LEASE", c.bar+c.lease)
	}
	title := "WAITING"
	if c.waiting < len(title) {
		title = "WAIT"[:min(4, c.waiting)]
	}
	line += m.Fit(title, c.waiting)
	if c.count > 0 {
		line += strings.Repeat(" ", c.count-1) + m.Mark(draw.Question) + strings.Repeat(" ", c.count-1) + m.Mark(draw.Message)
	}
	return line
}

// A branch says how a room is nested in the rooms above it in the list.
type branch struct {
	depth int
	base  string // the path of the nearest room around it, "" if there is none
}

// nested returns for each room whether it lies in another one of the list, which is in
// the order of [look.Sort].
func nested(rooms []*look.Room) []branch {
	var open []string // the paths around the present one
	list := make([]branch, len(rooms))
	for i, r := range rooms {
		path := r.View.CanonicalPath
		for len(open) > 0 && !under(path, open[len(open)-1]) {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && path != "" {
			list[i] = branch{len(open), open[len(open)-1]}
		}
		if path != "" {
			open = append(open, path)
		}
	}
	return list
}

func under(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
	return ok && rest != ""
}

func (m *model) listRow(r *look.Room, b branch, c columns) string {
	state := m.condition(r)
	mark := "   "
	name := draw.Plain
	if r.Name == m.room {
		mark, name = " "+m.Own(draw.Title, m.Mark(draw.Cursor))+" ", draw.Bold
	}
	line := mark + m.Fit(m.marked(state)+" "+m.Own(state.style, state.word), c.state)
	if c.state < 5 {
		line = mark + m.Fit(m.marked(state), c.state)
	}
	room := ""
	switch path := r.View.CanonicalPath; {
	case r.Err != nil:
		room = m.Text(name, r.Name)
	case b.depth > 0:
		indent := strings.Repeat("  ", b.depth-1)
		room = indent + m.Own(draw.Dim, m.Mark(draw.Branch)) + " " +
			m.Tail(name, strings.TrimLeft(strings.TrimPrefix(path, b.base), "/\\"), c.room-len(indent)-3)
	default:
		room = m.Tail(name, draw.Short(path, m.home), c.room-1)
	}
	line += m.Fit(room, c.room)
	holder, since, lease, left := m.Own(draw.Dim, m.Mark(draw.None)), "", "", ""
	switch v := &r.View; {
	case v.Owner != "":
		holder = m.Text(draw.Plain, m.who(v.Owner))
		if v.LeaseExpiresAt != nil && c.bar > 0 {
			rest := v.LeaseExpiresAt.Sub(m.now)
			lease, left = m.Bar(rest, r.Full, c.bar), draw.Span(rest)
		}
	case v.ReservedFor != "":
		holder = m.Text(draw.Yellow, m.Mark(draw.Hands)+" "+m.who(v.ReservedFor))
	}
	if !r.Since.IsZero() {
		since = draw.Span(m.now.Sub(r.Since))
	}
	line += m.Fit(holder, c.stick-1) + " "
	if c.since > 0 {
		line += m.Own(draw.Dim, m.right(since, c.since-1)) + " "
	}
	if c.lease > 0 {
		line += m.Fit(lease, c.bar) + m.right(left, c.lease-2) + "  "
	}
	line += m.Fit(m.waitingCell(r, c.waiting), c.waiting)
	if c.count > 0 {
		line += m.count(int(r.Yours.Questions), c.count) + m.count(int(r.Yours.Messages+r.Yours.Notes+r.Yours.Answers), c.count)
	}
	return line
}

// right puts text of this program at the right of w columns.
func (m *model) right(text string, w int) string {
	return strings.Repeat(" ", max(0, w-draw.Width(text))) + text
}

// waitingCell says who waits, or how many do where there is no room for names.
func (m *model) waitingCell(r *look.Room, w int) string {
	waiting := r.Waiting()
	switch {
	case len(waiting) == 0 || w == 0:
		return ""
	case w < 12:
		return m.Own(draw.Green, fmt.Sprint(len(waiting)))
	}
	names := ""
	for _, x := range waiting {
		names += " " + x.AgentID
	}
	if len(waiting) > 1 {
		return m.Own(draw.Green, fmt.Sprint(len(waiting))) + m.Text(draw.Dim, m.Cut(names, w-2))
	}
	return m.Text(draw.Green, m.Cut(names[1:], w-1))
}

// count returns a number at the right of w columns, a dot for 0.
func (m *model) count(n, w int) string {
	text, style := m.Mark(draw.Quiet), draw.Dim
	if n > 0 {
		text, style = fmt.Sprint(min(n, 99)), draw.Yellow
	}
	return m.right(m.Own(style, text), w)
}

// inboxBody lists what waits for the person.
func (m *model) inboxBody(w, h int) []string {
	if len(m.items) == 0 {
		return []string{"   Nothing waits for you."}
	}
	marks := map[string]draw.Mark{
		look.KindTurn: draw.Reserved, look.KindQuestion: draw.Question, look.KindAnswer: draw.Answer,
		look.KindMessage: draw.Message, look.KindNote: draw.Note,
	}
	top := window(0, m.item, len(m.items), h)
	var lines []string
	for i := top; i < len(m.items) && len(lines) < h; i++ {
		item := &m.items[i]
		mark, style := "   ", draw.Plain
		if i == m.item {
			mark, style = " "+m.Own(draw.Title, m.Mark(draw.Cursor))+" ", draw.Bold
		}
		line := mark + m.Own(draw.Yellow, m.Mark(marks[item.Kind])) + " "
		if w >= 60 {
			line += m.Fit(m.Tail(draw.Dim, draw.Short(item.Path, m.home), w/4-1), w/4)
		}
		line += m.Fit(m.Text(draw.Plain, item.From), min(20, w/4)) + " " + m.Text(style, firstLine(item.Text))
		lines = append(lines, m.Sides(m.Fit(line, w-8), m.Own(draw.Dim, " "+draw.Span(m.now.Sub(item.At))+" "), w))
	}
	return lines
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
