package ttcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
)

const editorTemplate = `
# Hand over the stick of %PATH%. What stands above [status] is left out;
# without a status and a next action nothing is released.
#
# [status]         what you did, what you learned, what is unfinished
# [next action]    what the next agent should do
# [artifacts]      a line each: PATH[:FROM-TO][=ROLE]
# [open questions] a line each
# [do not]         a line each

[status]

[next action]

[artifacts]

[open questions]

[do not]
`

// A draft is a file in which a person writes a handoff or an answer.
type draft struct{ file, template string }

// finish removes the draft if the command succeeded or nothing was written.
// Otherwise it keeps the file and prints its name.
func (d *draft) finish(c *cli.Invocation, err error) {
	if d == nil {
		return
	}
	text, readErr := os.ReadFile(d.file)
	if err == nil || (readErr == nil && string(text) == d.template) {
		_ = os.Remove(d.file)
		return
	}
	how := "; give it with --file"
	if strings.HasSuffix(d.file, ".md") {
		how = "; give it with --stdin"
	}
	c.Notice("what you wrote is kept in " + d.file + how)
}

// editHandoff lets the person at the terminal write the handoff. It also returns the
// draft, nil if there is none yet.
func editHandoff(ctx context.Context, c *cli.Invocation, workspaceRoot string) (json.RawMessage, *draft, error) {
	template := strings.TrimPrefix(strings.ReplaceAll(editorTemplate, "%PATH%", cli.Line(workspaceRoot)), "\n")
	text, d, err := editDraft(ctx, c, "tt-handoff-*.txt", template, func(err error) error {
		return code.New(code.InvalidHandoff, "%v; nothing was released", err).With("field", "handoff").
			WithHint(`set EDITOR, or give --status "…" and --next-action "…"`).Because(err)
	})
	if err != nil {
		return nil, d, err
	}
	if text == template {
		return nil, d, code.New(code.InvalidHandoff, "the handoff was left empty; nothing was released").With("field", "status")
	}
	handoff, err := parseTemplate(text)
	return handoff, d, err
}

// editAnswer lets the person at the terminal write the answer to the question of the
// command line. It also returns the draft, nil if there is none yet.
func editAnswer(ctx context.Context, c *cli.Invocation, room *member.Room) (string, *draft, error) {
	snap, err := room.FS.View()
	if err != nil {
		return "", nil, err
	}
	q, _, _, err := questions.Of(room).ShowQuestion(ctx, snap.State, c.Arg("question"))
	if err != nil {
		return "", nil, err
	}
	template := "\n# Answer " + cli.Line(q.From) + ". These lines are left out; without an answer nothing is saved.\n#\n"
	for line := range strings.Lines(cli.Block(cmp.Or(q.Text, topic.LostText))) {
		template += "# " + strings.TrimRight(line, "\n") + "\n"
	}
	text, d, err := editDraft(ctx, c, "tt-answer-*.md", template, func(err error) error {
		return code.New(code.InvalidBody, "%v; nothing was saved", err).WithHint("set EDITOR, or give the answer on the command line").Because(err)
	})
	if err != nil {
		return "", d, err
	}
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		// Lines with # that are none of the template were written by the person, as a heading for example.
		if !strings.HasPrefix(line, "#") || !strings.Contains("\n"+template, "\n"+line+"\n") {
			lines = append(lines, line)
		}
	}
	return paragraph(lines), d, nil
}

// editDraft lets the person edit a new file that has the template, and returns what is in
// it then. Its error is what refuse makes of the failure of an editor.
func editDraft(ctx context.Context, c *cli.Invocation, name, template string, refuse func(error) error) (string, *draft, error) {
	f, err := os.CreateTemp("", name)
	if err != nil {
		return "", nil, err
	}
	d := &draft{file: f.Name(), template: template}
	_, err = f.WriteString(template)
	if err = errors.Join(err, f.Close()); err != nil { // nobody has written anything into it
		_ = os.Remove(d.file)
		return "", nil, err
	}
	command := chosenEditor(c.Env, d.file)
	if command == nil {
		command = []string{"vi", d.file}
	}
	if err := edit(ctx, command); err != nil {
		return "", d, refuse(err)
	}
	text, err := os.ReadFile(d.file)
	return string(text), d, err
}

// chosenEditor returns the command that opens file in the editor of $VISUAL or
// $EDITOR, nil if neither is set. As in git, the variables are shell commands such as
// "code --wait". The shell catches the keys that
// interrupt, which would end it before the editor; the editor has the usual signals.
func chosenEditor(env *cli.Env, file string) []string {
	line := cmp.Or(strings.TrimSpace(env.Lookup("VISUAL")), strings.TrimSpace(env.Lookup("EDITOR")))
	if line == "" {
		return nil
	}
	return []string{"sh", "-c", "trap : INT QUIT; " + line + ` "$@"`, line, file}
}

// edit runs an editor on the terminal. While it runs, the keys that interrupt do not
// end this process: they are meant for the editor.
func edit(ctx context.Context, command []string) error {
	// The signals are caught, not ignored: the editor would inherit ignored signals.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGQUIT)
	defer signal.Stop(interrupts)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		name := command[0]
		if len(command) > 3 && command[1] == "-c" {
			name = command[3]
		}
		return fmt.Errorf("the editor %q failed: %w", name, err)
	}
	return nil
}

// heading returns the name of the section of the template that the line begins, in
// upper or lower case; "" for any other line, also one with other text in brackets.
func heading(line string) string {
	line = strings.ToLower(strings.TrimSpace(line))
	if strings.HasPrefix(line, "[") && strings.Contains(editorTemplate, "\n"+line+"\n") {
		return strings.Trim(line, "[]")
	}
	return ""
}

// parseTemplate reads a template that was filled in.
func parseTemplate(text string) (json.RawMessage, error) {
	sections := make(map[string][]string)
	current := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if title := heading(line); title != "" {
			current = title
		} else {
			sections[current] = append(sections[current], line)
		}
	}
	return encodeHandoff(turn.Handoff{
		Status: paragraph(sections["status"]), NextAction: paragraph(sections["next action"]),
		OpenQuestions: items(sections["open questions"]), DoNot: items(sections["do not"]),
	}, items(sections["artifacts"]))
}

func paragraph(lines []string) string { return strings.TrimSpace(strings.Join(lines, "\n")) }

func items(lines []string) []string {
	var list []string
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}
