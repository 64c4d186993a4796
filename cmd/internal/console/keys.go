package console

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/edit"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/fsroom/talk"
)

// A keyHelp says what a key does. The list of keys is made of these.
type keyHelp struct{ key, does string }

var keyHelps = []keyHelp{
	{"↑ ↓", "select; also k j, pgup pgdn, home end"},
	{"enter", "open the room; read what is selected in full"},
	{"esc", "back; leaves a dialog and keeps what was typed"},
	{"tab", "the next list of the room; in a message, to whom"},
	{"!", "the next room that is stuck"},
	{"i", "what waits for you, in all rooms"},
	{"/", "show only what contains a text"},
	{"h", "the last handoff"},
	{"d", "what the selected turn changed, and how to take it back"},
	{"m", "message: tt msg send"},
	{"t", "take the stick: tt take"},
	{"a", "assign the stick to the selected member: tt assign"},
	{"x", "remove the selected member: tt kick"},
	{"r", "resolve the selected note: tt notes resolve"},
	{"u", "answer the selected question: tt answer"},
	{"? ", "these keys"},
	{"q", "end"},
}

// key carries out a key.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name == "ctrl+z" {
		return func() tea.Msg { return suspendMsg{} }
	}
	switch {
	case m.dialog != nil:
		return m.dialogKey(k, name)
	case m.typing:
		m.filterKey(k, name)
		return nil
	case name == "q" || name == "ctrl+c" || name == "ctrl+d":
		return tea.Quit
	case name == "?" && !m.help:
		m.help = true
		return nil
	case m.help:
		m.help = false
		return nil
	case m.reading != nil:
		m.readingKey(name)
		return nil
	}
	m.status = status{}
	if m.action(name) {
		return nil
	}
	switch name {
	case "!":
		return m.nextStuck()
	case "i":
		return m.openInbox()
	case "/":
		m.typing = m.page != pageInbox
		return nil
	}
	switch m.page {
	case pageRooms:
		return m.roomsKey(name)
	case pageInbox:
		return m.inboxKey(name)
	}
	if name == "d" {
		return m.readDiff()
	}
	m.roomKey(name)
	return nil
}

// steps are the keys that move a cursor, and how far: by lines, and by pages.
var steps = map[string][2]int{
	"up": {-1, 0}, "k": {-1, 0}, "down": {1, 0}, "j": {1, 0}, "pgup": {0, -1}, "pgdown": {0, 1},
	"home": {0, -1 << 20}, "end": {0, 1 << 20}, "g": {0, -1 << 20}, "G": {0, 1 << 20},
}

// step returns by how many lines a key moves where rows are shown, 0 if it does not.
func step(name string, rows int) int { return steps[name][0] + steps[name][1]*max(1, rows-1) }

// moved returns the index in a list after a key that moves.
func moved(at, count, rows int, name string) int { return max(0, min(count-1, at+step(name, rows))) }

// action opens the dialog of a key that does something. It returns false for another key.
func (m *model) action(name string) bool {
	ask := map[string]func(*look.Room){
		"m": m.askMessage, "t": m.askTake, "a": m.askAssign, "x": m.askKick, "r": m.askResolve, "u": m.askAnswer,
	}[name]
	if ask == nil {
		return false
	}
	r := m.target()
	switch {
	case m.readOnly:
		m.refuse("the console is read-only")
	case m.running != "":
		m.refuse("a command is running: " + m.running)
	case r == nil:
		m.refuse("no room is selected")
	case r.Err != nil:
		m.refuse("the room cannot be read: tt doctor")
	case name == "m" || name == "t" || m.page == pageRoom:
		ask(r)
	case m.page == pageRooms:
		m.refuse("open the room first: enter")
	case m.selected(map[string]string{"u": talk.KindQuestion, "r": talk.KindNote}[name]) == nil:
		m.refuse("open the room first: enter, then esc")
	default:
		ask(r)
	}
	return true
}

func (m *model) roomsKey(name string) tea.Cmd {
	rooms := m.shown()
	at := slices.IndexFunc(rooms, func(r *look.Room) bool { return r.Name == m.room })
	switch name {
	case "esc":
		m.filters[pageRooms] = ""
	case "enter", "right", "l":
		if at >= 0 && rooms[at].Err != nil {
			m.refuse(rooms[at].Err.Error())
		} else if at >= 0 {
			return m.openRoom(rooms[at])
		}
	default:
		if step(name, 2) != 0 && len(rooms) > 0 {
			m.room = rooms[moved(at, len(rooms), m.h-5, name)].Name
		}
	}
	return nil
}

func (m *model) inboxKey(name string) tea.Cmd {
	switch name {
	case "esc":
		if m.page = m.before; m.page == pageRoom && m.detail == nil {
			m.page = pageRooms
		}
	case "enter":
		if item := m.selectedItem(); item != nil {
			m.read(item.Kind+" from "+item.From+", "+draw.Short(item.Path, m.home), item.Text)
			if m.readOnly || item.Kind == look.KindTurn || item.Kind == talk.KindQuestion {
				return nil
			}
			m.opened = append(m.opened, *item)
			eyes, room, opened := m.eyes, item.Room, slices.Clone(m.opened)
			return func() tea.Msg {
				eyes.Shown(context.Background(), room, opened)
				return changedMsg{}
			}
		}
	case "right", "l":
		if r := m.target(); r != nil && r.Err == nil {
			return m.openRoom(r)
		}
	default:
		m.item = max(0, moved(m.item, len(m.items), m.h-5, name))
	}
	return nil
}

func (m *model) roomKey(name string) {
	switch name {
	case "esc", "left":
		if m.filters[pageRoom] != "" {
			m.filters[pageRoom] = ""
			return
		}
		m.closeRoom()
	case "tab":
		m.turnPanel(1)
	case "shift+tab":
		m.turnPanel(-1)
	case "h":
		m.readHandoff()
	case "enter":
		m.readSelected()
	default:
		if step(name, 2) != 0 {
			m.movePanel(name)
		}
	}
}

// turnPanel gives the keys to the next panel that has something to select.
func (m *model) turnPanel(by int) {
	for {
		m.panel = panel((int(m.panel) + by + panels) % panels)
		if ids, _ := m.ids(m.panel); len(ids) > 0 || m.panel == panelJournal {
			return
		}
	}
}

// movePanel moves the cursor of the panel that has the keys.
func (m *model) movePanel(name string) {
	rows := m.panelRows()
	if m.panel == panelJournal {
		m.moveJournal(name, rows)
		return
	}
	ids, _ := m.ids(m.panel)
	picked := &m.picked[m.panel]
	*picked = ids[moved(slices.Index(ids, *picked), len(ids), rows, name)]
}

// moveJournal moves the cursor of the journal. Behind the last event the journal follows
// its end again.
func (m *model) moveJournal(name string, rows int) {
	list := m.entries()
	if len(list) == 0 {
		return
	}
	at, last := m.journalAt(list)
	if m.at == (position{}) {
		at = len(list) // the first key up selects the last event
	}
	to := at + step(name, rows)
	if to >= len(list) {
		m.at = position{}
		return
	}
	to = max(0, to)
	last = min(len(list)-1, max(to, min(last, to+rows-1)))
	m.at = position{last: list[last].Seq, pick: list[to].Seq}
}

// journalAt returns the index of the selected entry and of the last one on the screen.
func (m *model) journalAt(list []*look.Entry) (pick, last int) {
	if m.at == (position{}) {
		return -1, len(list) - 1
	}
	find := func(seq int64) int {
		at, _ := slices.BinarySearchFunc(list, seq, func(e *look.Entry, seq int64) int { return int(e.Seq - seq) })
		return min(at, len(list)-1)
	}
	return find(m.at.pick), find(m.at.last)
}

// nextStuck selects the next room that is stuck, and opens it if a room is open.
func (m *model) nextStuck() tea.Cmd {
	rooms := m.shown()
	if m.page == pageInbox {
		m.page = pageRooms
	}
	at := slices.IndexFunc(rooms, func(r *look.Room) bool { return r.Name == m.room })
	for i := range rooms {
		r := rooms[(max(at, -1)+1+i)%len(rooms)]
		if !r.Stuck() {
			continue
		}
		m.room = r.Name
		if m.page == pageRoom && r.Err == nil && m.detail.Name != r.Name {
			return m.openRoom(r)
		}
		if m.page == pageRoom && r.Err != nil {
			m.closeRoom()
		}
		return nil
	}
	m.status = status{text: "no room is stuck"}
	return nil
}

// dialogKey passes a key on to the dialog.
func (m *model) dialogKey(k tea.KeyPressMsg, name string) tea.Cmd {
	d := m.dialog
	d.used, d.missing = m.now, ""
	switch name {
	case "esc", "ctrl+c":
		m.leave()
		return nil
	case "tab", "shift+tab":
		at, count, by := &d.at, len(d.fields), 1
		if d.toward != nil {
			at, count = &d.to, len(d.toward)
		}
		if name == "shift+tab" {
			by = count - 1
		}
		*at = (*at + by) % max(1, count)
		return nil
	case "ctrl+t":
		d.interrupt = d.toward != nil && !d.interrupt
		return nil
	case "enter":
		return m.enter(d)
	}
	if len(d.fields) == 0 {
		return nil
	}
	f := d.fields[d.at]
	if name == "ctrl+e" {
		return m.editField(f)
	}
	if !f.Key(name, m.fieldWidth(f)) && k.Text != "" {
		f.Insert(k.Text)
	}
	return nil
}

// enter goes on to the next field, and behind the last one carries the dialog out.
func (m *model) enter(d *dialog) tea.Cmd {
	for i, f := range d.fields {
		missing := f.missing()
		if missing == "" {
			continue
		}
		if i <= d.at {
			d.missing = missing
		}
		d.at = i
		return nil
	}
	if m.running != "" {
		d.missing = "a command is running"
		return nil
	}
	return m.start(d)
}

// missing says what is missing before the dialog can go on, "" if nothing is.
func (f *field) missing() string {
	switch v := strings.TrimSpace(f.Value()); {
	case f.want != "" && v != f.want:
		return "type " + f.want
	case v == "":
		return "this needs a text"
	}
	return ""
}

// filter is that of the page.
func (m *model) filter() *string { return &m.filters[m.page] }

// filterKey passes a key on to the filter.
func (m *model) filterKey(k tea.KeyPressMsg, name string) {
	filter := m.filter()
	switch name {
	case "enter", "tab":
		m.typing = false
	case "esc", "ctrl+c":
		m.typing, *filter = false, ""
	default:
		text := edit.New(*filter)
		if !text.Key(name, m.w) && k.Text != "" {
			text.Insert(k.Text)
		}
		*filter = text.Value()
	}
}

// paste puts pasted text into the dialog. Elsewhere it means nothing: it is not keys.
func (m *model) paste(text string) {
	if d := m.dialog; d != nil && len(d.fields) > 0 {
		d.used, d.missing = m.now, ""
		d.fields[d.at].Insert(text)
	}
}
