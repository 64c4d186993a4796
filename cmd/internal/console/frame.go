package console

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/fsroom/code"
)

// The smallest screen that is drawn for. A smaller one shows a part of it.
const (
	leastWidth  = 40
	leastHeight = 10
)

// The lines around the page: the head with a blank line below it, the last line and the
// line of keys.
const edges = 4

// frame returns the screen: as many lines as it is high, each as wide as it is. The
// cursor is nil where nothing is typed.
func (m *model) frame() ([]string, *tea.Cursor) {
	if m.w <= 0 || m.h <= 0 {
		return nil, nil
	}
	w, h := max(m.w, leastWidth), max(m.h, leastHeight)
	lines := append([]string{m.head(w), ""}, m.body(w, h-edges)...)
	for len(lines) < h-2 {
		lines = append(lines, "")
	}
	lines = append(lines[:h-2], " "+m.lastLine(), " "+m.keyLine(w-1))
	for i := range lines {
		lines[i] = m.Fit(lines[i], w)
	}
	var cursor *tea.Cursor
	switch {
	case m.dialog != nil:
		lines, cursor = m.withDialog(lines, w, h)
	case m.typing:
		cursor = tea.NewCursor(min(w-1, draw.Width(m.lastLine())+1), h-2)
	}
	if cursor != nil && (cursor.X >= m.w || cursor.Y >= m.h) {
		cursor = nil
	}
	lines = lines[:m.h]
	for i := range lines {
		lines[i] = m.Fit(lines[i], m.w)
	}
	return lines, cursor
}

func (m *model) body(w, h int) []string {
	switch {
	case m.help:
		return m.helpBody(w, h)
	case m.reading != nil:
		return m.readingBody(w, h)
	case m.page == pageRoom && m.detail != nil:
		return m.roomBody(w, h)
	case m.page == pageInbox:
		return m.inboxBody(w, h)
	}
	return m.listBody(w, h)
}

// head returns the first line: where one is, what waits, who one is, and the time.
func (m *model) head(w int) string {
	left := " " + m.Own(draw.Title, "talking stick")
	crumb := m.Own(draw.Dim, "  "+m.Mark(draw.Crumb)+"  ")
	if w < 60 {
		left, crumb = "", " "
	}
	switch {
	case m.help:
		left += crumb + m.Own(draw.Bold, "keys")
	case m.page == pageRoom && m.detail != nil:
		r := &m.detail.Room
		c := m.condition(r)
		room := max(10, w-draw.Width(left)-draw.Width(c.word)-20)
		left += crumb + m.Tail(draw.Bold, draw.Short(r.View.CanonicalPath, m.home), room) + "  " + m.marked(c) + " " + m.Own(c.style, c.word)
	case m.page == pageInbox:
		left += crumb + m.Own(draw.Bold, "for you")
	case w < 60:
		left += " " + m.Own(draw.Title, "rooms") + "  " + m.counts()
	default:
		left += "   " + m.counts()
	}
	clock := m.now.In(m.zone).Format("15:04:05") + " "
	me := m.Text(draw.Dim, m.me) + "  " + clock
	rights := []string{me, clock}
	if long, short := m.yoursLine(); long != "" {
		rights = []string{long + "   " + me, short + "   " + me, short + "   " + clock, clock}
	}
	for _, right := range rights {
		if gap := 3; draw.Width(left)+gap+draw.Width(right) <= w {
			return m.Sides(left, right, w)
		}
	}
	return left
}

// counts says how many rooms there are.
func (m *model) counts() string {
	held, stuck := 0, 0
	for i := range m.rooms {
		switch r := &m.rooms[i]; {
		case r.Stuck():
			stuck++
		case r.View.Owner != "":
			held++
		}
	}
	text := code.Count(len(m.rooms), "room")
	if held > 0 {
		text += fmt.Sprintf(", %d held", held)
	}
	text = m.Own(draw.Dim, text)
	if stuck > 0 {
		text += m.Own(draw.Dim, ", ") + m.Own(draw.Alarm, fmt.Sprintf("%d stuck", stuck))
	}
	return text
}

// yoursLine says what waits for the person, in words and in short, "" if nothing does.
func (m *model) yoursLine() (long, short string) {
	y := m.yours()
	var parts []string
	if y.Turn {
		parts = append(parts, "a turn")
		short += " " + m.Mark(draw.Reserved)
	}
	for _, c := range []struct {
		n    int
		what string
		mark draw.Mark
	}{
		{int(y.Questions), "question", draw.Question}, {int(y.Answers), "answer", draw.Answer},
		{int(y.Messages), "message", draw.Message}, {int(y.Notes), "note", draw.Note},
	} {
		if c.n > 0 {
			parts = append(parts, code.Count(c.n, c.what))
			short += fmt.Sprintf(" %s%d", m.Mark(c.mark), c.n)
		}
	}
	if len(parts) == 0 {
		return "", ""
	}
	return m.Own(draw.Yellow, "for you: "+strings.Join(parts, ", ")), m.Own(draw.Yellow, "for you:"+short)
}

// lastLine says what runs, what was done, or why not.
func (m *model) lastLine() string {
	switch {
	case m.typing:
		return m.Own(draw.Bold, "/") + m.Text(draw.Plain, *m.filter())
	case m.running != "":
		return m.Text(draw.Yellow, m.running+" "+m.Mark(draw.Ellipsis))
	case m.status.bad:
		return m.Own(draw.Red, m.Mark(draw.Gone)+" ") + m.Text(draw.Red, m.status.text)
	case !m.away.IsZero():
		return m.Own(draw.Yellow, "as of "+m.clock(m.away)+", since when the engine cannot be reached  ") + m.Text(draw.Dim, m.awayWhy)
	case m.status.text != "":
		return m.Text(draw.Dim, m.status.text)
	case m.lookErr != nil:
		return m.Text(draw.Red, m.lookErr.Error())
	case *m.filter() != "":
		what := map[page]string{pageRoom: "journal "}[m.page] + "only with /"
		return m.Own(draw.Dim, what) + m.Text(draw.Plain, *m.filter()) + m.Own(draw.Dim, "   esc shows all")
	}
	return ""
}

// keyLine says which keys there are, the first ones if there is no room for all.
func (m *model) keyLine(w int) string {
	var keys []keyHelp
	switch {
	case m.dialog != nil:
		keys = m.dialogKeys()
	case m.typing:
		keys = []keyHelp{{"enter", "keep"}, {"esc", "show all"}}
	case m.help:
		keys = []keyHelp{{"any key", "back"}, {"q", "end"}}
	case m.reading != nil:
		keys = []keyHelp{{"↑↓", "scroll"}, {"esc", "back"}, {"q", "end"}}
	case m.page == pageRooms:
		keys = []keyHelp{{"↑↓", "select"}, {"enter", "open"}, {"!", "next stuck"}, {"i", "inbox"}, {"/", "filter"},
			{"m", "message"}, {"t", "take"}, {"?", "keys"}, {"q", "quit"}}
	case m.page == pageInbox:
		keys = []keyHelp{{"↑↓", "select"}, {"enter", "read"}, {"→", "room"}, {"u", "answer"}, {"r", "resolve"},
			{"m", "message"}, {"esc", "back"}, {"?", "keys"}, {"q", "quit"}}
	default:
		keys = []keyHelp{{"tab", "list"}, {"m", "message"}, {"t", "take"}, {"a", "assign"}, {"x", "kick"},
			{"r", "resolve"}, {"u", "answer"}, {"h", "handoff"}, {"enter", "read"}, {"esc", "rooms"}, {"?", "keys"}, {"q", "quit"}}
	}
	if m.page == pageRoom && m.detail != nil && len(m.detail.Questions) == 0 {
		keys = slices.DeleteFunc(keys, func(k keyHelp) bool { return k.key == "u" })
	}
	if m.readOnly && m.dialog == nil && !m.typing {
		keys = append([]keyHelp{{"read-only", ""}}, keys...)
	}
	var parts []string
	for _, k := range keys {
		if !m.readOnly || m.dialog != nil || !strings.Contains("mtaxru", k.key) {
			parts = append(parts, m.Own(draw.Bold, m.keyName(k.key))+m.Own(draw.Dim, " "+k.does+"  "))
		}
	}
	// The last two lead on and out: they stay when there is no room for all.
	for draw.Width(strings.Join(parts, "")) > w+2 && len(parts) > 2 {
		parts = slices.Delete(parts, len(parts)-3, len(parts)-2)
	}
	return strings.Join(parts, "")
}

// keyName returns the name of a key as this terminal can show it.
func (m *model) keyName(key string) string {
	if m.ASCII {
		return strings.NewReplacer("↑↓", "up/down", "↑ ↓", "up down", "→", "right").Replace(key)
	}
	return key
}

// helpBody lists the keys.
func (m *model) helpBody(w, h int) []string {
	var lines []string
	for _, k := range keyHelps {
		lines = append(lines, "   "+m.Fit(m.Own(draw.Bold, m.keyName(k.key)), 9)+m.Own(draw.Dim, k.does))
	}
	lines = append(lines, "", m.Text(draw.Dim, "   What keys change they change by running tt, as "+m.me+"."))
	if len(lines) > h && w >= 100 {
		half := (len(lines) + 1) / 2
		return m.beside(lines[:half], lines[half:], w/2, half, "")
	}
	return lines
}

// beside returns lines with two lists side by side, the left one w columns wide.
func (m *model) beside(left, right []string, w, rows int, between string) (lines []string) {
	for i := range rows {
		var a, b string
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		lines = append(lines, m.Fit(a, w)+between+b)
	}
	return lines
}

// readingBody shows a text in full.
func (m *model) readingBody(w, h int) []string {
	text := draw.Wrap(m.reading.text, min(w-4, 100))
	rows := max(1, h-2)
	first := max(0, min(m.reading.first, len(text)-rows))
	lines := []string{"  " + m.Text(draw.Bold, m.reading.title), ""}
	for _, line := range text[first:min(len(text), first+rows)] {
		lines = append(lines, "  "+line)
	}
	if below := len(text) - first - rows; below > 0 {
		lines[1] = "  " + m.Own(draw.Dim, fmt.Sprintf("%s more %s", code.Count(below, "line"), m.Mark(draw.Below)))
	}
	return lines
}
