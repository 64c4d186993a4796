package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/wire"
)

const handoffHelp = "The handoff comes from flags, or as JSON from --stdin, never from both. On a terminal without either, " +
	"$VISUAL or $EDITOR opens with a template, as for git commit. status and next_action are required."

func releaseFlags(f *front.Flags) {
	f.String("status", "TEXT", "what you did, what you learned, what is unfinished")
	f.String("next-action", "TEXT", "what the next agent should do")
	f.StringList("artifact", "PATH[:FROM-TO][=ROLE]", "where to look; ROLE is "+strings.Join(turn.Roles(), ", "))
	f.StringList("question", "TEXT", "an open question")
	f.StringList("do-not", "TEXT", "what to stay away from")
	f.Bool("stdin", "read the handoff as JSON from standard input")
	pathFlag(f)
}

// handoffFlags are those that describe a handoff.
func handoffFlags() []string {
	return []string{"status", "next-action", "artifact", "question", "do-not"}
}

// handoff returns the handoff of the command line, checked.
func (s *seat) handoff(ctx context.Context) (json.RawMessage, error) {
	c := s.call
	given := ""
	for _, name := range handoffFlags() {
		if c.Given(name) {
			given = name
			break
		}
	}
	switch {
	case given != "" && c.Bool("stdin"):
		return nil, c.Usagef("the handoff comes from --stdin or from flags, not from both (--%s)", given)
	case c.Bool("stdin"):
		return readHandoff(c.Env.Stdin)
	case given != "":
		return flagHandoff(c)
	case c.Env.StdinTTY && c.Env.StdoutTTY:
		if _, err := s.myHold(); err != nil { // before anybody writes in vain
			return nil, s.notHolding(err)
		}
		return s.editHandoff(ctx)
	}
	return nil, code.New(code.InvalidHandoff, "the handoff is missing").With("field", "status").
		WithHint(`give --status "…" and --next-action "…", or JSON with --stdin`)
}

// readHandoff reads one byte more than is allowed, to see that it is too long.
func readHandoff(r io.Reader) (json.RawMessage, error) {
	b, err := io.ReadAll(io.LimitReader(r, turn.MaxHandoff+1))
	if err != nil {
		return nil, code.New(code.InvalidHandoff, "standard input could not be read: %v", err).With("field", "handoff").Because(err)
	}
	return turn.CheckHandoff(bytes.TrimPrefix(b, []byte("\ufeff"))) // some shells begin a text with a mark
}

func flagHandoff(c *front.Call) (json.RawMessage, error) {
	h := turn.Handoff{
		Status: c.String("status"), NextAction: c.String("next-action"),
		OpenQuestions: c.Strings("question"), DoNot: c.Strings("do-not"),
	}
	for _, text := range c.Strings("artifact") {
		a, err := parseArtifact(text)
		if err != nil {
			return nil, err
		}
		h.Artifacts = append(h.Artifacts, a)
	}
	return encodeHandoff(h)
}

// encodeHandoff refuses what JSON cannot carry word for word: a path with other
// bytes in it would name another file.
func encodeHandoff(h turn.Handoff) (json.RawMessage, error) {
	var paths []string
	for _, a := range h.Artifacts {
		paths = append(paths, a.Path)
	}
	for _, given := range []struct {
		field string
		texts []string
	}{{"status", []string{h.Status}}, {"next_action", []string{h.NextAction}}, {"artifacts", paths}, {"open_questions", h.OpenQuestions}, {"do_not", h.DoNot}} {
		for _, text := range given.texts {
			if !utf8.ValidString(text) {
				return nil, code.New(code.InvalidHandoff, "%s is not valid UTF-8: %.80q", given.field, text).With("field", given.field)
			}
		}
	}
	return turn.CheckHandoff(wire.Append(nil, &h))
}

// parseArtifact reads PATH[:FROM-TO][=ROLE]. A colon or an equals sign that is
// not followed by lines or a role belongs to the path.
func parseArtifact(text string) (turn.Artifact, error) {
	var a turn.Artifact
	a.Path = text
	if i := strings.LastIndexByte(a.Path, '='); i >= 0 {
		role := a.Path[i+1:]
		for _, known := range turn.Roles() {
			if role == known {
				a.Path, a.Role = a.Path[:i], role
			}
		}
		if a.Role == "" && isWord(role) {
			return a, code.New(code.InvalidHandoff, "artifact %.80q: the role must be one of %s", text, strings.Join(turn.Roles(), ", ")).
				With("field", "artifacts")
		}
	}
	if i := strings.LastIndexByte(a.Path, ':'); i >= 0 {
		if lines := parseLines(a.Path[i+1:]); lines != nil {
			a.Path, a.Lines = a.Path[:i], lines
		}
	}
	return a, nil
}

// isWord reports whether s looks like a role that was misspelt.
func isWord(s string) bool {
	for _, r := range s {
		if r < 'a' || r > 'z' {
			return false
		}
	}
	return s != ""
}

// parseLines reads "10-20" or "10"; nil for anything else.
func parseLines(s string) []int64 {
	from, to, ranged := strings.Cut(s, "-")
	if !ranged {
		to = from
	}
	a, errA := strconv.ParseInt(from, 10, 64)
	b, errB := strconv.ParseInt(to, 10, 64)
	if errA != nil || errB != nil {
		return nil
	}
	return []int64{a, b}
}
