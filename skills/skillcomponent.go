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

	"github.com/talking-stick/tt/lockfile"
	"github.com/talking-stick/tt/skills/rewrite"
)

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

// A skillComponent is the skill: a directory with skillFile in it, or a link to one.
type skillComponent struct {
	dir    string // where the harness looks for it
	source string // the directory that a link points to
}

func (s skillComponent) file() wholeFile {
	return wholeFile{skillName, filepath.Join(s.dir, skillFile), skillText}
}

func (s skillComponent) install(p *planner) outcome {
	target, linked, err := readLink(s.dir)
	if err != nil {
		return failed(skillName, s.dir, err)
	}
	if linked {
		return s.overLink(p, target)
	}
	if p.opts.Mode == LinkMode {
		return s.link(p)
	}
	return s.file().install(p)
}

// readLink returns what the symbolic link at path points to, and whether it is one.
func readLink(path string) (target string, linked bool, err error) {
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

// overLink plans to install where there is a link already.
func (s skillComponent) overLink(p *planner, target string) outcome {
	o := outcome{component: skillName, path: s.dir, status: Updated}
	switch {
	case target == s.source && p.opts.Mode != CopyMode:
		o.status = AlreadyPresent
		if s.refreshSource(p) {
			o.status = Updated
		}
		return o
	case target != s.source && !s.ofOldProduct(target) && !p.opts.Replace:
		o.status, o.why = Skipped, "it is a link to "+target+" and stays; --replace replaces it"
		return o
	}
	s.unlink(p, target)
	if p.opts.Mode == LinkMode {
		s.makeLink(p)
		return o
	}
	// The link still exists while this is planned: install would find the file
	// that it leads to.
	s.file().write(p, nil, false)
	return o
}

// ofOldProduct reports whether a link leads into the npm package of an older version.
func (s skillComponent) ofOldProduct(target string) bool {
	return strings.HasSuffix(filepath.ToSlash(target), "node_modules/talking-stick/skills/talking-stick")
}

// link plans to install a link where there is none.
func (s skillComponent) link(p *planner) outcome {
	f := s.file()
	o := outcome{component: skillName, path: s.dir, status: Added}
	if p.opts.sync {
		return outcome{}
	}
	if _, err := os.Lstat(s.dir); err == nil {
		o.status = Updated
		if others := s.others(); others != "" {
			o.status, o.why = Skipped, "there is "+others+" in it, which a link would hide"
			return o
		}
		if removed := f.uninstall(p); removed.status != Removed && removed.status != AlreadyAbsent {
			return removed
		}
		p.steps = append(p.steps, Step{Action: Delete, Path: s.dir, do: func() (string, error) { return "", os.Remove(s.dir) }})
	}
	s.makeLink(p)
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

func (s skillComponent) makeLink(p *planner) {
	s.refreshSource(p)
	p.recordDirs(filepath.Dir(s.dir))
	p.steps = append(p.steps, Step{
		Action: Link, Path: s.dir, Target: s.source,
		do: func() (string, error) {
			if err := lockfile.MakeDirs(filepath.Dir(s.dir), 0o755); err != nil {
				return "", err
			}
			err := os.Symlink(s.source, s.dir)
			lockfile.Adopt(s.dir)
			return "", err
		},
		record: func() { p.recorded.Links[s.dir] = s.source },
	})
}

// refreshSource plans to bring the link's target up to date, and reports whether
// that is needed. The target is in the data directory, so it is never the user's.
func (s skillComponent) refreshSource(p *planner) bool {
	path := filepath.Join(s.source, skillFile)
	before, err := read(path)
	if err == nil && string(before) == skillText {
		return false
	}
	p.steps = append(p.steps, Step{
		Action: Write, Path: path, Text: skillText,
		do: func() (string, error) {
			if err := lockfile.MakeDirs(s.source, 0o700); err != nil {
				return "", err
			}
			return (&rewrite.Writer{}).Replace(path, before, []byte(skillText))
		},
	})
	return true
}

func (s skillComponent) unlink(p *planner, target string) {
	p.steps = append(p.steps, Step{
		Action: Delete, Path: s.dir, Target: target,
		do:     func() (string, error) { return "", os.Remove(s.dir) },
		record: func() { delete(p.recorded.Links, s.dir) },
	})
}

func (s skillComponent) uninstall(p *planner) outcome {
	target, linked, err := readLink(s.dir)
	if err != nil {
		return failed(skillName, s.dir, err)
	}
	if linked {
		o := outcome{component: skillName, path: s.dir, status: Removed}
		if target != s.source && !s.ofOldProduct(target) && !p.opts.Replace {
			o.status, o.why = Skipped, "it is a link to "+target+" and stays; --replace removes it"
			return o
		}
		s.unlink(p, target)
		return o
	}
	o := s.file().uninstall(p)
	if o.status == Removed {
		if others := s.others(); others != "" {
			o.why = others + " beside it is not ours and stays"
			return o
		}
		p.steps = append(p.steps, Step{Action: Delete, Path: s.dir, do: func() (string, error) { return "", removeIfEmpty(s.dir) }})
	}
	return o
}

// removeIfEmpty removes a directory unless there is something in it.
func removeIfEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		return err
	}
	return os.Remove(dir)
}
