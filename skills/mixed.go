package skills

import (
	"strings"

	"github.com/talking-stick/tt/skills/jsonc"
)

// emptyDocument is what a file gets that has no content yet.
const emptyDocument = "{}\n"

// mixedDraft returns the draft of a file that belongs to somebody else.
func (p *planner) mixedDraft(path string) (*draft, error) {
	d, err := p.draft(path)
	if err == nil {
		d.mixed = true
	}
	return d, err
}

// document returns the file as JSON; one with nothing in it counts as an empty
// object.
func (d *draft) document() []byte {
	if d.blank() {
		return []byte(emptyDocument)
	}
	return d.now
}

func (d *draft) blank() bool {
	return strings.TrimSpace(strings.TrimPrefix(string(d.now), "\ufeff")) == ""
}

// merge makes out the draft's content, with text added under key.
func (d *draft) merge(p *planner, out []byte, text, key string, undo jsonc.Undo) {
	if d.blank() {
		first := origin{Made: d.now == nil, Blank: string(d.now)}
		d.records = append(d.records, func() { p.was.Origins[d.path] = first })
	}
	d.now = out
	d.added = strings.TrimPrefix(d.added+"\n"+text, "\n")
	d.records = append(d.records, func() { p.was.Edits[key] = edit{undo} })
}

// unmerge makes out, which has nothing under key any more, the draft's content.
// If nothing else is left in a file that had no content, it has none again.
func (d *draft) unmerge(p *planner, out []byte, key string) {
	d.now = out
	d.records = append(d.records, func() { delete(p.was.Edits, key) })
	first, had := p.was.Origins[d.path]
	if !had || string(out) != emptyDocument {
		return
	}
	d.now, d.gone, d.ours = []byte(first.Blank), first.Made, first.Made
	d.records = append(d.records, func() { delete(p.was.Origins, d.path) })
}
