package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/skills/hook"
	"github.com/talking-stick/tt/skills/jsonc"
)

// A group and its handlers are how Claude Code, Codex and Gemini CLI configure
// hooks: for tools that match, run these.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

type handler struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// A namedHook is how Antigravity configures hooks: under a name, with groups
// for tools and plain handlers for everything else.
type namedHook struct {
	PreToolUse []group   `json:"PreToolUse"`
	Stop       []handler `json:"Stop"`
}

// An entry is one value of ours in a settings file.
type entry struct {
	path  []string  // of the value itself, or of the array that it is an element of
	kind  hook.Kind // of an element; "" for a value of its own
	value any
}

// A settingsFile is a JSON file of a harness, with guards of ours among what
// belongs to others.
type settingsFile struct {
	path    string
	entries []entry
}

// ours returns the paths of what is ours for e, the last one first, and whether
// that is exactly e. A handler of ours in somebody else's group is ours, the
// group is not.
func (e entry) ours(doc *jsonc.Document) (paths [][]string, exact bool, err error) {
	raw, err := doc.Get(e.path...)
	if err != nil || raw == nil {
		return nil, false, err
	}
	if e.kind == "" {
		if !bytes.Contains(raw, []byte("tt hook ")) { // somebody has taken the name
			return nil, false, nil
		}
		return [][]string{e.path}, sameJSON(raw, e.value), nil
	}
	var groups []json.RawMessage
	if json.Unmarshal(raw, &groups) != nil {
		return nil, false, nil // adding to it will say what is wrong
	}
	for i := len(groups) - 1; i >= 0; i-- {
		at := below(e.path, strconv.Itoa(i))
		found := e.handlers(groups[i], below(at, "hooks"))
		exact = exact || len(found) > 0 && sameJSON(groups[i], e.value)
		if all := handlersOf(groups[i]); len(found) == len(all) && len(found) > 0 {
			found = [][]string{at}
		}
		paths = append(paths, found...)
	}
	return paths, exact && len(paths) == 1, nil
}

// handlers returns the paths of the handlers of ours in a group, the last one first.
func (e entry) handlers(group json.RawMessage, path []string) (found [][]string) {
	all := handlersOf(group)
	for i := len(all) - 1; i >= 0; i-- {
		var h handler
		if json.Unmarshal(all[i], &h) == nil && hook.Ours(h.Command, e.kind) {
			found = append(found, below(path, strconv.Itoa(i)))
		}
	}
	return found
}

func handlersOf(group json.RawMessage) []json.RawMessage {
	var g struct {
		Hooks []json.RawMessage `json:"hooks"`
	}
	_ = json.Unmarshal(group, &g) // what is no group has no handlers
	return g.Hooks
}

func below(path []string, name string) []string {
	return append(append([]string(nil), path...), name)
}

// add puts e into doc.
func (e entry) add(doc *jsonc.Document) error {
	if e.kind == "" {
		return doc.Set(e.value, e.path...)
	}
	return doc.Append(e.value, e.path...)
}

// remove takes what is ours for e out of doc, and the containers around it that are
// empty then and are not in like.
func (e entry) remove(doc, like *jsonc.Document) error {
	paths, _, err := e.ours(doc)
	for _, path := range paths {
		if _, err := doc.Remove(path...); err != nil {
			return err
		}
	}
	if err != nil || len(paths) == 0 {
		return err
	}
	return doc.Prune(like, e.path...)
}

func (s settingsFile) install(p *planner) outcome {
	o, err := s.planInstall(p)
	if err != nil {
		o = failed(guardsName, s.path, err)
		o.why += "; put that right and install again, or install without guards: --no-hooks"
	}
	return o
}

func (s settingsFile) planInstall(p *planner) (outcome, error) {
	o := outcome{part: guardsName, path: s.path, status: AlreadyPresent}
	before, err := read(s.path)
	if err != nil {
		return o, err
	}
	doc, err := jsonc.Parse(before)
	if err != nil {
		return o, err
	}
	if raw, _ := doc.Get("disableAllHooks"); string(raw) == "true" {
		o.why = `"disableAllHooks" in it keeps them from running`
	}
	var wanted []entry
	for _, e := range s.entries {
		paths, exact, err := e.ours(doc)
		switch {
		case err != nil:
			return o, err
		case len(paths) == 0 && p.opts.sync:
			continue
		case len(paths) == 0:
			o.status = Added
		case !exact && o.status != Added:
			o.status = Updated
		}
		wanted = append(wanted, e)
	}
	if len(wanted) == 0 {
		return outcome{}, nil
	}
	if o.status == AlreadyPresent {
		return o, nil
	}
	original, doc, err := s.original(p, before, doc)
	if err != nil {
		return o, err
	}
	for _, e := range wanted {
		if raw, _ := doc.Get(e.path...); e.kind == "" && raw != nil {
			if !p.opts.Replace {
				o.status, o.why = Skipped, "the hook "+Name+" in it is not ours and stays; --replace overwrites it"
				return o, nil
			}
			if _, err := doc.Remove(e.path...); err != nil {
				return o, err
			}
		}
		if err := e.add(doc); err != nil {
			return o, err
		}
	}
	after := doc.Bytes()
	p.change(fileChange{Merge, s.path, before, after, before != nil, func() {
		p.was.Merged[s.path] = merged{Original: original, Made: original == nil, Written: digest(string(after))}
	}})
	return o, nil
}

// original returns the file as it was without our entries, nil if it was not there:
// from the record while the file is as we wrote it, else as doc without them.
func (s settingsFile) original(p *planner, before []byte, doc *jsonc.Document) ([]byte, *jsonc.Document, error) {
	if was, ok := p.was.Merged[s.path]; ok && digest(string(before)) == was.Written {
		original := was.content()
		doc, err := jsonc.Parse(original)
		return original, doc, err
	}
	like, err := s.like(p)
	if err != nil {
		return nil, nil, err
	}
	with := doc.Bytes()
	for _, e := range s.entries {
		if err := e.remove(doc, like); err != nil {
			return nil, nil, err
		}
	}
	if bytes.Equal(with, doc.Bytes()) {
		return before, doc, nil
	}
	return doc.Bytes(), doc, nil
}

// like returns the recorded original of the file, an empty document without one.
func (s settingsFile) like(p *planner) (*jsonc.Document, error) {
	was := p.was.Merged[s.path]
	return jsonc.Parse(was.Original)
}

func (s settingsFile) uninstall(p *planner) outcome {
	o, err := s.planUninstall(p)
	if err != nil {
		return failed(guardsName, s.path, err)
	}
	return o
}

func (s settingsFile) planUninstall(p *planner) (outcome, error) {
	before, err := read(s.path)
	if errors.Is(err, errDangling) {
		err = nil
	}
	if err != nil || !bytes.Contains(before, []byte("tt hook ")) {
		delete(p.was.Merged, s.path)
		return outcome{part: guardsName, status: AlreadyAbsent}, err
	}
	doc, err := jsonc.Parse(before)
	if err != nil {
		return outcome{}, err
	}
	after, _, err := s.original(p, before, doc)
	if err != nil {
		return outcome{}, err
	}
	if bytes.Equal(after, before) {
		return outcome{part: guardsName, status: AlreadyAbsent}, nil
	}
	was, recorded := p.was.Merged[s.path]
	if recorded && strings.TrimSpace(string(was.Original)) == "" && doc.Empty() {
		after = was.content()
	}
	p.change(fileChange{Unmix, s.path, before, after, digest(string(before)) != was.Written, func() { delete(p.was.Merged, s.path) }})
	return outcome{part: guardsName, status: Removed, path: s.path}, nil
}

// sameJSON reports whether raw is what value encodes to, in whatever layout.
func sameJSON(raw json.RawMessage, value any) bool {
	encoded, err := json.Marshal(value)
	if err != nil {
		return false
	}
	var a, b any
	return json.Unmarshal(raw, &a) == nil && json.Unmarshal(encoded, &b) == nil && reflect.DeepEqual(a, b)
}
