package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
)

// A screen writes frames to a terminal: of each the lines that differ from the frame
// before, at once and in one write. Nothing is written, and no time passes, while nothing
// changes.
type screen struct {
	mu     sync.Mutex
	to     io.Writer
	input  *os.File    // the terminal that keys come from; nil: it is none
	mode   *term.State // of the input, before the first frame
	on     bool        // the terminal shows frames
	lines  []string    // what it shows
	w      int         // how wide they are
	cursor string      // what puts the cursor where it is, or hides it
	err    error       // of a write that failed: the terminal is gone
}

const (
	// The alternate screen, without cursor, without going on in the next line, and with
	// marks around what is pasted.
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[H\x1b[2J"
	leaveScreen = "\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// show makes the terminal show a frame, whose lines are all as wide as the terminal.
func (s *screen) show(lines []string, cursor *tea.Cursor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(lines) == 0 {
		return
	}
	var b strings.Builder
	w := draw.Width(lines[0])
	switch {
	case !s.on:
		if s.input != nil {
			s.mode, _ = term.MakeRaw(int(s.input.Fd())) // keys arrive one by one
		}
		b.WriteString(enterScreen)
		s.on, s.lines = true, nil
	case len(lines) != len(s.lines) || w != s.w:
		b.WriteString("\x1b[2J")
		s.lines = nil
	}
	for i, line := range lines {
		if s.lines != nil && s.lines[i] == line {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1H", i+1)
		text := strings.TrimRight(line, " ")
		b.WriteString(text)
		if text != line {
			b.WriteString("\x1b[K")
		}
	}
	place := "\x1b[?25l"
	if cursor != nil {
		place = fmt.Sprintf("\x1b[%d;%dH\x1b[?25h", cursor.Y+1, cursor.X+1)
	}
	if b.Len() > 0 || place != s.cursor {
		s.write("\x1b[?25l" + b.String() + place)
	}
	s.lines, s.w, s.cursor = lines, w, place
}

// leave makes the terminal what it was before the first frame.
func (s *screen) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on {
		s.on = false
		s.write(leaveScreen)
		s.cooked()
	}
}

// cooked undoes raw mode.
func (s *screen) cooked() {
	if s.mode != nil {
		_ = term.Restore(int(s.input.Fd()), s.mode)
	}
}

func (s *screen) write(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.to, text)
	}
}
