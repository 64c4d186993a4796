package main

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
)

// busError is [tools.Translate], with hints about the bus in place of the hints of
// storage, which are about tt. Nil stays nil.
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
		e.Hint = "the other topics can be used; look at this one with: TALKING_STICK_DATA_DIR=" + code.ShellWord(b.Path) + " tt doctor"
	case code.UnsupportedFormat:
		e.Hint = b.formatHint(e)
	case code.InDoubt:
		e.Hint = "find out with ask_poll or pending_list whether it happened before doing it again"
	case code.EngineUnreachable:
		e.Hint = "nothing was changed; the other tools do not work either until it is back: call again later, or tell your user"
	case code.DiskFull:
		e.Hint = "free some space and call again"
	}
	return e
}

// formatHint returns the hint for a directory that a newer version has written.
func (b *bus) formatHint(e *code.Error) string {
	switch {
	case e.Details["path"] != b.Path:
		return "update agent-bus; the other topics can be used, and this one was left untouched"
	case sharedWithRooms(b.Path):
		return "update agent-bus, or set " + envDataDir + " to another directory; to wipe the topics would not help, because this " +
			"directory is also that of the rooms of tt"
	}
	return `update agent-bus, or wipe the topics with "agent-bus cli db wipe", or set ` + envDataDir + " to another directory"
}

// gaveUp reports whether the call ended because its client cancelled it or is gone.
func gaveUp(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// The codes of the warnings about a topic that cannot be read.
const (
	warnDamaged = "TOPIC_DAMAGED"
	warnNewer   = "TOPIC_SCHEMA_MISMATCH" // written by a newer version
)

// warningsOf returns a warning about each of the topics.
func warningsOf(list []questions.Unreadable) []tools.Warning {
	var warnings []tools.Warning
	for _, u := range list {
		w := tools.Warning{
			Code:    warnDamaged,
			Message: "a topic was left out: " + tools.Translate(u.Err).Message,
			Context: map[string]any{"topic_id": u.ID},
		}
		if code.Of(u.Err) == code.UnsupportedFormat {
			w.Code = warnNewer
		}
		if u.Name != "" {
			w.Context["name"] = u.Name
		}
		warnings = append(warnings, w)
	}
	return warnings
}

// withUnreadable returns the error of a search by name that failed: the error of the
// unreadable topic that has the name, else err with warnings about the doubtful ones.
func withUnreadable(err error, doubtful []questions.Unreadable, name string) error {
	var e *code.Error
	if u := questions.Named(doubtful, name); u != nil && errors.As(u.Err, &e) {
		named := *e
		named.Message += " (the topic named " + name + `; topic_create with mode "new" makes another one)`
		return named.With("topic_id", u.ID)
	}
	if len(doubtful) > 0 && errors.As(err, &e) {
		return e.With("warnings", warningsOf(doubtful))
	}
	return err
}
