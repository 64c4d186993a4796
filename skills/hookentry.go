package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/jsonc"
)

// A group configures hooks: for the tools that match, run the handlers.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

type handler struct {
	Name        string `json:"name,omitempty"`
	Type        string `json:"type,omitempty"`
	Matcher     string `json:"matcher,omitempty"` // where there are no groups
	Command     string `json:"command"`
	AsyncRewake bool   `json:"asyncRewake,omitempty"` // runs in the background, and may give the agent a turn
	Timeout     int    `json:"timeout"`
}

// An entry is one value of ours in a settings file: an element of an array, or a
// member of an object under a name of ours.
type entry struct {
	path  []string       // of the array or the member
	kind  harness.Kind   // of an element; "" for a member
	also  []harness.Kind // other kinds in whose place it comes
	group group          // of an element
	value any
}

// errTaken reports that the settings have another value under our name.
var errTaken = errors.New("the hook " + Name + " in it is not ours and stays; --replace overwrites it")

// A finding is what a document contains of an entry.
type finding struct {
	paths   [][]string // of everything that is ours, the last one first
	exact   bool       // it is the entry as this version writes it
	digests []string   // of the values that contain something of ours
}

// find looks for e in doc. If a group has other handlers besides ours, only the
// handler is ours.
func (e entry) find(doc *jsonc.Document) (f finding, err error) {
	raw, err := doc.Get(e.path...)
	if err != nil || raw == nil {
		return f, err
	}
	if e.kind == "" {
		if bytes.Contains(raw, []byte("tt hook ")) {
			f = finding{[][]string{e.path}, sameJSON(raw, e.value), []string{digestJSON(raw)}}
		}
		return f, nil
	}
	var groups []json.RawMessage
	if json.Unmarshal(raw, &groups) != nil {
		return f, nil // add returns the error
	}
	for i := len(groups) - 1; i >= 0; i-- {
		at := subpath(e.path, strconv.Itoa(i))
		ours, others := e.handlers(groups[i], subpath(at, "hooks"))
		if len(ours) == 0 {
			continue
		}
		f.exact = f.exact || sameJSON(groups[i], e.value)
		f.digests = append(f.digests, digestJSON(groups[i]))
		if others == 0 {
			ours = [][]string{at}
		}
		f.paths = append(f.paths, ours...)
	}
	f.exact = f.exact && len(f.paths) == 1
	return f, nil
}

// handlers returns the paths of our handlers in a group, the last one first, and
// the number of other handlers. path is that of the handlers. Where there are no groups, group is a handler.
func (e entry) handlers(group json.RawMessage, path []string) (ours [][]string, others int) {
	var g struct {
		Command string            `json:"command"`
		Hooks   []json.RawMessage `json:"hooks"`
	}
	_ = json.Unmarshal(group, &g) // a value of another kind has no handlers
	if len(g.Hooks) == 0 && e.ours(g.Command) {
		return [][]string{path}, 0
	}
	for i := len(g.Hooks) - 1; i >= 0; i-- {
		var h handler
		if json.Unmarshal(g.Hooks[i], &h) == nil && e.ours(h.Command) {
			ours = append(ours, subpath(path, strconv.Itoa(i)))
		} else {
			others++
		}
	}
	return ours, others
}

// ours reports whether a command is that of the entry, or of one whose place it takes.
func (e entry) ours(command string) bool {
	return slices.ContainsFunc(append([]harness.Kind{e.kind}, e.also...),
		func(k harness.Kind) bool { return harness.IsHookCommand(command, k) })
}

func subpath(path []string, name string) []string {
	return append(append([]string(nil), path...), name)
}

// add puts e into doc. If another value has our name, add replaces it or returns
// errTaken.
func (e entry) add(doc *jsonc.Document, replace bool) error {
	if e.kind != "" {
		return doc.Append(e.value, e.path...)
	}
	if raw, _ := doc.Get(e.path...); raw != nil {
		if !replace {
			return errTaken
		}
		if _, err := doc.Remove(e.path...); err != nil {
			return err
		}
	}
	return doc.Set(e.value, e.path...)
}

// remove removes from doc what is ours of e, and the containers around it that are
// then empty and are not in like.
func (e entry) remove(doc, like *jsonc.Document) error {
	f, err := e.find(doc)
	if err != nil || len(f.paths) == 0 {
		return err
	}
	for _, path := range f.paths {
		if _, err := doc.Remove(path...); err != nil {
			return err
		}
	}
	return doc.Prune(like, e.path...)
}

// sameJSON reports whether raw is what value encodes to, in any layout.
func sameJSON(raw json.RawMessage, value any) bool {
	return digestJSON(raw) == digestJSON(encoded(value))
}

func encoded(value any) json.RawMessage {
	raw, _ := json.Marshal(value) // structures of strings and numbers always have an encoding
	return raw
}

// digestJSON identifies a JSON value, in any layout.
func digestJSON(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	return digestOf(string(encoded(v)))
}
