package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

const editorTemplate = `
# Hand over the stick of %PATH%. Lines that begin with # are left out;
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

// A draft is a handoff that a person wrote in an editor.
type draft struct{ file, template string }

// settle removes the draft when it is of no more use. What somebody wrote and
// nobody took is kept, and where is told.
func (d *draft) settle(c *front.Call, err error) {
	if d == nil {
		return
	}
	text, readErr := os.ReadFile(d.file)
	if err == nil || (readErr == nil && string(text) == d.template) {
		_ = os.Remove(d.file)
		return
	}
	c.Notice("what you wrote is kept in " + d.file)
}

// editHandoff lets the person at the terminal write the handoff.
func (s *seat) editHandoff(ctx context.Context) (json.RawMessage, error) {
	f, err := os.CreateTemp("", "tt-handoff-*.txt")
	if err != nil {
		return nil, err
	}
	template := strings.TrimPrefix(strings.ReplaceAll(editorTemplate, "%PATH%", front.Line(s.workspace.Root)), "\n")
	s.draft = &draft{file: f.Name(), template: template}
	_, err = f.WriteString(template)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	if err := runEditor(ctx, s, f.Name()); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(f.Name())
	if err != nil {
		return nil, err
	}
	if string(text) == template {
		return nil, code.New(code.InvalidHandoff, "the handoff was left empty; nothing was released").With("field", "status")
	}
	return parseTemplate(string(text))
}

// runEditor starts the editor through the shell, so that EDITOR="code --wait"
// works, as with git.
func runEditor(ctx context.Context, s *seat, file string) error {
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if v := s.call.Env.Lookup(name); v != "" {
			editor = v
		}
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, editor, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return code.New(code.InvalidHandoff, "the editor %q failed: %v; nothing was released", editor, err).With("field", "handoff").
			WithHint(`set EDITOR, or give --status "…" and --next-action "…"`).Because(err)
	}
	return nil
}

// isHeading reports whether a line begins a part of the template. Any other in
// brackets is text, which must not be lost.
func isHeading(line string) bool {
	return strings.HasPrefix(line, "[") && strings.Contains(editorTemplate, "\n"+line+"\n")
}

// parseTemplate reads what the editor left.
func parseTemplate(text string) (json.RawMessage, error) {
	sections := make(map[string][]string)
	current := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "#"):
		case isHeading(line):
			current = strings.Trim(line, "[]")
		default:
			sections[current] = append(sections[current], line)
		}
	}
	h := turn.Handoff{
		Status: paragraph(sections["status"]), NextAction: paragraph(sections["next action"]),
		OpenQuestions: items(sections["open questions"]), DoNot: items(sections["do not"]),
	}
	for _, line := range items(sections["artifacts"]) {
		a, err := parseArtifact(line)
		if err != nil {
			return nil, err
		}
		h.Artifacts = append(h.Artifacts, a)
	}
	return encodeHandoff(h)
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
