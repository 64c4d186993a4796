package skills

import (
	"bytes"

	"github.com/talking-stick/tt/skills/block"
)

// formerGuards are the guards that an earlier version has written into another
// file, in a marked block. They are only removed.
type formerGuards struct{ path string }

func (b formerGuards) install(p *planner) outcome {
	o := b.uninstall(p)
	if o.status == Removed {
		p.opts.sync = false // what goes here is added there
		o.status, o.why = Updated, "the guards are in hooks.json now"
	}
	return o
}

func (b formerGuards) uninstall(p *planner) outcome {
	o := outcome{component: "old guards", status: AlreadyAbsent}
	before, err := read(b.path)
	if err != nil {
		return failed(o.component, b.path, err)
	}
	after, had := block.Remove(before)
	switch {
	case had:
		o.status, o.path = Removed, b.path
		p.change(fileChange{Unmerge, b.path, before, after, true, nil})
	case bytes.Contains(before, []byte("tt hook ")):
		o.status, o.path, o.why = Skipped, b.path, "its guards of an earlier version have lost their markers; remove them by hand"
	}
	return o
}
