package console

import (
	"fmt"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// read shows a text in full.
func (m *model) read(title, text string) { m.reading = &reading{title: title, text: text} }

func (m *model) readingKey(name string) {
	r := m.reading
	switch name {
	case "esc", "enter", "h", "left":
		m.reading = nil
	default:
		if _, moves := steps[name]; moves {
			rows := max(1, m.h-5)
			r.first = max(0, min(len(draw.Wrap(r.text, m.w-4))-rows, r.first+steps[name][0]+steps[name][1]*max(1, rows-1)))
		}
	}
}

// readHandoff shows the last handoff.
func (m *model) readHandoff() {
	e := m.detail.Handoff
	if e == nil {
		m.status = status{text: "nobody has handed over yet"}
		return
	}
	m.read("handoff of "+e.From+", turn "+number(e.Turn)+", "+m.clock(e.CreatedAt.Time), handoffText(e))
}

func handoffText(e *event.Event) string {
	h := turn.ReadHandoff(e.Handoff)
	var b strings.Builder
	section := func(title string, texts ...string) {
		if len(texts) > 0 {
			b.WriteString(title + "\n  " + strings.ReplaceAll(strings.Join(texts, "\n"), "\n", "\n  ") + "\n\n")
		}
	}
	section("Status", h.Status)
	section("Next action", h.NextAction)
	var files []string
	for _, a := range h.Artifacts {
		line := a.Path
		if len(a.Lines) == 2 {
			line += ":" + number(a.Lines[0]) + "-" + number(a.Lines[1])
		}
		if a.Role != "" {
			line += " (" + a.Role + ")"
		}
		if a.Note != "" {
			line += "  " + a.Note
		}
		files = append(files, line)
	}
	section("Artifacts", files...)
	section("Open questions", h.OpenQuestions...)
	section("Do not", h.DoNot...)
	return strings.TrimRight(b.String(), "\n")
}

// readSelected shows what is selected in full.
func (m *model) readSelected() {
	switch m.panel {
	case panelMembers:
		if x := m.selectedMember(); x != nil {
			m.read(x.AgentID, m.memberText(x))
		}
	case panelQuestions:
		if q := m.selectedQuestion(); q != nil {
			m.read("question "+q.ID+" of "+q.From+", "+m.clock(q.AskedAt.Time), q.Text)
		}
	case panelNotes:
		if n := m.selectedNote(); n != nil {
			m.read("note "+shortID(n.ID)+" of "+n.Author+", "+m.clock(n.CreatedAt.Time), n.Body)
		}
	default:
		m.readEntry()
	}
}

// readEntry shows the selected event, or the last one if the journal follows its end.
func (m *model) readEntry() {
	list := m.entries()
	if len(list) == 0 {
		return
	}
	pick, last := m.journalAt(list)
	if pick < 0 {
		pick = last
	}
	e := list[pick]
	text := m.told(e)
	switch {
	case e.Text != "":
		text = e.Text
	case len(e.Handoff) > 0:
		text = handoffText(&e.Event)
	}
	m.read("event "+number(e.Seq)+", "+e.Type+", "+m.clock(e.CreatedAt.Time), m.headline(e)+"\n\n"+text)
}

// headline says who did what to whom.
func (m *model) headline(e *look.Entry) string {
	text := e.From
	if e.To != "" {
		text += " " + m.Mark(draw.Hands) + " " + e.To
	}
	return text
}

// memberText says what is known of a member.
func (m *model) memberText(x *look.Member) string {
	_, what := m.memberState(&m.detail.Room, x)
	lines := []string{
		what, "", "name      " + x.DisplayName, "joined    " + m.clock(x.JoinedAt.Time),
		"seen      " + m.clock(x.LastSeenAt.Time), "process   " + string(x.Process),
	}
	if x.PID != 0 {
		lines[len(lines)-1] += ", pid " + number(int64(x.PID))
	}
	if h := hearingOf(x); h.word != "" {
		lines = append(lines, "reach     "+h.word+": "+h.means)
	}
	if x.Why != "" {
		lines = append(lines, "inactive  "+x.Why)
	}
	if x.Stopped {
		lines = append(lines, "", fmt.Sprintf("Somebody has stopped it, by ^Z or a signal. It goes on with: kill -CONT %d", x.PID))
	}
	return strings.Join(lines, "\n")
}

// editField edits the text of a field in the editor of the user.
func editField(f *field) tea.Cmd {
	file, err := os.CreateTemp("", "tt-console-*.txt")
	if err != nil {
		return func() tea.Msg { return editedMsg{f, "", err} }
	}
	_, err = file.WriteString(f.Value())
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return func() tea.Msg { return editedMsg{f, "", err} }
	}
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		editor = "vi"
	}
	words := append(strings.Fields(editor), file.Name())
	done := func(err error) tea.Msg {
		defer os.Remove(file.Name())
		if err != nil {
			return editedMsg{f, "", err}
		}
		text, err := os.ReadFile(file.Name())
		return editedMsg{f, strings.TrimRight(string(text), "\n"), err}
	}
	return func() tea.Msg { return editMsg{words, done} }
}
