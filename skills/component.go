package skills

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

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

// Name is the name of the skill and of its directory.
const Name = "talking-stick"

const (
	skillName = "skill"    // the component's name
	skillFile = "SKILL.md" // the only file of the skill
)

//go:embed talking-stick/SKILL.md
var skillText string

// digestOf identifies the content of a file in the record.
func digestOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// A skillComponent is the skill: a directory with skillFile in it.
type skillComponent struct {
	dir string // where the harness looks for it
}

func (s skillComponent) file() wholeFile {
	return wholeFile{skillName, filepath.Join(s.dir, skillFile), skillText}
}

func (s skillComponent) install(p *planner) outcome {
	target, isLink, err := readLink(s.dir)
	switch {
	case err != nil:
		return failed(skillName, s.dir, err)
	case !isLink:
		return s.file().install(p)
	case !isOld(target) && !p.opts.Replace:
		return outcome{skillName, Skipped, s.dir, "it is a link to " + target + " and stays; --replace replaces it"}
	}
	s.unlink(p, target)
	// The link still exists while this is planned: install would find the file
	// that it leads to.
	s.file().write(p, nil, false)
	return outcome{component: skillName, path: s.dir, status: Updated}
}

// readLink returns what the symbolic link at path points to, and whether it is one.
func readLink(path string) (target string, isLink bool, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", false, err
	}
	target, err = os.Readlink(path)
	return target, true, err
}

// isOld reports whether a link leads into the npm package of an older version.
func isOld(target string) bool {
	return strings.HasSuffix(filepath.ToSlash(target), "node_modules/talking-stick/skills/talking-stick")
}

func (s skillComponent) unlink(p *planner, target string) {
	p.steps = append(p.steps, Step{
		Action: Delete, Path: s.dir, Target: target,
		do: func() (string, error) { return "", os.Remove(s.dir) },
	})
}

func (s skillComponent) uninstall(p *planner) outcome {
	target, isLink, err := readLink(s.dir)
	switch {
	case err != nil:
		return failed(skillName, s.dir, err)
	case isLink && !isOld(target) && !p.opts.Replace:
		return outcome{skillName, Skipped, s.dir, "it is a link to " + target + " and stays; --replace removes it"}
	case isLink:
		s.unlink(p, target)
		return outcome{component: skillName, path: s.dir, status: Removed}
	}
	o := s.file().uninstall(p)
	if o.status == Removed {
		if others := s.others(); others != "" {
			o.why = others + " beside it is not ours and stays"
			return o
		}
		p.steps = append(p.steps, Step{Action: Delete, Path: s.dir, do: func() (string, error) {
			_ = os.Remove(s.dir) // unless there is something in it now
			return "", nil
		}})
	}
	return o
}

// others returns the name of a file in the skill's directory that is not skillFile,
// "" if there is none.
func (s skillComponent) others() string {
	entries, _ := os.ReadDir(s.dir)
	for _, entry := range entries {
		if entry.Name() != skillFile {
			return entry.Name()
		}
	}
	return ""
}
