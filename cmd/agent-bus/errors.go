package main

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// envDataDir names the data directory where it is not to be that of tt.
const envDataDir = "AGENT_BUS_DATA_DIR"

// warnDamaged is the code of the warning about a topic that cannot be read.
const warnDamaged = "TOPIC_DAMAGED"

func damagedTopic(id string, err error) topic.Warning {
	return topic.Warning{
		Code:    warnDamaged,
		Message: "a topic was left out: " + topic.Translate(err).Message,
		Context: map[string]any{"topic_id": id},
	}
}

// busError is [topic.Translate], with hints that speak of the bus where those of
// storage speak of tt. Nil stays nil.
func busError(err error) error {
	if err == nil {
		return nil
	}
	e := topic.Translate(err)
	if hint := hintFor(code.Of(err)); hint != "" {
		e.Hint = hint
	}
	return e
}

func hintFor(c code.Code) string {
	switch c {
	case code.UnsupportedFS:
		return "set " + envDataDir + " to a directory on a local disk"
	case code.DataDirUnusable:
		return "make the directory writable, or set " + envDataDir + " to another one"
	case code.CorruptRoom:
		return `the other topics can be used; look at this one with "tt doctor"`
	case code.InDoubt:
		return "find out with ask_poll or pending_list whether it happened before doing it again"
	case code.DiskFull:
		return "free some space and call again"
	}
	return ""
}

// gaveUp reports whether the call ended because its caller went away.
func gaveUp(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}
