package skills

// A part is one thing that a harness gets: the skill, or a guard.
type part interface {
	// install plans to put the part in place or to bring it up to date. In
	// a sync it does only the latter.
	install(p *planner) outcome
	// uninstall plans to take it away.
	uninstall(p *planner) outcome
}

func failed(name, path string, err error) outcome {
	return outcome{name, Failed, path, err.Error()}
}

// A wholeFile is a file that is ours alone.
type wholeFile struct {
	name string // of the part
	path string
	text string
}

// A claim is whose work a file or an entry is.
type claim int

const (
	nobodys claim = iota // it is not there
	current              // it is what this version writes
	older                // it is what an earlier version wrote
	edited               // it is the user's
)

func (f wholeFile) claim(p *planner, d *draft) claim {
	if !d.exists() {
		return nobodys
	}
	d.ours = true
	switch digest(string(d.now)) {
	case digest(f.text):
		return current
	case p.was.Files[f.path].Digest:
		return older
	}
	d.ours = false
	return edited
}

func (f wholeFile) install(p *planner) outcome {
	d, err := p.draft(f.path)
	if err != nil {
		return failed(f.name, f.path, err)
	}
	defer p.finish(f.path)
	remember := func() { p.was.Files[f.path] = ownFile{digest(f.text)} }
	o := outcome{part: f.name, path: f.path}
	switch f.claim(p, d) {
	case current:
		d.records = append(d.records, remember)
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
	d.now, d.records = []byte(f.text), append(d.records, remember)
	return o
}

func (f wholeFile) uninstall(p *planner) outcome {
	d, err := p.draft(f.path)
	if err != nil {
		return failed(f.name, f.path, err)
	}
	defer p.finish(f.path)
	o := outcome{part: f.name, path: f.path, status: Removed}
	switch f.claim(p, d) {
	case nobodys:
		o.status, o.path = AlreadyAbsent, ""
	case edited:
		if !p.opts.Replace {
			o.status, o.why = Skipped, "it has been edited and stays; --replace removes it"
			return o
		}
	}
	d.gone = true
	d.records = append(d.records, func() { delete(p.was.Files, f.path) })
	return o
}
