package skills

import (
	"bytes"
	"errors"
	"strings"

	"github.com/talking-stick/tt/skills/jsonc"
)

// A settingsFile is a JSON file of a harness that contains entries of ours among
// those of others.
type settingsFile struct {
	path    string
	entries []entry
	begin   string // what a file that has nothing else begins with; "" if nothing
}

// started returns doc, or what the file begins with if doc has nothing.
func (s settingsFile) started(doc *jsonc.Document) *jsonc.Document {
	if begun, err := jsonc.Parse([]byte(s.begin)); err == nil && s.begin != "" && doc.Empty() {
		return begun
	}
	return doc
}

// hasNothing reports whether doc has nothing but what the file begins with.
func (s settingsFile) hasNothing(doc *jsonc.Document) bool {
	return doc.Empty() || s.begin != "" && digestJSON(doc.Bytes()) == digestJSON([]byte(s.begin))
}

func (s settingsFile) install(p *planner) outcome {
	o, err := s.planInstall(p)
	if err != nil {
		o = failed(guardsName, s.path, err)
		o.why += "; put that right and install again, or install without hooks: --no-hooks"
	}
	return o
}

func (s settingsFile) planInstall(p *planner) (outcome, error) {
	o := outcome{component: guardsName, path: s.path, status: AlreadyPresent}
	before, err := p.read(s.path)
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
	wanted, err := s.wanted(p, before, doc, &o)
	switch {
	case err != nil:
		return o, err
	case len(wanted) == 0 && o.why == "":
		return outcome{}, nil
	case o.status == AlreadyPresent:
		if len(wanted) < len(s.entries) && !p.opts.sync {
			o.status = Skipped
		}
		return o, nil
	}
	original, doc, err := s.original(p, before, doc, wanted)
	if err != nil {
		return o, err
	}
	doc = s.started(doc)
	var digests []string
	for _, e := range wanted {
		if err := e.add(doc, p.opts.Replace); errors.Is(err, errTaken) {
			o.status, o.why = Skipped, err.Error()
			return o, nil
		} else if err != nil {
			return o, err
		}
		digests = append(digests, digestJSON(encoded(e.value)))
	}
	after := doc.Bytes()
	p.change(fileChange{action: Merge, path: s.path, before: before, after: after, backup: before != nil, record: func() {
		p.recorded.Foreign[s.path] = foreignFile{original, original == nil, digestOf(string(after)), digests}
	}})
	return o, nil
}

// wanted returns the entries that doc is to contain, and sets the status of o. Two kinds of
// entries are left out: those that the user has edited, unless Replace is set, and in a
// sync those that doc does not have.
func (s settingsFile) wanted(p *planner, before []byte, doc *jsonc.Document, o *outcome) (wanted []entry, err error) {
	for _, e := range s.entries {
		f, err := e.find(doc)
		switch {
		case err != nil:
			return nil, err
		case len(f.paths) == 0 && p.opts.sync:
			continue
		case len(f.paths) == 0:
			o.status = Added
		case !f.exact && !p.opts.Replace && p.recorded.Foreign[s.path].edited(before, f.digests):
			o.why = "one of them has been edited and stays as it is; --replace overwrites it"
			continue
		case !f.exact && o.status != Added:
			o.status = Updated
		}
		wanted = append(wanted, e)
	}
	return wanted, nil
}

// original returns the file as it was without entries, nil if it did not exist: as
// it is recorded if the file is as we wrote it, else doc without them.
func (s settingsFile) original(p *planner, before []byte, doc *jsonc.Document, entries []entry) ([]byte, *jsonc.Document, error) {
	recorded := p.recorded.Foreign[s.path]
	if digestOf(string(before)) == recorded.Written {
		original := recorded.content()
		doc, err := jsonc.Parse(original)
		return original, doc, err
	}
	like, err := jsonc.Parse(recorded.Original)
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
	forget := func() { delete(p.recorded.Foreign, s.path) }
	before, err := p.read(s.path)
	if errors.Is(err, errDangling) {
		err = nil
	}
	if err != nil || !bytes.Contains(before, []byte("tt hook ")) {
		forget()
		return outcome{component: guardsName, status: AlreadyAbsent}, err
	}
	doc, err := jsonc.Parse(before)
	if err != nil {
		return outcome{}, err
	}
	after, doc, err := s.original(p, before, doc, s.entries)
	if err == nil && bytes.Contains(after, []byte("tt hook ")) { // an edited entry that installing has left alone
		empty, _ := jsonc.Parse(nil)
		for _, e := range s.entries {
			err = errors.Join(err, e.remove(doc, empty))
		}
		after = doc.Bytes()
	}
	if err != nil {
		return outcome{}, err
	}
	if bytes.Equal(after, before) {
		return outcome{component: guardsName, status: AlreadyAbsent}, nil
	}
	recorded, known := p.recorded.Foreign[s.path]
	if known && strings.TrimSpace(string(recorded.Original)) == "" && s.hasNothing(doc) {
		after = recorded.content()
	}
	p.change(fileChange{action: Unmerge, path: s.path, before: before, after: after,
		backup: digestOf(string(before)) != recorded.Written, record: forget})
	return outcome{component: guardsName, status: Removed, path: s.path}, nil
}
