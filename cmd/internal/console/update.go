package console

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/talking-stick/tt/cmd/internal/console/edit"
	"github.com/talking-stick/tt/cmd/internal/console/look"
)

// What arrives beside keys.
type (
	tickMsg    time.Time
	changedMsg struct{} // rooms have changed
	lookedMsg  struct { // a look at the rooms
		rooms   []look.Room
		err     error
		detail  *look.Detail // of the open room
		items   []look.Item
		inbox   bool // items is set
		started time.Time
		took    time.Duration
	}
	openedMsg struct{ detail *look.Detail } // the room that was opened
	inboxMsg  []look.Item
	ranMsg    struct { // commands have run
		dialog *dialog
		texts  []string
		list   []command
		failed int // the one that failed; negative: none
		last   result
	}
	editedMsg struct {
		field *field
		text  string
		err   error
	}
	noticeMsg string // what is wrong, for the last line; "": nothing is
	// engineMsg says whether the engine was reached, and if not why.
	engineMsg struct {
		err error
		at  time.Time
	}
)

// lookEvery is how often every room is looked at when nothing tells of a change.
const lookEvery = 5 * time.Second

// tick sends the next second: the clock and all times on the screen go on.
func (m *model) tick() tea.Msg {
	m.pause(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	return tickMsg(time.Now())
}

// atUpdate is called before each message is taken in. It is nil outside tests, where it
// makes the console fail at a chosen moment.
var atUpdate func(tea.Msg)

// Update takes a message in. It returns what is to be done, as for [tea.Model].
func (m *model) Update(msg tea.Msg) (*model, tea.Cmd) {
	if atUpdate != nil {
		atUpdate(msg)
	}
	cmd := m.update(msg)
	m.settle()
	return m, cmd
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tickMsg:
		m.now = time.Time(msg)
		if m.dialog != nil && m.now.Sub(m.dialog.used) >= patience {
			m.leave()
			m.status = status{text: "the dialog was closed after a minute without a key; what you typed is kept"}
		}
		if m.now.Sub(m.looks.full) >= lookEvery {
			m.looks.due = true
		}
		return tea.Batch(m.tick, m.lookAgain())
	case changedMsg:
		m.looks.due = true
		return m.lookAgain()
	case lookedMsg:
		m.takeIn(msg)
		return m.lookAgain()
	case openedMsg:
		if m.page == pageRoom && (m.detail == nil || m.detail.Name == msg.detail.Name) {
			m.detail = msg.detail
		}
	case inboxMsg:
		m.items = msg
	case diffMsg:
		m.read(msg.title, msg.text)
	case ranMsg:
		m.ran(msg)
		m.looks.due = true
		return m.lookAgain()
	case editedMsg:
		if msg.err != nil {
			m.refuse("the editor failed: " + msg.err.Error())
		} else {
			msg.field.Text = edit.New(msg.text)
		}
	case engineMsg:
		m.engineReached(msg)
		if len(m.rooms) == 0 {
			m.looks.due = true
			return m.lookAgain()
		}
	case noticeMsg:
		m.status = status{text: string(msg), bad: msg != ""}
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return nil
}

// engineReached takes note of whether the engine can be reached. While it cannot, nothing
// is asked of it for the open room either.
func (m *model) engineReached(msg engineMsg) {
	if msg.err == nil {
		m.away, m.awayWhy = time.Time{}, ""
	} else if m.away.IsZero() {
		m.away, m.awayWhy = msg.at, msg.err.Error()
	}
	m.near()
}

// near tells the looker for which room the engine is asked.
func (m *model) near() {
	switch {
	case m.ask == nil:
	case m.detail == nil || !m.away.IsZero():
		m.ask("")
	default:
		m.ask(m.detail.Name)
	}
}

// takeIn takes over what a look has seen.
func (m *model) takeIn(msg lookedMsg) {
	m.looks.busy, m.looks.took, m.lookErr = false, msg.took, msg.err
	if msg.err == nil {
		m.rooms, m.looks.full = msg.rooms, msg.started
	}
	if msg.detail != nil && m.detail != nil && m.detail.Name == msg.detail.Name {
		m.detail = msg.detail
	}
	if msg.inbox {
		m.items = msg.items
	}
}

// lookAgain starts a look if something may have changed and none is under way. It takes
// a rest in proportion to the time of the last one, so that busy rooms do not keep the
// console busy.
func (m *model) lookAgain() tea.Cmd {
	if m.looks.busy || !m.looks.due {
		return nil
	}
	const share, longest = 10, time.Second
	rest := min(longest, share*m.looks.took)
	m.looks.busy, m.looks.due = true, false
	eyes, detail, inbox := m.eyes, m.detail, m.page == pageInbox
	return func() tea.Msg {
		m.pause(rest)
		msg := lookedMsg{inbox: inbox, started: time.Now()}
		msg.rooms, msg.err = eyes.Rooms()
		if detail != nil {
			msg.detail = eyes.Detail(context.Background(), detail.Name, detail)
		}
		if inbox {
			msg.items = eyes.Inbox(context.Background(), msg.rooms)
		}
		msg.took = time.Since(msg.started)
		return msg
	}
}

// openRoom shows a room in full.
func (m *model) openRoom(r *look.Room) tea.Cmd {
	m.page, m.room, m.panel, m.at = pageRoom, r.Name, panelJournal, position{}
	m.filters[1], m.picked = "", [panels]string{}
	m.detail = &look.Detail{Room: *r}
	m.near()
	if m.watch != nil {
		m.watch(r.Name)
	}
	eyes, name := m.eyes, r.Name
	return func() tea.Msg { return openedMsg{eyes.Detail(context.Background(), name, nil)} }
}

// closeRoom goes back to the rooms.
func (m *model) closeRoom() {
	m.page, m.detail = pageRooms, nil
	m.near()
	if m.watch != nil {
		m.watch("")
	}
}

func (m *model) openInbox() tea.Cmd {
	m.before, m.page, m.item = m.page, pageInbox, 0
	if m.before == pageInbox {
		m.before = pageRooms
	}
	eyes, rooms := m.eyes, m.rooms
	return func() tea.Msg { return inboxMsg(eyes.Inbox(context.Background(), rooms)) }
}

// start runs what the dialog is for.
func (m *model) start(d *dialog) tea.Cmd {
	var texts []string
	for _, f := range d.fields {
		texts = append(texts, strings.TrimSpace(f.Value()))
	}
	list, run := d.commands(d, texts), m.run
	m.leave()
	m.running, m.status = list[0].line(), status{}
	return func() tea.Msg {
		msg := ranMsg{dialog: d, texts: texts, list: list, failed: -1}
		for i, c := range list {
			if msg.last = run(c); msg.last.err != nil {
				msg.failed = i
				break
			}
		}
		return msg
	}
}

// ran says how commands have ended.
func (m *model) ran(msg ranMsg) {
	m.running = ""
	if msg.failed < 0 {
		for _, f := range msg.dialog.fields {
			delete(m.drafts, msg.dialog.draft(f))
		}
		m.status = status{text: msg.list[len(msg.list)-1].line()}
		return
	}
	m.refuse(msg.last.refusal())
	if msg.failed == 0 || !msg.dialog.takes {
		return
	}
	// The stick was taken, and could not be handed over.
	m.status.text = "you have the stick, but: " + m.status.text
	if r := m.find(msg.dialog.name); r != nil {
		m.askRelease(r, msg.texts[1:])
	}
}

func (m *model) refuse(why string) { m.status = status{text: why, bad: true} }
