package ttcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/wire"
)

var releaseCommand = &cli.Command{
	Name:  "release",
	Args:  []cli.Arg{pathArg},
	Flags: releaseFlags,
	Run: func(ctx context.Context, c *cli.Invocation) error {
		return handOver(ctx, c, "", "path")
	},
}

var assignCommand = &cli.Command{
	Name: "assign",
	Args: []cli.Arg{
		{Name: "agent", Usage: `who is next: an agent id, the name of one active member, or "next" for the fairest`},
		pathArg,
	},
	Flags: releaseFlags,
	Run: func(ctx context.Context, c *cli.Invocation) error {
		return handOver(ctx, c, c.Arg("agent"), "path")
	},
}

var passCommand = &cli.Command{
	Name:   "pass",
	Hidden: true,
	Args: []cli.Arg{
		{Name: "agent", Optional: true, Usage: `who is next, as for assign; without, pass is release`},
		pathArg,
	},
	Flags: releaseFlags,
	Run:   runPass,
}

func runPass(ctx context.Context, c *cli.Invocation) error {
	first := c.Arg("agent")
	// An agent id has no slash, and a path that has a colon but no slash can be written as ./path.
	isAgent := first == turn.TargetNext || strings.Contains(first, ":") && !strings.ContainsAny(first, `/\`)
	if c.HasArg("agent") && !c.HasArg("path") && !isAgent {
		if _, err := os.Lstat(c.Env.Abs(first)); err == nil {
			return handOver(ctx, c, "", "agent")
		}
	}
	return handOver(ctx, c, first, "path")
}

// handOver ends the caller's turn: for the target, or for the fairest member if target
// is "". pathArg names the argument that holds the path.
func handOver(ctx context.Context, c *cli.Invocation, target, pathArg string) (err error) {
	if _, err := handoffSource(c); err != nil {
		return err
	}
	room, seen, err := openToRelease(c, pathArg)
	if err != nil {
		return err
	}
	var d *draft
	defer func() { d.finish(c, err) }()
	handoff, err := handoffFromFlags(c)
	if handoff == nil && err == nil { // it is to be written in an editor
		if err = room.CheckRelease(ctx, target); err != nil {
			return err
		}
		handoff, d, err = editHandoff(ctx, c, room.Workspace.Root)
	}
	if !c.Given("status") { // it may have been long in coming
		if now, viewErr := room.FS.View(); viewErr == nil {
			seen = now
		}
	}
	if err != nil {
		room.RecordPresence(ctx, seen.State)
		return err
	}
	if err := mailbox.Of(room).CheckAnswers(ctx, seen.State); err != nil {
		return err
	}
	res, after, err := room.Release(ctx, seen, handoff, target)
	if err != nil {
		return err
	}
	res.Unread = mailbox.Of(room).Unread(after)
	return c.Out.Result(&res, func(t *cli.Text) { writeRelease(t, res) })
}

// openToRelease is [openRoom] with a hint for who gives a handoff as an argument.
func openToRelease(c *cli.Invocation, pathArg string) (*member.Room, *snapshot, error) {
	path, err := session.Path(c, pathArg)
	if err != nil {
		return nil, nil, err
	}
	client, err := newClient(c)
	if err != nil {
		return nil, nil, err
	}
	w, missing := locatePath(c, path)
	if code.Of(missing) == code.Usage && !c.Given("path") && strings.ContainsAny(path, " \n") {
		missing = c.Usagef("%q is no path", path).WithHint(`a handoff is --status "…" --next-action "…", or JSON with --stdin`)
	}
	return client.Open(w, missing)
}

// releaseFlags declares the flags for a handoff.
func releaseFlags(f *cli.Flags) {
	f.In("handoff", func(f *cli.Flags) {
		f.String("status", "TEXT", "what you did, what you learned, what is unfinished")
		f.String("next-action", "TEXT", "what the next agent should do")
		f.StringList("artifact", "PATH[:FROM-TO][=ROLE]", "where to look; ROLE is "+strings.Join(turn.Roles(), ", "))
		f.StringList("question", "TEXT", "an open question")
		f.StringList("do-not", "TEXT", "what to stay away from")
		f.Bool("stdin", "read the handoff as JSON from standard input")
		f.String("file", "FILE", "read the handoff from a file: one that the editor kept, or JSON")
	})
}

// handoffFromFlags returns the handoff of the command line, checked. It is nil if the
// command line has none and the caller can write it in an editor.
func handoffFromFlags(c *cli.Invocation) (json.RawMessage, error) {
	source, err := handoffSource(c)
	switch {
	case err != nil:
		return nil, err
	case source == "--stdin":
		return readHandoff(c.Env.Stdin)
	case source == "--file":
		return fileHandoff(c)
	case source != "":
		return flagHandoff(c)
	case c.Env.StdinTTY && c.Env.StdoutTTY:
		return nil, nil
	}
	return nil, code.New(code.InvalidHandoff, "the handoff is missing").With("field", "status").
		WithHint(`give --status "…" and --next-action "…", or JSON with --stdin`)
}

// handoffSource returns the flag from which the handoff comes, "" if there is no such
// flag. If several flags describe the handoff itself, it returns the first.
func handoffSource(c *cli.Invocation) (string, error) {
	source := ""
	for _, names := range [][]string{{"stdin"}, {"file"}, {"status", "next-action", "artifact", "question", "do-not"}} {
		i := slices.IndexFunc(names, c.Given)
		switch {
		case i < 0:
		case source != "":
			return "", c.Usagef("the handoff comes from %s or from --%s, not from both", source, names[i])
		default:
			source = "--" + names[i]
		}
	}
	return source, nil
}

// fileHandoff reads the file of --file: a template that was filled in, or JSON.
func fileHandoff(c *cli.Invocation) (json.RawMessage, error) {
	name := c.Env.Abs(c.String("file"))
	file, err := os.Open(name)
	if err != nil {
		return nil, c.Usagef("cannot read --file: %v", err)
	}
	defer file.Close()
	// The template has comments, which do not count as part of the handoff.
	const most = turn.MaxHandoff + 64<<10
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	switch {
	case err != nil:
		return nil, c.Usagef("cannot read --file: %v", err)
	case len(text) > most:
		return nil, code.New(code.InvalidHandoff, "%q is too long for a handoff: at most %d bytes are allowed", name,
			turn.MaxHandoff).With("field", "handoff")
	}
	if start := bytes.TrimLeft(text, "\ufeff \t\r\n"); len(start) > 0 && start[0] == '{' {
		return turn.CheckHandoff(start)
	}
	return parseTemplate(string(text))
}

// readHandoff reads a handoff as JSON.
func readHandoff(r io.Reader) (json.RawMessage, error) {
	b, err := cli.ReadInput(r)
	if err != nil {
		return nil, code.New(code.InvalidHandoff, "standard input could not be read: %v", err).With("field", "handoff").Because(err)
	}
	return turn.CheckHandoff(bytes.TrimPrefix(b, []byte("\ufeff"))) // some shells begin a text with a mark
}

func flagHandoff(c *cli.Invocation) (json.RawMessage, error) {
	return encodeHandoff(turn.Handoff{
		Status: c.String("status"), NextAction: c.String("next-action"),
		OpenQuestions: c.Strings("question"), DoNot: c.Strings("do-not"),
	}, c.Strings("artifact"))
}

// encodeHandoff returns the handoff as JSON, with artifacts as [turn.ParseArtifact] reads them. It refuses text that is not
// valid UTF-8: JSON would change it, and a changed path names another file.
func encodeHandoff(h turn.Handoff, artifacts []string) (json.RawMessage, error) {
	var paths []string
	for _, text := range artifacts {
		a, err := turn.ParseArtifact(text)
		if err != nil {
			return nil, err
		}
		h.Artifacts, paths = append(h.Artifacts, a), append(paths, a.Path)
	}
	for _, given := range []struct {
		field string
		texts []string
	}{{"status", []string{h.Status}}, {"next_action", []string{h.NextAction}}, {"artifacts", paths},
		{"open_questions", h.OpenQuestions}, {"do_not", h.DoNot}} {
		for _, text := range given.texts {
			if !utf8.ValidString(text) {
				return nil, code.New(code.InvalidHandoff, "%s is not valid UTF-8: %.80q", given.field, text).With("field", given.field)
			}
		}
	}
	return turn.CheckHandoff(wire.Append(nil, &h))
}
