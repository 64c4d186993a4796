package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/edit"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/cmd/internal/second"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
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
		rows := max(1, m.h-5)
		r.first = max(0, min(len(draw.Wrap(r.text, m.w-4))-rows, r.first+step(name, rows)))
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
	var b strings.Builder
	for _, part := range turn.ReadHandoff(e.Handoff).Parts("  ") {
		b.WriteString(part.Title + "\n  " + strings.ReplaceAll(strings.Join(part.Texts, "\n"), "\n", "\n  ") + "\n\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// readDiff shows what the turn of the selected event changed, below the commands that bring work back.
func (m *model) readDiff() tea.Cmd {
	r := &m.detail.Room
	id := r.View.TurnID
	if list := m.entries(); len(list) > 0 {
		if pick, _ := m.journalAt(list); pick >= 0 {
			id = list[pick].Turn
		}
	}
	run := m.run
	of := func(args ...string) command { return m.tt(r, "", args...) }
	show := of("diff", number(id), "--patch")
	show.argv[len(show.argv)-1] = "--text"
	back := "to take it back         " + of("undo", number(id)).line() + "\nto bring back lost work " + of("restore", "--lost").line() + "\n\n"
	return func() tea.Msg {
		res := run(show)
		text := string(res.stdout)
		if res.err != nil {
			text = res.refusal()
		}
		return then(func() { m.read("turn "+number(id)+": "+show.line(), back+text) })
	}
}

// readSelected shows what is selected in full.
func (m *model) readSelected() {
	switch m.panel {
	case panelMembers:
		if x := m.selectedMember(); x != nil {
			m.read(x.AgentID, m.memberText(x))
		}
	case panelQuestions:
		if q := m.selected(talk.KindQuestion); q != nil {
			m.read("question "+q.ID+" of "+q.From+", "+m.clock(q.At), q.Text)
		}
	case panelNotes:
		if n := m.selected(talk.KindNote); n != nil {
			m.read("note "+shortID(n.ID)+" of "+n.From+", "+m.clock(n.At), n.Text)
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
	text, who := m.told(e).word, e.From
	switch {
	case e.Text != "":
		text = e.Text
	case len(e.Handoff) > 0:
		text = handoffText(&e.Event)
	}
	if e.To != "" {
		who += " " + m.Mark(draw.Hands) + " " + e.To
	}
	m.read("event "+number(e.Seq)+", "+e.Type+", "+m.clock(e.CreatedAt.Time), who+"\n\n"+text)
}

// memberText says what is known of a member.
func (m *model) memberText(x *look.Member) string {
	lines := []string{
		m.memberState(&m.detail.Room, x).word, "", "name      " + x.DisplayName, "joined    " + m.clock(x.JoinedAt.Time),
		"seen      " + m.clock(x.LastSeenAt.Time), "process   " + string(x.Process),
	}
	switch pid := number(int64(x.PID)); {
	case x.Guardian && x.PID != 0:
		lines[len(lines)-1] = "process   none known; its guardian is alive, pid " + pid
	case x.PID != 0:
		lines[len(lines)-1] += ", pid " + pid
	}
	if _, word, means := hearing(x); word != "" {
		lines = append(lines, "reach     "+word+": "+means)
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
func (m *model) editField(f *field) tea.Cmd {
	typed := f.Value() // now: the command runs beside other keys
	edited := func(text string, err error) tea.Msg {
		return then(func() {
			if err != nil {
				m.refuse("the editor failed: " + err.Error())
			} else {
				f.Text = edit.New(text)
			}
		})
	}
	return func() tea.Msg {
		file, err := os.CreateTemp("", "tt-console-*.txt")
		if err != nil {
			return edited("", err)
		}
		_, err = file.WriteString(typed)
		if err = errors.Join(err, file.Close()); err != nil {
			return edited("", err)
		}
		editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
		return editMsg{append(strings.Fields(editor), file.Name()), func(err error) tea.Msg {
			defer os.Remove(file.Name())
			if err != nil {
				return edited("", err)
			}
			text, err := os.ReadFile(file.Name())
			return edited(strings.TrimRight(string(text), "\n"), err)
		}}
	}
}

// A command is one run of tt. The console changes nothing in any other way.
type command struct {
	argv  []string // without the program
	stdin string
}

// A result is what a command has answered.
type result struct {
	stdout []byte
	stderr []byte
	err    error // nil: it exited with 0
}

// A runner runs a command of tt.
type runner func(command) result

// slowest is how long a command may take. The longest that it waits by itself is 5 s,
// for a lock.
const slowest = 30 * time.Second

// runTT returns the runner that starts the program.
func runTT(p *cli.Program, program string) runner {
	return func(c command) result {
		ctx, cancel := context.WithTimeout(context.Background(), slowest)
		defer cancel()
		cmd := second.Command(ctx, p, program, c.argv...)
		cmd.Env = append(cmd.Env, "TT_HARNESS_EXPORT=")
		cmd.Stdin = strings.NewReader(c.stdin)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		cmd.WaitDelay = time.Second // what it leaves running does not hold us up
		err := cmd.Run()
		return result{out.Bytes(), errs.Bytes(), err}
	}
}

// refusal returns the message of a command that failed, with its hint.
func (r result) refusal() string {
	lines := bytes.Split(bytes.TrimSpace(r.stderr), []byte("\n"))
	var e struct{ Error, Message, Hint string }
	if json.Unmarshal(lines[len(lines)-1], &e) == nil && e.Message != "" {
		if e.Hint != "" {
			return e.Message + " · " + e.Hint
		}
		return e.Message
	}
	if last := strings.TrimSpace(string(lines[len(lines)-1])); last != "" {
		return last
	}
	return "tt could not be run: " + r.err.Error()
}

// line returns the command as one would type it.
func (c command) line() string {
	words := []string{"tt"}
	for _, arg := range c.argv {
		if arg != "--json" {
			words = append(words, code.ShellWord(arg))
		}
	}
	return strings.Join(words, " ")
}
