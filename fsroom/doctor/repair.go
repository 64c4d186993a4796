package doctor

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/lockfile"
)

// Repair repairs the problems that [Check] finds, as far as they can be, under the room's
// lock. It returns all of them, and sets Repaired in those that are gone. What keeps it
// from going on, such as a lock that another process does not release, is a problem too.
//
// Before a file is replaced its bytes are on the disk under another name beside it. A
// repair that is killed can be run again and goes on from what it finds.
func Repair[S any](ctx context.Context, room *fsroom.Room[S]) []Problem {
	if !room.HasDir() {
		return nil
	}
	r := repairer[S]{Room: room, lost: map[string]loss{}}
	found := check(room, false)
	if info, err := os.Lstat(r.Room.LockPath()); err == nil && !info.Mode().IsRegular() {
		// It cannot be locked as long as it is there.
		if err := r.Room.MoveAside(r.Room.LockPath()); err != nil {
			return append(found, r.stopped(err))
		}
	}
	unlock, err := r.Room.Lock(ctx)
	if err != nil {
		return append(found, r.stopped(err))
	}
	defer unlock()
	found = union(found, check(room, true))
	if len(found) == 0 {
		return nil
	}
	err = r.repair()
	return r.outcome(found, err)
}

// A repairer is one Repair.
type repairer[S any] struct {
	Room *fsroom.Room[S]
	lost map[string]loss // by the path of a repaired journal
}

// A loss is what the repair of a journal could not keep.
type loss struct {
	events int    // that could not be read
	kept   string // the name of the file that has the damaged bytes
}

// stopped returns the problem that an error of the repair itself is.
func (r *repairer[S]) stopped(err error) Problem {
	return Problem{RoomID: r.Room.Name(), File: r.Room.Dir(), Problem: "not repaired: " + r.Room.Store().Explain(err, r.Room.Dir()).Error()}
}

// outcome looks again and sets Repaired in the problems that are gone.
func (r *repairer[S]) outcome(found []Problem, err error) []Problem {
	left := check(r.Room, true)
	for i := range found {
		p := &found[i]
		p.Repaired = !slices.Contains(left, *p)
		if l, ok := r.lost[p.File]; ok && p.Repaired && p.Line > 0 {
			p.Lost, p.Kept = &l.events, l.kept
		}
	}
	found = union(found, left)
	if err != nil {
		found = append(found, r.stopped(err))
	}
	return found
}

// union appends the problems that are not yet in the list.
func union(problems, more []Problem) []Problem {
	for _, p := range more {
		if !slices.Contains(problems, p) {
			problems = append(problems, p)
		}
	}
	return problems
}

// repair puts the room in order. The lock file comes last: once its path names another
// file, other processes can have the lock.
func (r *repairer[S]) repair() error {
	sweep := func() error { _, err := lockfile.Sweep(r.Room.TempDir()); return err }
	for _, step := range []func() error{r.types, r.modes, r.Room.Unshare, sweep, r.history, r.archive, r.lockFile} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// types moves aside what is not a file or directory of the room, except in the place of
// the journal: without it the life of the room would be over.
func (r *repairer[S]) types() error {
	if info, err := os.Lstat(r.Room.StatePath()); err == nil && info.IsDir() {
		if err := r.Room.MoveAside(r.Room.StatePath()); err != nil {
			return err
		}
	}
	for _, dir := range []string{r.Room.TempDir(), r.Room.AgentsDir()} {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			if err := r.Room.MoveAside(dir); err != nil {
				return err
			}
		}
		if err := fsroom.MakeDir(dir); err != nil {
			return err
		}
	}
	return r.walk(func(path string, info fs.FileInfo) error {
		if info.Mode().IsRegular() || info.IsDir() || path == r.Room.JournalPath() || fsroom.IsAside(path) {
			return nil
		}
		return r.Room.MoveAside(path)
	})
}

// modes makes files private that other users have access to, and gives files of other
// users to the owner of the data directory.
func (r *repairer[S]) modes() error {
	private := func(path string, info fs.FileInfo) error {
		if _, is := foreign(path, info, r.Room.Store().Dir()); is {
			giveBack(path, r.Room.Store().Dir())
		}
		switch {
		case !isOpen(info):
		case info.IsDir():
			return os.Chmod(path, 0o700)
		case info.Mode().IsRegular():
			return os.Chmod(path, 0o600)
		}
		return nil
	}
	paths, err := r.Room.Archived()
	if err != nil {
		return err
	}
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil {
			if err := private(path, info); err != nil {
				return err
			}
		}
	}
	return r.walk(private)
}

// isOpen reports whether other users have access to a file.
func isOpen(info fs.FileInfo) bool { return fsroom.PrivateModes && info.Mode().Perm()&0o077 != 0 }

// walk calls do with everything in the room. It follows no link.
func (r *repairer[S]) walk(do func(path string, info fs.FileInfo) error) error {
	return walk(r.Room.Dir(), func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return do(path, info)
	})
}

// lockFile replaces a lock file that has other names (hard links).
func (r *repairer[S]) lockFile() error {
	info, err := os.Lstat(r.Room.LockPath())
	if err != nil || !info.Mode().IsRegular() || lockfile.Links(info) < 2 {
		return err
	}
	return r.Room.Replace(r.Room.LockPath(), nil)
}

// archive repairs the journals of ended lives.
func (r *repairer[S]) archive() error {
	paths, err := r.Room.Archived()
	if err != nil {
		return err
	}
	for _, path := range paths {
		var corrupt *journal.CorruptError
		if err := checkArchived(path); !errors.As(err, &corrupt) {
			continue
		}
		v := salvage[S]{room: r.Room, path: path, committed: maxSalvage}
		v.first, v.last = fsroom.ArchivedEvents(path)
		if err := r.journal(&v); err != nil {
			return err
		}
	}
	return nil
}

// journal replaces a damaged journal by what can be read of it, and keeps its bytes
// beside it.
func (r *repairer[S]) journal(v *salvage[S]) error {
	b, err := lockfile.ReadRegular(v.path, maxSalvage)
	if err != nil {
		return err
	}
	v.kept = keptName(v.path, "damaged", b)
	out, err := v.make()
	if err != nil || v.orphan && v.path == r.Room.JournalPath() {
		return err
	}
	if err := r.keep(v.path, "damaged", b); err != nil {
		return err
	}
	r.lost[v.path] = loss{v.lost, v.kept}
	if bytes.Equal(out, b) {
		return nil
	}
	return r.Room.Replace(v.path, out)
}
