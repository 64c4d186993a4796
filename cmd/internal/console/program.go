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
