package main

import (
	"errors"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom/code"
)

// The codes of the warnings about a topic that cannot be read.
const (
	warnDamaged = "TOPIC_DAMAGED"
	warnNewer   = "TOPIC_SCHEMA_MISMATCH" // written by a newer version
)

func unreadableWarning(u topics.Unreadable) tools.Warning {
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
	return w
}

// warningsOf returns a warning about each of the topics.
func warningsOf(list []topics.Unreadable) []tools.Warning {
	var warnings []tools.Warning
	for _, u := range list {
		warnings = append(warnings, unreadableWarning(u))
	}
	return warnings
}

// withUnreadable returns the error of a search by name that failed: the error of the
// unreadable topic that has the name, else err with warnings about the doubtful ones.
func withUnreadable(err error, doubtful []topics.Unreadable, name string) error {
	var e *code.Error
	if u := topics.Named(doubtful, name); u != nil && errors.As(u.Err, &e) {
		named := *e
		named.Message += " (the topic named " + name + `; topic_create with mode "new" makes another one)`
		return named.With("topic_id", u.ID)
	}
	if len(doubtful) > 0 && errors.As(err, &e) {
		return e.With("warnings", warningsOf(doubtful))
	}
	return err
}
