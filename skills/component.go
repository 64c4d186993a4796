package skills

// A component is one thing that is installed into a harness: the skill, the guards, or
// the registration of agent-bus.
type component interface {
	// install plans to add the component or to bring it up to date. In a sync it
	// does only the latter.
	install(p *planner) outcome
	// uninstall plans to remove the component.
	uninstall(p *planner) outcome
}

// failed returns the outcome of a component that could not be planned.
func failed(name, path string, err error) outcome {
	return outcome{name, Failed, path, err.Error()}
}

// A wholeFile is a file that is ours alone.
type wholeFile struct {
	name string // of the component
	path string
	text string
}

// An ownership says who has written a file.
type ownership int

const (
	absent  ownership = iota // there is no file
	current                  // this version
	older                    // an earlier version
	edited                   // the user
)

func (f wholeFile) ownership(p *planner, before []byte) ownership {
	switch {
	case before == nil:
		return absent
	case string(before) == f.text:
		return current
	case digestOf(string(before)) == p.recorded.Files[f.path].Digest:
		return older
	}
	return edited
}

func (f wholeFile) install(p *planner) outcome {
	before, err := read(f.path)
	if err != nil {
		return failed(f.name, f.path, err)
	}
	o := outcome{component: f.name, path: f.path}
	owner := f.ownership(p, before)
	switch owner {
	case current:
		f.remember(p)
		o.status = AlreadyPresent
		return o
	case absent:
		o.status = Added
		if p.opts.sync {
			return outcome{}
		}
	case older:
		o.status = Updated
	case edited:
		if !p.opts.Replace {
			o.status, o.why = Skipped, "it has been edited and stays as it is; --replace overwrites it"
			return o
		}
		o.status = Updated
	}
	f.write(p, before, owner == edited)
	return o
}

func (f wholeFile) write(p *planner, before []byte, backup bool) {
	p.change(fileChange{action: Write, path: f.path, before: before, after: []byte(f.text), backup: backup, record: func() { f.remember(p) }})
}

func (f wholeFile) remember(p *planner) { p.recorded.Files[f.path] = ownFile{digestOf(f.text)} }

func (f wholeFile) uninstall(p *planner) outcome {
	before, err := read(f.path)
	if err != nil {
		return failed(f.name, f.path, err)
	}
	o := outcome{component: f.name, path: f.path, status: Removed}
	owner := f.ownership(p, before)
	forget := func() { delete(p.recorded.Files, f.path) }
	switch {
	case owner == absent:
		forget()
		o.status, o.path = AlreadyAbsent, ""
		return o
	case owner == edited && !p.opts.Replace:
		o.status, o.why = Skipped, "it has been edited and stays; --replace removes it"
		return o
	}
	p.change(fileChange{action: Delete, path: f.path, before: before, backup: owner == edited, record: forget})
	return o
}
