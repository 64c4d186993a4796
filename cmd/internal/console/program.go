package console

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
)

// A program is the model on a screen. Bubble Tea decodes the keys and runs commands, and
// does not draw: its renderer looks for something to draw at a fixed rate, and so either
// shows a key late or costs time while nothing happens.
type program struct {
	*model
	screen *screen
	failed failedMsg
}

// A failedMsg tells of a panic.
type failedMsg string

// Init implements [tea.Model].
func (p *program) Init() tea.Cmd { return guarded(tea.Batch(p.tick, p.pending, p.notice)) }

// Update implements [tea.Model]. A panic ends the program, after which the terminal is
// made what it was and the panic is shown.
func (p *program) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	failed := guarded(func() tea.Msg { cmd = p.handle(msg); return msg })()
	if why, ok := failed.(failedMsg); ok {
		p.failed, cmd = why, tea.Quit
	}
	return p, cmd
}

func (p *program) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case suspendMsg:
		p.screen.leave()
		return tea.Suspend
	case editMsg:
		return tea.Exec(&editor{Cmd: exec.Command(msg.words[0], msg.words[1:]...), screen: p.screen}, msg.done)
	}
	_, cmd := p.model.Update(msg)
	p.screen.show(p.frame())
	return guarded(cmd)
}

// View implements [tea.Model]. It is not used: see [screen].
func (p *program) View() tea.View { return tea.View{} }

// guarded returns a command whose panic becomes a message.
func guarded(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if reason := recover(); reason != nil {
				msg = failedMsg(fmt.Sprintf("panic: %v\n\n%s", reason, debug.Stack()))
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = guarded(batch[i])
			}
		}
		return msg
	}
}

// A suspendMsg asks for the shell, as ^Z does.
type suspendMsg struct{}

// An editMsg asks for an editor on the terminal.
type editMsg struct {
	words []string
	done  func(error) tea.Msg
}

// An editor is a program that has the terminal until it ends.
type editor struct {
	*exec.Cmd
	screen *screen
}

func (e *editor) SetStdin(r io.Reader)  { e.Stdin = r }
func (e *editor) SetStdout(w io.Writer) { e.Stdout = w }
func (e *editor) SetStderr(w io.Writer) { e.Stderr = w }

func (e *editor) Run() error {
	e.screen.leave()
	return e.Cmd.Run()
}

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

// endings are the signals that end the console.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// onResize calls changed when the terminal may have another size, until stop is called.
func onResize(changed func()) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	go func() {
		for range signals {
			changed()
		}
	}()
	return func() { signal.Stop(signals) }
}
