package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/skills/hook"
	"github.com/talking-stick/tt/skills/jsonc"
)

// A group configures hooks: for the tools that match, run the handlers.
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

// A finding is what a document has of an entry.
type finding struct {
	paths   [][]string // of everything that is ours, the last one first
	exact   bool       // it is the entry as this version writes it
	digests []string   // of the values with something of ours
}

// find looks for e. A handler of ours in somebody else's group is ours, the group
// is not.
func (e entry) find(doc *jsonc.Document) (f finding, err error) {
	raw, err := doc.Get(e.path...)
	if err != nil || raw == nil {
		return f, err
	}
	if e.kind == "" {
		if bytes.Contains(raw, []byte("tt hook ")) { // else somebody has taken the name
			f = finding{[][]string{e.path}, sameJSON(raw, e.value), []string{digestJSON(raw)}}
		}
		return f, nil
	}
	var groups []json.RawMessage
	if json.Unmarshal(raw, &groups) != nil {
		return f, nil // adding to it will say what is wrong
	}
	for i := len(groups) - 1; i >= 0; i-- {
		at := subpath(e.path, strconv.Itoa(i))
		found := e.handlers(groups[i], subpath(at, "hooks"))
		if len(found) == 0 {
			continue
		}
		f.exact = f.exact || sameJSON(groups[i], e.value)
		f.digests = append(f.digests, digestJSON(groups[i]))
		if len(found) == len(handlersOf(groups[i])) {
			found = [][]string{at}
		}
		f.paths = append(f.paths, found...)
	}
	f.exact = f.exact && len(f.paths) == 1
	return f, nil
}

// handlers returns the paths of the handlers of ours in a group, the last one first.
func (e entry) handlers(group json.RawMessage, path []string) (found [][]string) {
	all := handlersOf(group)
	for i := len(all) - 1; i >= 0; i-- {
		var h handler
		if json.Unmarshal(all[i], &h) == nil && hook.Ours(h.Command, e.kind) {
			found = append(found, subpath(path, strconv.Itoa(i)))
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

func subpath(path []string, name string) []string {
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
	was := p.was.Merged[s.path]
	var wanted []entry
	var digests []string
	for _, e := range s.entries {
		f, err := e.find(doc)
		switch {
		case err != nil:
			return o, err
		case len(f.paths) == 0 && p.opts.sync:
			continue
		case len(f.paths) == 0:
			o.status = Added
		case !f.exact && !p.opts.Replace && was.edited(before, f.digests):
			o.why = "one of them has been edited and stays as it is; --replace overwrites it"
			continue
		case !f.exact && o.status != Added:
			o.status = Updated
		}
		wanted, digests = append(wanted, e), append(digests, digestJSON(encoded(e.value)))
	}
	switch {
	case len(wanted) == 0 && o.why == "":
		return outcome{}, nil
	case o.status == AlreadyPresent && len(wanted) < len(s.entries) && !p.opts.sync:
		o.status = Skipped
		return o, nil
	case o.status == AlreadyPresent:
		return o, nil
	}
	original, doc, err := s.original(p, before, doc, wanted)
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
		p.was.Merged[s.path] = merged{original, original == nil, digest(string(after)), digests}
	}})
	return o, nil
}

// original returns the file as it was without the given entries, nil if it was not
// there: from the record while the file is as we wrote it, else as doc without them.
func (s settingsFile) original(p *planner, before []byte, doc *jsonc.Document, entries []entry) ([]byte, *jsonc.Document, error) {
	was := p.was.Merged[s.path]
	if digest(string(before)) == was.Written {
		original := was.content()
		doc, err := jsonc.Parse(original)
		return original, doc, err
	}
	like, err := jsonc.Parse(was.Original)
	if err != nil {
		return nil, nil, err
	}
	with := doc.Bytes()
	for _, e := range entries {
		if err := e.remove(doc, like); err != nil {
			return nil, nil, err
		}
	}
	if bytes.Equal(with, doc.Bytes()) {
		return before, doc, nil
	}
	return doc.Bytes(), doc, nil
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
	after, doc, err := s.original(p, before, doc, s.entries)
	if err == nil && bytes.Contains(after, []byte("tt hook ")) { // an edited entry that was left alone
		nothing, _ := jsonc.Parse(nil)
		for _, e := range s.entries {
			err = errors.Join(err, e.remove(doc, nothing))
		}
		after = doc.Bytes()
	}
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
	return digestJSON(raw) == digestJSON(encoded(value))
}

func encoded(value any) json.RawMessage {
	raw, _ := json.Marshal(value) // structures of strings and numbers always have an encoding
	return raw
}

// digestJSON identifies a JSON value, in whatever layout it is written.
func digestJSON(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	return digest(string(encoded(v)))
}
