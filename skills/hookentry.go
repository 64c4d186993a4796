package skills

import (
	"bytes"
	"encoding/json"
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

// An entry is one value of ours in a JSON file: an element of an array, or a member of an
// object under a name of ours.
type entry struct {
	path   []string       // of the array or the member
	later  []string       // the path instead, where the object around it is there; nil: none
	kind   harness.Kind   // of an element; "" for a member
	also   []harness.Kind // other kinds in whose place it comes
	group  group          // of an element
	value  any            // nil: any will do
	byName bool           // whatever has the name counts as ours
}

// find implements [part].
func (e entry) find(file []byte) (f finding, err error) {
	doc, err := jsonc.Parse(file)
	if err != nil {
		return f, err
	}
	path := e.at(doc)
	raw, err := doc.Get(path...)
	switch {
	case err != nil || raw == nil:
		return f, err
	case e.kind == "" && !e.byName && !bytes.Contains(raw, []byte(hookMark)):
		return finding{taken: true}, nil
	case e.kind == "":
		return finding{[]string{digestJSON(raw)}, [][]string{path}, e.value == nil || sameJSON(raw, e.value), false}, nil
	}
	var groups []json.RawMessage
	if json.Unmarshal(raw, &groups) != nil {
		return f, nil // add returns the error
	}
	for i := len(groups) - 1; i >= 0; i-- {
		at := subpath(path, strconv.Itoa(i))
		ours, others := e.handlers(groups[i], subpath(at, "hooks"))
		if len(ours) == 0 {
			continue
		}
		f.exact = f.exact || sameJSON(groups[i], e.value)
		f.digests = append(f.digests, digestJSON(groups[i]))
		if others == 0 { // else only the handlers are ours
			ours = [][]string{at}
		}
		f.paths = append(f.paths, ours...)
	}
	f.exact = f.exact && len(f.paths) == 1
	return f, nil
}

// at returns the path of e in doc.
func (e entry) at(doc *jsonc.Document) []string {
	if e.later != nil {
		if around, err := doc.Get(e.later[:len(e.later)-1]...); err == nil && around != nil {
			return e.later
		}
	}
	return e.path
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

// add implements [part].
func (e entry) add(file []byte) ([]byte, error) {
	doc, err := jsonc.Parse(file)
	if err != nil {
		return nil, err
	}
	path := e.at(doc)
	if e.kind != "" {
		err = doc.Append(e.value, path...)
	} else if _, err = doc.Remove(path...); err == nil {
		err = doc.Set(e.value, path...)
	}
	return doc.Bytes(), err
}

// remove implements [part].
func (e entry) remove(file, like []byte) ([]byte, error) {
	f, err := e.find(file)
	if err != nil || len(f.paths) == 0 {
		return file, err
	}
	doc, _ := jsonc.Parse(file)
	around := e.at(doc)
	if e.kind == "" {
		around = around[:len(around)-1]
	}
	for _, path := range f.paths {
		if _, err := doc.Remove(path...); err != nil {
			return nil, err
		}
	}
	was, err := jsonc.Parse(like)
	if err == nil {
		err = doc.Prune(was, around...)
	}
	return doc.Bytes(), err
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
