package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/lockfile"
)

// folders are the directories of the data directory that have rooms, and the journals of
// ended lives.
var folders = []string{"rooms", "topics", "archive"}

// CheckDir verifies the data directory without the rooms in it: that it can be written
// to, its modes and owners, and that it has nothing but rooms among the rooms. With
// repair it corrects modes and owners.
func CheckDir(s *fsroom.Store, repair bool) []Problem {
	var problems []Problem
	dir := s.Dir()
	if err := writable(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, Problem{File: dir, Problem: fmt.Sprintf("it cannot be written to: %v", err)})
	}
	for _, path := range []string{dir, filepath.Join(dir, "format")} {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			problems = append(problems, checkAccess(dir, path, info, repair)...)
		}
	}
	for _, folder := range folders {
		problems = append(problems, checkRooms(dir, folder, repair)...)
	}
	return problems
}

// checkRooms verifies a folder that has rooms, without what is in them. A link is no room: nothing
// outside the data directory is taken for one.
func checkRooms(dir, folder string, repair bool) (problems []Problem) {
	top := filepath.Join(dir, folder)
	_ = walk(top, func(path string, info fs.FileInfo, err error) error {
		found := func(format string, what any) error {
			problems = append(problems, Problem{File: path, Problem: fmt.Sprintf(format, what)})
			return nil
		}
		switch {
		case err != nil:
			return found("cannot be read: %v", err)
		case path == top && !info.IsDir():
			return found("it is %s, not a directory", lockfile.TypeName(info.Mode()))
		case !info.IsDir() && !(info.Mode().IsRegular() && mayBeFile(folder, filepath.Base(path))):
			return found("it is %s and no room", lockfile.TypeName(info.Mode()))
		case path == top, folder == "archive", path == filepath.Join(top, "lock"):
			problems = append(problems, checkAccess(dir, path, info, repair)...)
		}
		if path != top && info.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return problems
}

// mayBeFile reports whether a folder that has rooms may have a file of the name. Hidden ones are not ours.
func mayBeFile(folder, name string) bool {
	return folder == "archive" || name == "lock" || name[0] == '.'
}

// checkAccess verifies mode and owner of a file or directory of the data directory dir.
func checkAccess(dir, path string, info fs.FileInfo, repair bool) (problems []Problem) {
	if p, ok := shared(dir, path, info, repair); ok {
		problems = append(problems, p)
	}
	if p, ok := foreign(path, info, dir); ok {
		p.Repaired = repair && giveBack(path, dir)
		problems = append(problems, p)
	}
	return problems
}

// CheckFolder verifies a folder of the data directory that has no rooms: modes and owners,
// and that everything in it belongs there, which is told the path of each file and
// directory below the folder. What does not is reported and left alone. Links are not
// followed, and what goes away meanwhile is no problem.
func CheckFolder(s *fsroom.Store, folder string, belongs func(path string, mode fs.FileMode) bool, repair bool) []Problem {
	var problems []Problem
	top := filepath.Join(s.Dir(), folder)
	_ = walk(top, func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			problems = append(problems, Problem{File: path, Problem: fmt.Sprintf("cannot be read: %v", err)})
			return nil
		}
		below, _ := filepath.Rel(top, path)
		if belongs(filepath.ToSlash(below), info.Mode().Type()) {
			problems = append(problems, checkAccess(s.Dir(), path, info, repair)...)
			return nil
		}
		problems = append(problems, Problem{File: path,
			Problem: fmt.Sprintf("it is %s that does not belong here: move it elsewhere", lockfile.TypeName(info.Mode().Type()))})
		if info.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return problems
}

// walk calls do with everything in a directory, or with the error of what cannot be read. It
// follows no link, and leaves out what goes away meanwhile.
func walk(dir string, do func(path string, info fs.FileInfo, err error) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return do(path, info, err)
	})
}

// shared reports a directory or file that other users have access to. They may read the
// data directory itself, in which its user may have other files, but must not be able to
// replace its rooms.
func shared(dir, path string, info fs.FileInfo, repair bool) (Problem, bool) {
	access := fs.FileMode(0o077)
	if path == dir {
		access = 0o022
	}
	if info.Mode().Perm()&access == 0 {
		return Problem{}, false
	}
	p := Problem{File: path, Problem: fmt.Sprintf("others have access to it (mode %04o)", info.Mode().Perm()), Repair: makePrivate}
	p.Repaired = repair && os.Chmod(path, info.Mode().Perm()&^0o077) == nil
	return p, true
}
