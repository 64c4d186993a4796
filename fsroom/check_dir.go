package fsroom

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// formatPrefix is what renameio names the file that becomes format.
const formatPrefix = ".format"

// sweepDir removes what killed processes left in the data directory itself, the
// format on its way. Others may be writing just now, so only what is clearly older
// goes.
func (s *Store) sweepDir() {
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), formatPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && s.opts.Now().Sub(info.ModTime()) > time.Minute {
			_ = os.RemoveAll(filepath.Join(s.dir, e.Name()))
		}
	}
}

// Folders of the data directory that hold rooms and what is left of them.
var folders = []string{"rooms", "topics", "archive"}

// CheckDir verifies the data directory itself, without the rooms in it: that it
// can be written to, its modes and owners, and that nothing but rooms is among the rooms. With repair it mends
// modes and owners.
func (s *Store) CheckDir(repair bool) []Problem {
	var problems []Problem
	if err := writable(s.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, Problem{File: s.dir, Problem: fmt.Sprintf("it cannot be written to: %v", err)})
	}
	for _, path := range s.ownPaths() {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			continue
		}
		if p, ok := s.shared(path, info, repair); ok {
			problems = append(problems, p)
		}
		if p, ok := foreign(path, info, s.dir); ok {
			p.Repaired = repair && giveBack(path, s.dir)
			problems = append(problems, p)
		}
	}
	for _, folder := range folders {
		problems = append(problems, notRooms(filepath.Join(s.dir, folder))...)
	}
	return problems
}

// shared reports a directory or file that others have access to. The data directory
// itself is as its user made it, who may have other things in it; but others must
// not be able to put something in place of its rooms.
func (s *Store) shared(path string, info fs.FileInfo, repair bool) (Problem, bool) {
	access := fs.FileMode(0o077)
	if path == s.dir {
		access = 0o022
	}
	if !privateModes || info.Mode().Perm()&access == 0 {
		return Problem{}, false
	}
	p := Problem{File: path, Problem: fmt.Sprintf("others have access to it (mode %04o)", info.Mode().Perm()), Repair: makePrivate}
	p.Repaired = repair && os.Chmod(path, info.Mode().Perm()&^0o077) == nil
	return p, true
}

// ownPaths are the directories and files above the rooms.
func (s *Store) ownPaths() []string {
	paths := []string{s.dir, s.formatFile()}
	for _, folder := range folders {
		paths = append(paths, filepath.Join(s.dir, folder))
	}
	archive := filepath.Join(s.dir, "archive")
	entries, _ := os.ReadDir(archive)
	for _, e := range entries {
		paths = append(paths, filepath.Join(archive, e.Name()))
	}
	return paths
}

// notRooms reports what stands among the rooms and is no room. A link is not
// followed, so that nothing outside the data directory is ever taken for a room.
func notRooms(dir string) []Problem {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return []Problem{{File: dir, Problem: fmt.Sprintf("it is %s, not a directory", lockfile.TypeName(info.Mode()))}}
	}
	entries, err := os.ReadDir(dir)
	var problems []Problem
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, Problem{File: dir, Problem: fmt.Sprintf("cannot be read: %v", err)})
	}
	for _, e := range entries {
		if !e.IsDir() && !e.Type().IsRegular() {
			problems = append(problems, Problem{File: filepath.Join(dir, e.Name()), Problem: fmt.Sprintf("it is %s and no room", lockfile.TypeName(e.Type()))})
		}
	}
	return problems
}
