package console

import (
	"fmt"
	"io"
	"os/exec"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
)

// A program is the model on a screen. Bubble Tea decodes the keys and runs commands, and
// does not draw: its renderer looks for something to draw at a fixed rate, and so either
// shows a key late or costs time while nothing happens.
type program struct {
	*model
	screen *screen
	failed *failedMsg
}

// A failedMsg is a panic.
type failedMsg struct {
	reason any
	stack  string
}

func (f *failedMsg) Error() string { return fmt.Sprintf("panic: %v\n\n%s", f.reason, f.stack) }

// Init implements [tea.Model].
func (p *program) Init() tea.Cmd { return guarded(p.model.Init()) }

// Update implements [tea.Model]. A panic ends the program, after which the terminal is
// made what it was and the panic is shown.
func (p *program) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if reason := recover(); reason != nil {
			p.failed = &failedMsg{reason, string(debug.Stack())}
			cmd = tea.Quit
		}
	}()
	switch msg := msg.(type) {
	case failedMsg:
		p.failed = &msg
		return p, tea.Quit
	case suspendMsg:
		p.screen.leave()
		return p, tea.Suspend
	case editMsg:
		return p, tea.Exec(&editor{Cmd: exec.Command(msg.words[0], msg.words[1:]...), screen: p.screen}, msg.done)
	}
	_, cmd = p.model.Update(msg)
	p.screen.show(p.frame())
	return p, guarded(cmd)
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
				msg = failedMsg{reason, string(debug.Stack())}
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
