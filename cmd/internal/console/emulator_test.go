package console

import (
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/gdamore/tcell/v3/vt"
)

// A still program looks at nothing and has no clock: what the terminal shows can be
// compared with a frame.
type still struct{ *program }

func (still) Init() tea.Cmd { return nil }

// screenOf returns what the emulator shows.
func screenOf(term vt.MockTerm, w, h int) string {
	var lines []string
	for y := range h {
		var line strings.Builder
		for x := 0; x < w; x++ {
			c := term.GetCell(vt.Coord{X: vt.Col(x), Y: vt.Row(y)})
			if c.C == "" {
				c.C = " "
			}
			line.WriteString(c.C)
			x += ansi.StringWidth(c.C) - 1
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return strings.Join(lines, "\n")
}

// The terminal shows the frames, one after the other, and is left as it was.
func TestProgramOnATerminal(t *testing.T) {
	t.Parallel()
	const w, h = 80, 24
	for _, colour := range []bool{false, true} {
		term := vt.NewMockTerm(vt.MockOptSize{X: w, Y: h})
		if err := term.Start(); err != nil {
			t.Fatal(err)
		}
		m := sample(w, h)
		m.Colour, m.eyes, m.looks.busy = colour, newWorld(t), true
		shown := &program{model: m, screen: &screen{to: term}}
		p := tea.NewProgram(still{shown}, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutRenderer(), tea.WithWindowSize(w, h), tea.WithoutSignals())
		ended := make(chan error, 1)
		go func() { _, err := p.Run(); ended <- err }()
		press := func(keys ...tea.KeyPressMsg) {
			for _, k := range keys {
				p.Send(k)
			}
		}
		letter := func(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Text: string(r)} }
		shows := func(what string, want *model) {
			t.Helper()
			want.w, want.h = w, h
			frame := strings.TrimRight(string(render(t, want)), "\n")
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				got := strings.TrimRight(screenOf(term, w, h), "\n")
				if got == frame {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s, colour %v: the terminal shows\n%s\n\nnot\n%s", what, colour, got, frame)
				}
			}
		}
		shows("the list", sample(w, h))
		press(tea.KeyPressMsg{Code: tea.KeyEnter})
		opened := sampleRoom(w, h)
		shows("a room", opened)
		press(letter('h'))
		opened.readHandoff()
		shows("the handoff", opened)
		press(tea.KeyPressMsg{Code: tea.KeyEscape}, letter('t'), letter('日'), letter('x'))
		opened.reading = nil
		opened.askTake(opened.target())
		opened.dialog.fields[0].Insert("日x")
		shows("a dialog", opened)
		press(tea.KeyPressMsg{Code: tea.KeyEscape}, letter('q'))
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}
