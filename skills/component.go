package skills

// A component is one thing that is installed into a harness: the skill or the guards.
type component interface {
	// install plans to add the component or to bring it up to date. In a sync it
	// does only the latter.
	install(p *planner) outcome
	// uninstall plans to remove the component.
	uninstall(p *planner) outcome
}

// failed returns the outcome of a part that could not be planned.
func failed(name, path string, err error) outcome {
	return outcome{name, Failed, path, err.Error()}
}

// A wholeFile is a file that is ours alone.
type wholeFile struct {
	name string // of the part
	path string
	text string
}

// A claim is whose work a file is.
type claim int

const (
	nobodys claim = iota // it is not there
	current              // it is what this version writes
	older                // it is what an earlier version wrote
	edited               // it is the user's
)

func (f wholeFile) claim(p *planner, before []byte) claim {
	switch {
	case before == nil:
		return nobodys
	case string(before) == f.text:
		return current
	case digest(string(before)) == p.was.Files[f.path].Digest:
		return older
	}
	return edited
}

func (f wholeFile) install(p *planner) outcome {
	before, err := read(f.path)
	if err != nil {
		return failed(f.name, f.path, err)
	}
	o := outcome{part: f.name, path: f.path}
	whose := f.claim(p, before)
	switch whose {
	case current:
		f.remember(p)
		o.status = AlreadyPresent
		return o
	case nobodys:
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
	f.write(p, before, whose == edited)
	return o
}

func (f wholeFile) write(p *planner, before []byte, backup bool) {
	p.change(fileChange{Write, f.path, before, []byte(f.text), backup, func() { f.remember(p) }})
}

func (f wholeFile) remember(p *planner) { p.was.Files[f.path] = ownFile{digest(f.text)} }

func (f wholeFile) uninstall(p *planner) outcome {
	before, err := read(f.path)
	if err != nil {
		return failed(f.name, f.path, err)
	}
	o := outcome{part: f.name, path: f.path, status: Removed}
	whose := f.claim(p, before)
	forget := func() { delete(p.was.Files, f.path) }
	switch {
	case whose == nobodys:
		forget()
		o.status, o.path = AlreadyAbsent, ""
		return o
	case whose == edited && !p.opts.Replace:
		o.status, o.why = Skipped, "it has been edited and stays; --replace removes it"
		return o
	}
	p.change(fileChange{Delete, f.path, before, nil, whose == edited, forget})
	return o
}
