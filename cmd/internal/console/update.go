package console

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/talking-stick/tt/cmd/internal/console/look"
)

// What arrives beside keys.
type (
	tickMsg    time.Time
	changedMsg struct{} // rooms have changed
	noticeMsg  string   // what is wrong, for the last line; "": nothing is
	then       func()   // what becomes of the model by what a command has found out
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
	case then:
		msg()
		return m.lookAgain()
	case noticeMsg:
		m.status = status{text: string(msg), bad: msg != ""}
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return nil
}

// engineReached takes note of whether the engine was reached, and if not why. While it cannot be, nothing
// is asked of it for the open room either.
func (m *model) engineReached(at time.Time, err error) {
	if err == nil {
		m.away, m.awayWhy = time.Time{}, ""
	} else if m.away.IsZero() {
		m.away, m.awayWhy = at, err.Error()
	}
	m.near()
	m.looks.due = m.looks.due || len(m.rooms) == 0
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

// see takes over the room in full, if it is still open.
func (m *model) see(d *look.Detail) {
	if d != nil && m.detail != nil && m.detail.Name == d.Name {
		m.detail = d
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
		started := time.Now()
		rooms, err := eyes.Rooms()
		now := detail
		if detail != nil {
			now = eyes.Detail(context.Background(), detail.Name, detail)
		}
		var items []look.Item
		if inbox {
			items = eyes.Inbox(context.Background(), rooms)
		}
		took := time.Since(started)
		return then(func() {
			m.looks.busy, m.looks.took, m.lookErr = false, took, err
			if err == nil {
				m.rooms, m.looks.full = rooms, started
			}
			if m.see(now); inbox {
				m.items = items
			}
		})
	}
}

// openRoom shows a room in full.
func (m *model) openRoom(r *look.Room) tea.Cmd {
	m.page, m.room, m.panel, m.at = pageRoom, r.Name, panelJournal, position{}
	m.filters[pageRoom], m.picked = "", [panels]string{}
	m.detail = &look.Detail{Room: *r}
	m.near()
	if m.watch != nil {
		m.watch(r.Name)
	}
	eyes, name := m.eyes, r.Name
	return func() tea.Msg {
		d := eyes.Detail(context.Background(), name, nil)
		return then(func() { m.see(d) })
	}
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
	return func() tea.Msg {
		items := eyes.Inbox(context.Background(), rooms)
		return then(func() { m.items = items })
	}
}

// start runs what the dialog is for, and says how that has ended.
func (m *model) start(d *dialog) tea.Cmd {
	var texts []string
	for _, f := range d.fields {
		texts = append(texts, strings.TrimSpace(f.Value()))
	}
	list, run := d.commands(d, texts), m.run
	m.leave()
	m.running, m.status = list[0].line(), status{}
	return func() tea.Msg {
		var last result
		ran := 0 // how many commands have not failed
		for _, c := range list {
			if last = run(c); last.err != nil {
				break
			}
			ran++
		}
		return then(func() {
			m.running, m.looks.due = "", true
			if last.err == nil {
				for _, f := range d.fields {
					delete(m.drafts, d.draft(f))
				}
				m.status = status{text: list[len(list)-1].line()}
				return
			}
			m.refuse(last.refusal())
			if ran == 0 || !d.takes {
				return
			}
			// The stick was taken, and could not be handed over.
			m.status.text = "you have the stick, but: " + m.status.text
			if r := m.find(d.room.Name); r != nil {
				m.askRelease(r, texts[1:])
			}
		})
	}
}

func (m *model) refuse(why string) { m.status = status{text: why, bad: true} }
