package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// The codes of the warnings about a topic that cannot be read.
const (
	warnDamaged = "TOPIC_DAMAGED"
	warnNewer   = "TOPIC_SCHEMA_MISMATCH" // written by a newer version
)

// An unreadable topic is one that is damaged, or written by a newer version.
type unreadable struct {
	id   string
	name string // "" if it is not known
	err  error
}

func (u unreadable) warning() tools.Warning {
	w := tools.Warning{
		Code:    warnDamaged,
		Message: "a topic was left out: " + tools.Translate(u.err).Message,
		Context: map[string]any{"topic_id": u.id},
	}
	if code.Of(u.err) == code.UnsupportedFormat {
		w.Code = warnNewer
	}
	if u.name != "" {
		w.Context["name"] = u.name
	}
	return w
}

func warningsOf(list []unreadable) []tools.Warning {
	var warnings []tools.Warning
	for _, u := range list {
		warnings = append(warnings, u.warning())
	}
	return warnings
}

// doubtful returns the topics that cannot be read and may have the name.
func (x *index) doubtful(name string) []unreadable {
	var list []unreadable
	for _, u := range x.unreadable {
		if u.name == "" || u.name == name {
			list = append(list, u)
		}
	}
	return list
}

// hidden returns the error of the topic that cannot be read and has the name; if
// there is none, otherwise with warnings about those whose name is not known.
func hidden(doubtful []unreadable, name string, otherwise error) error {
	var e *code.Error
	for _, u := range doubtful {
		if name != "" && u.name == name && errors.As(u.err, &e) {
			named := *e
			named.Message += " (the topic named " + name + `; topic_create with mode "new" makes another one)`
			return named.With("topic_id", u.id)
		}
	}
	if len(doubtful) > 0 && errors.As(otherwise, &e) {
		return e.With("warnings", warningsOf(doubtful))
	}
	return otherwise
}

// writtenName returns the name in the first line of the topic's journal, "" if
// that cannot be read.
func (b *bus) writtenName(id string) string {
	path := filepath.Join(b.dir, rules.Folder, id, "journal.jsonl")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const longest = 4 << 20
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, longest)
	var event struct {
		Type    string `json:"event_type"`
		Payload struct {
			Name string `json:"name"`
		} `json:"payload"`
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &event) != nil || event.Type != topic.EventCreated {
		return ""
	}
	return event.Payload.Name
}
