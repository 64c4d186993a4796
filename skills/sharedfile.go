package skills

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/talking-stick/tt/skills/jsonc"
)

// A part is what is ours in a file of another program: a hook, or the registration of a server.
type part interface {
	// find looks for the part in a file.
	find(file []byte) (finding, error)
	// add returns a file with the part, in the place of another value under our name.
	add(file []byte) ([]byte, error)
	// remove returns a file without the part, and without what is around it and then empty,
	// unless like has it. A file that does not have the part comes back as it is.
	remove(file, like []byte) ([]byte, error)
}

// A finding is what a file contains of a part.
type finding struct {
	digests []string   // of the values that are ours or contain something of ours; none: it is not there
	paths   [][]string // of everything that is ours in a JSON file, the last one first
	exact   bool       // it is as this version writes it
	taken   bool       // another value has our name
}

// A sharedFile is a file of a harness that has parts of ours among what others have there.
type sharedFile struct {
	name    string // of the component
	path    string
	parts   []part
	mark    string // what a file contains that has one of them; "": not known
	begin   string // what a file that has nothing else begins with; "" if nothing
	without string // what users can do while the file is unusable
	missing string // why the parts cannot be added; "" if they can
	secrets string // the key of the only thing in the file of which a copy may be kept; "": of all
	byName  bool   // only the name says that a part is ours: one that is not on record is the user's
}

// records returns what is on record of files like this one.
func (s sharedFile) records(p *planner) map[string]foreignFile {
	if s.byName {
		return p.recorded.Servers
	}
	return p.recorded.Foreign
}

// hasNothing reports whether a file has nothing but what it begins with.
func (s sharedFile) hasNothing(file []byte) bool {
	return len(bytes.Trim(file, "{} \t\r\n\ufeff")) == 0 || s.begin != "" && digestJSON(file) == digestJSON([]byte(s.begin))
}

func (s sharedFile) install(p *planner) outcome {
	o, err := s.planInstall(p)
	if errors.Is(err, errInline) {
		return outcome{s.name, notRegistered, s.path, err.Error()}
	}
	if err != nil {
		o = failed(s.name, s.path, err)
		o.why += "; put that right and install again, or " + s.without
	}
	return o
}

func (s sharedFile) planInstall(p *planner) (outcome, error) {
	o := outcome{component: s.name, path: s.path, status: AlreadyPresent}
	before, err := p.read(s.path)
	if err != nil {
		return o, err
	}
	if s.name == guardsName {
		o.why = keptFrom(before)
	}
	wanted, err := s.wanted(p, before, &o)
	switch {
	case err != nil:
		return o, err
	case len(wanted) == 0 && o.why == "":
		return outcome{}, nil
	case o.status == AlreadyPresent:
		if len(wanted) < len(s.parts) && !s.byName && !p.opts.sync {
			o.status = Skipped
		}
		return o, nil
	case s.missing != "":
		return outcome{component: s.name, status: notRegistered, why: s.missing}, nil
	}
	original, err := s.original(s.records(p)[s.path], before, wanted)
	after := original
	if s.begin != "" && s.hasNothing(after) {
		after = []byte(s.begin)
	}
	for _, x := range wanted {
		if err == nil {
			after, err = x.add(after)
		}
	}
	if err != nil {
		return o, err
	}
	record := foreignFile{Original: original, Made: original == nil, Written: digestOf(string(after))}
	for _, x := range wanted {
		f, _ := x.find(after)
		record.Entries = append(record.Entries, f.digests...)
	}
	if s.secrets != "" && !record.Made {
		record.Original, record.Written = skeleton(original, s.secrets), ""
	}
	p.change(fileChange{
		action: Merge, path: s.path, before: before, after: after, backup: before != nil && s.secrets == "", private: s.secrets != "",
		record: func() { s.records(p)[s.path] = record },
	})
	return o, nil
}

// keptFrom says what in a settings file keeps every hook in it from running, "" for nothing.
func keptFrom(file []byte) string {
	doc, _ := jsonc.Parse(file)
	for _, off := range [...][2]string{{"disableAllHooks", "true"}, {"hooksConfig.enabled", "false"}} {
		if raw, _ := doc.Get(strings.Split(off[0], ".")...); string(raw) == off[1] {
			return `"` + off[0] + `" in it keeps them from running`
		}
	}
	return ""
}

// skeleton returns a JSON file that has the member of another one with that key, empty, or nothing.
func skeleton(file []byte, key string) []byte {
	if doc, err := jsonc.Parse(file); err == nil {
		if member, _ := doc.Get(key); member != nil {
			return []byte(`{"` + key + `":{}}`)
		}
	}
	return nil
}

// wanted returns the parts that the file is to contain, and sets the status of o. Two kinds of
// parts are left out: those that are not as they were written, unless Replace is set, and in a
// sync those that the file does not have.
func (s sharedFile) wanted(p *planner, before []byte, o *outcome) (wanted []part, err error) {
	for _, x := range s.parts {
		f, err := x.find(before)
		switch {
		case err != nil:
			return nil, err
		case len(f.digests) == 0 && p.opts.sync:
			continue
		case f.taken && !p.opts.Replace:
			o.why = "the hook " + Name + " in it is not ours and stays; --replace overwrites it"
			continue
		case len(f.digests) == 0:
			o.status = Added
		case !f.exact && !p.opts.Replace && s.records(p)[s.path].edited(before, f.digests, s.byName):
			o.why = "one of them has been edited and stays as it is; --replace overwrites it"
			if s.byName {
				o.why = "this registration is not ours and stays; --replace overwrites it"
			}
			continue
		case !f.exact && o.status != Added:
			o.status = Updated
		}
		wanted = append(wanted, x)
	}
	return wanted, nil
}

// original returns a file as it was without parts, nil if it did not exist: as it is recorded if
// the file is as we wrote it, else the file without them.
func (s sharedFile) original(recorded foreignFile, now []byte, parts []part) (original []byte, err error) {
	if recorded.Written != "" && digestOf(string(now)) == recorded.Written {
		return recorded.content(), nil
	}
	original = now
	for _, x := range parts {
		if original, err = x.remove(original, recorded.Original); err != nil {
			return nil, err
		}
	}
	if recorded.Written != "" && len(bytes.TrimSpace(recorded.Original)) == 0 && s.hasNothing(original) {
		return recorded.content(), nil
	}
	return original, nil
}

func (s sharedFile) uninstall(p *planner) outcome {
	o := outcome{component: s.name, status: AlreadyAbsent}
	recorded, known := s.records(p)[s.path]
	before, err := p.read(s.path)
	if errors.Is(err, errDangling) {
		before, err = nil, nil
	}
	var there finding
	marked := bytes.Contains(before, []byte(s.mark))
	if err == nil && marked {
		there, err = s.find(before)
	}
	forget := func() { delete(s.records(p), s.path) }
	switch {
	case s.byName && !known && (err != nil || !there.exact || s.missing != ""):
		return o // the user's own, which installing has left alone
	case err != nil && !errors.Is(err, errInline):
		return failed(s.name, s.path, err)
	case err == nil && (!marked || s.byName && len(there.digests) == 0):
		forget()
		return o
	case err != nil, s.byName && !p.opts.Replace && !slices.Equal(there.digests, recorded.Entries):
		o.status, o.path, o.why = Skipped, s.path, "it has been edited and stays; --replace removes it"
		if !known {
			o.why = "it is not on record as ours and stays; --replace removes it"
		}
		return o
	}
	after, err := s.original(recorded, before, s.parts)
	if err == nil && s.mark != "" && bytes.Contains(after, []byte(s.mark)) { // an edited one that installing has left alone
		after, err = s.original(foreignFile{}, after, s.parts)
	}
	if err != nil {
		return failed(s.name, s.path, err)
	}
	if bytes.Equal(after, before) {
		return o
	}
	p.change(fileChange{action: Unmerge, path: s.path, before: before, after: after,
		backup: digestOf(string(before)) != recorded.Written && s.secrets == "", record: forget})
	o.status, o.path = Removed, s.path
	return o
}

// find looks for all parts in a file.
func (s sharedFile) find(file []byte) (all finding, err error) {
	all.exact = true
	for _, x := range s.parts {
		f, err := x.find(file)
		if err != nil {
			return all, err
		}
		all.digests, all.exact = append(all.digests, f.digests...), all.exact && f.exact
	}
	return all, nil
}
