package skills

import (
	"bytes"
	"encoding/json"
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

// A jsonGuard is a guard as an element of an array in a settings file.
type jsonGuard struct {
	name string
	kind hook.Kind
	file string
	path []string // of the array, from the root of the document
	want group
}

func (g jsonGuard) key() string { return g.file + "#" + strings.Join(g.path, ".") }

// mine returns the elements of the array that contain a handler of ours: those
// that have no other, and the indexes of those that have.
func (g jsonGuard) mine(src []byte) (whole []json.RawMessage, mixed []int, err error) {
	i := 0
	err = jsonc.Elements(src, g.path, func(element json.RawMessage) {
		switch ours, all := g.handlers(element); {
		case ours > 0 && ours == all:
			whole = append(whole, element)
		case ours > 0:
			mixed = append(mixed, i)
		}
		i++
	})
	return whole, mixed, err
}

// handlers counts the handlers of a group that are ours, and all of them.
func (g jsonGuard) handlers(element json.RawMessage) (ours, all int) {
	var found struct {
		Hooks []json.RawMessage `json:"hooks"`
	}
	if json.Unmarshal(element, &found) != nil {
		return 0, 0
	}
	for _, h := range found.Hooks {
		if g.isOurs(h) {
			ours++
		}
	}
	return ours, len(found.Hooks)
}

func (g jsonGuard) isOurs(element json.RawMessage) bool {
	var h handler
	return json.Unmarshal(element, &h) == nil && hook.Ours(h.Command, g.kind)
}

// remove takes everything of ours out of src.
func (g jsonGuard) remove(src []byte, undo jsonc.Undo) ([]byte, int, error) {
	_, mixed, err := g.mine(src)
	if err != nil {
		return nil, 0, err
	}
	removed := 0
	for _, i := range mixed {
		path := append(append([]string(nil), g.path...), strconv.Itoa(i), "hooks")
		out, n, err := jsonc.RemoveElements(src, path, g.isOurs, jsonc.Undo{Kept: len(path)})
		if err != nil {
			return nil, 0, err
		}
		src, removed = out, removed+n
	}
	src, n, err := jsonc.RemoveElements(src, g.path, func(element json.RawMessage) bool {
		ours, all := g.handlers(element)
		return ours > 0 && ours == all
	}, undo)
	return src, removed + n, err
}

func (g jsonGuard) install(p *planner) outcome {
	d, err := p.mixedDraft(g.file)
	if err != nil {
		return failed(g.name, g.file, err)
	}
	whole, mixed, err := g.mine(d.document())
	if err != nil {
		return failed(g.name, g.file, err)
	}
	if len(mixed) == 0 && len(whole) == 1 && sameJSON(whole[0], g.want) {
		return outcome{g.name, AlreadyPresent, g.file, ""}
	}
	o := outcome{g.name, Updated, g.file, ""}
	if len(whole)+len(mixed) == 0 {
		if p.opts.sync {
			return outcome{}
		}
		o.status = Added
	}
	src, _, err := g.remove(d.document(), p.was.Edits[g.key()].Undo)
	if err != nil {
		return failed(g.name, g.file, err)
	}
	out, text, undo, err := jsonc.Append(src, g.path, g.want)
	if err != nil {
		return failed(g.name, g.file, err)
	}
	d.merge(p, out, text, g.key(), undo)
	return o
}

func (g jsonGuard) uninstall(p *planner) outcome {
	d, err := p.mixedDraft(g.file)
	if err != nil {
		return failed(g.name, g.file, err)
	}
	if !d.exists() || !bytes.Contains(d.now, []byte("tt hook")) {
		d.records = append(d.records, func() { delete(p.was.Edits, g.key()) })
		return outcome{g.name, AlreadyAbsent, "", ""}
	}
	out, n, err := g.remove(d.document(), p.was.Edits[g.key()].Undo)
	if err != nil {
		return failed(g.name, g.file, err)
	}
	d.unmerge(p, out, g.key())
	if n == 0 {
		return outcome{g.name, AlreadyAbsent, "", ""}
	}
	return outcome{g.name, Removed, g.file, ""}
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
