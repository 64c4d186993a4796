package console

import (
	"fmt"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/fsroom/talk"
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
	case len(m.rooms) == 0 && m.lookErr != nil:
		return nil
	case len(m.rooms) == 0:
		return []string{"   No rooms yet. An agent opens one with tt join or tt wait."}
	case len(rooms) == 0:
		return []string{"   No room contains " + m.Text(draw.Bold, m.filters[pageRooms]) + "."}
	}
	c := columnsFor(w)
	titles := row{
		mark: "   ", room: "ROOM", stick: "STICK", since: m.right("FOR", c.since-1), lease: "LEASE", waiting: "WAITING",
		asked: m.Mark(draw.Question), unread: m.Mark(draw.Message),
	}
	if c.state >= 5 {
		titles.state = "STATE"
	}
	if c.waiting < len(titles.waiting) {
		titles.waiting = "WAIT"[:min(4, c.waiting)]
	}
	lines := []string{m.Own(draw.Dim, m.listLine(c, titles))}
	for i := m.top; i < len(rooms) && len(lines) < h; i++ {
		lines = append(lines, m.listRow(rooms, i, c))
	}
	if below := len(rooms) - m.top - (h - 1); below > 0 && len(lines) == h {
		lines[0] = m.Sides(m.Fit(lines[0], w-12), m.Own(draw.Dim, fmt.Sprintf("%d more %s ", below, m.Mark(draw.Below))), w)
	}
	return lines
}

// A row is what a line of the list has in its columns.
type row struct{ mark, state, room, stick, since, lease, waiting, asked, unread string }

func (m *model) listLine(c columns, r row) string {
	line := r.mark + m.Fit(r.state, c.state) + m.Fit(r.room, c.room) + m.Fit(r.stick, c.stick-1) + " "
	if c.since > 0 {
		line += r.since + " "
	}
	line += m.Fit(r.lease, c.bar+c.lease) + m.Fit(r.waiting, c.waiting)
	if c.count > 0 {
		line += m.right(r.asked, c.count) + m.right(r.unread, c.count)
	}
	return line
}

// around returns how many rooms of the list, which is in the order of their paths, a room lies
// in, and the path of the nearest of them.
func around(rooms []*look.Room, i int) (depth int, base string) {
	for _, r := range rooms[:i] {
		dir := r.View.CanonicalPath
		rest, _ := strings.CutPrefix(rooms[i].View.CanonicalPath, strings.TrimSuffix(dir, "/")+"/")
		if dir != "" && rest != "" && rest != rooms[i].View.CanonicalPath {
			depth, base = depth+1, dir
		}
	}
	return depth, base
}

func (m *model) listRow(rooms []*look.Room, i int, c columns) string {
	r := rooms[i]
	depth, base := around(rooms, i)
	state := m.condition(r)
	line := row{
		mark: "   ", state: m.marked(state), stick: m.Own(draw.Dim, m.Mark(draw.None)), waiting: m.waitingCell(r, c.waiting),
		asked: m.count(r.Yours.Questions), unread: m.count(r.Yours.Messages + r.Yours.Notes + r.Yours.Answers),
	}
	name := draw.Plain
	if r.Name == m.room {
		line.mark, name = " "+m.Own(draw.Title, m.Mark(draw.Cursor))+" ", draw.Bold
	}
	if c.state >= 5 {
		line.state += " " + m.Own(state.style, state.word)
	}
	switch path := r.View.CanonicalPath; {
	case r.Err != nil:
		line.room = m.Text(name, r.Name)
	case depth > 0:
		indent := strings.Repeat("  ", depth-1)
		line.room = indent + m.Own(draw.Dim, m.Mark(draw.Branch)) + " " +
			m.Tail(name, strings.TrimLeft(strings.TrimPrefix(path, base), "/\\"), c.room-len(indent)-3)
	default:
		line.room = m.Tail(name, draw.Short(path, m.home), c.room-1)
	}
	switch v := &r.View; {
	case v.Owner != "":
		line.stick = m.Text(draw.Plain, m.who(v.Owner))
		if v.LeaseExpiresAt != nil && c.bar > 0 {
			rest := v.LeaseExpiresAt.Sub(m.now)
			line.lease = m.Bar(rest, r.Full, c.bar) + m.right(draw.Span(rest), c.lease-2)
		}
	case v.ReservedFor != "":
		line.stick = m.Text(draw.Yellow, m.Mark(draw.Hands)+" "+m.who(v.ReservedFor))
	}
	since := ""
	if !r.Since.IsZero() {
		since = draw.Span(m.now.Sub(r.Since))
	}
	line.since = m.Own(draw.Dim, m.right(since, c.since-1))
	return m.listLine(c, line)
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

// count returns a number, a dot for 0.
func (m *model) count(n int64) string {
	if n == 0 {
		return m.Own(draw.Dim, m.Mark(draw.Quiet))
	}
	return m.Own(draw.Yellow, fmt.Sprint(min(n, 99)))
}

// inboxBody lists what waits for the person.
func (m *model) inboxBody(w, h int) []string {
	if len(m.items) == 0 {
		return []string{"   Nothing waits for you."}
	}
	marks := map[string]draw.Mark{
		look.KindTurn: draw.Reserved, talk.KindQuestion: draw.Question, talk.KindAnswer: draw.Answer,
		talk.KindMessage: draw.Message, talk.KindNote: draw.Note,
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
