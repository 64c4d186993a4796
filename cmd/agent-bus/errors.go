package main

import (
	"context"
	"errors"
	"strings"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/code"
)

// busError is [tools.Translate] with hints that speak of the bus where those of
// storage speak of tt. Nil stays nil.
func (b *bus) busError(err error) error {
	if err == nil {
		return nil
	}
	e := tools.Translate(err)
	switch code.Of(err) {
	case code.UnsupportedFS:
		e.Hint = "set " + envDataDir + " to a directory on a local disk"
	case code.DataDirUnusable:
		e.Hint = "make the directory writable, or set " + envDataDir + " to another one"
	case code.CorruptRoom:
		e.Hint = "the other topics can be used; look at this one with: TALKING_STICK_DATA_DIR=" + shellWord(b.Path) + " tt doctor"
	case code.UnsupportedFormat:
		e.Hint = b.formatHint(e)
	case code.InDoubt:
		e.Hint = "find out with ask_poll or pending_list whether it happened before doing it again"
	case code.DiskFull:
		e.Hint = "free some space and call again"
	}
	return e
}

// formatHint says what helps against what a newer version has written.
func (b *bus) formatHint(e *code.Error) string {
	switch {
	case e.Details["path"] != b.Path:
		return "update agent-bus; the other topics can be used, and this one was left untouched"
	case sharedWithRooms(b.Path):
		return "update agent-bus, or set " + envDataDir + " to another directory; to wipe the topics would not help, because this directory is also that of the rooms of tt"
	}
	return `update agent-bus, or wipe the topics with "agent-bus cli db wipe", or set ` + envDataDir + " to another directory"
}

// shellWord writes a text as one word of a shell's command line.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// gaveUp reports whether the call ended because its caller went away.
func gaveUp(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}
