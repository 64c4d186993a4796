package skills

import (
	"bytes"

	"github.com/talking-stick/tt/skills/hook"
	"github.com/talking-stick/tt/skills/jsonc"
)

// A namedHook is how Antigravity configures hooks: under a name, with groups
// for tools and plain handlers for everything else.
type namedHook struct {
	PreToolUse []group   `json:"PreToolUse"`
	Stop       []handler `json:"Stop"`
}

// A memberGuards is both guards as one member of a file's outermost object.
type memberGuards struct {
	name string
	file string
	want namedHook
}

func (m memberGuards) key() string { return m.file + "#" + Name }

func (m memberGuards) install(p *planner) outcome {
	d, err := p.mixedDraft(m.file)
	if err != nil {
		return failed(m.name, m.file, err)
	}
	src := d.document()
	raw, err := jsonc.Member(src, nil, Name)
	if err != nil {
		return failed(m.name, m.file, err)
	}
	o := outcome{m.name, Added, m.file, ""}
	switch {
	case raw == nil && p.opts.sync:
		return outcome{}
	case raw == nil:
	case sameJSON(raw, m.want):
		o.status = AlreadyPresent
		return o
	case !m.isOurs(raw) && !p.opts.Replace:
		o.status, o.why = Skipped, "the hook "+Name+" in it is not ours and stays; --replace overwrites it"
		return o
	default:
		o.status = Updated
		if src, _, err = jsonc.RemoveMember(src, nil, Name, p.was.Edits[m.key()].Undo); err != nil {
			return failed(m.name, m.file, err)
		}
	}
	out, text, undo, err := jsonc.Set(src, nil, Name, m.want)
	if err != nil {
		return failed(m.name, m.file, err)
	}
	d.merge(p, out, text, m.key(), undo)
	return o
}

// isOurs reports whether a member of our name runs our command; somebody may have
// switched it off, or may have taken the name for a hook of his own.
func (m memberGuards) isOurs(raw []byte) bool {
	return bytes.Contains(raw, []byte("tt hook "+hook.Stop)) || bytes.Contains(raw, []byte("tt hook "+hook.Edit))
}

func (m memberGuards) uninstall(p *planner) outcome {
	d, err := p.mixedDraft(m.file)
	if err != nil {
		return failed(m.name, m.file, err)
	}
	raw, err := jsonc.Member(d.document(), nil, Name)
	if err != nil {
		return failed(m.name, m.file, err)
	}
	o := outcome{m.name, Removed, m.file, ""}
	switch {
	case raw == nil:
		d.records = append(d.records, func() { delete(p.was.Edits, m.key()) })
		return outcome{m.name, AlreadyAbsent, "", ""}
	case !m.isOurs(raw) && !p.opts.Replace:
		o.status, o.why = Skipped, "the hook "+Name+" in it is not ours and stays; --replace removes it"
		return o
	}
	out, _, err := jsonc.RemoveMember(d.document(), nil, Name, p.was.Edits[m.key()].Undo)
	if err != nil {
		return failed(m.name, m.file, err)
	}
	d.unmerge(p, out, m.key())
	return o
}
