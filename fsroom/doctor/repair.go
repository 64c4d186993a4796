package doctor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	r := repairer[S]{Room: room, lost: map[string]*salvage[S]{}}
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
	now := check(room, true)
	found = union(found, now)
	if len(found) == 0 {
		return nil
	}
	err = r.repair(now)
	return r.outcome(found, err)
}

// A repairer is one Repair.
type repairer[S any] struct {
	Room *fsroom.Room[S]
	lost map[string]*salvage[S] // by the path of a repaired journal
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
			p.Lost, p.Kept = &l.lost, l.kept
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
func (r *repairer[S]) repair(found []Problem) error {
	files := func() error { return r.files(found) }
	sweep := func() error { _, err := lockfile.Sweep(r.Room.TempDir()); return err }
	for _, step := range []func() error{files, r.Room.Unshare, sweep, r.history, r.archive, r.lockFile} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// files moves aside what was found to be no file or directory of the room, makes files private
// that other users have access to, and gives files of other users to the owner of the data
// directory.
func (r *repairer[S]) files(found []Problem) (err error) {
	for _, p := range slices.Backward(found) { // what is to be moved aside is made private first
		switch info, gone := os.Lstat(p.File); {
		case gone != nil:
		case p.Repair == moveAside:
			err = r.Room.MoveAside(p.File)
		case p.Repair == giveAway:
			giveBack(p.File, r.Room.Store().Dir())
		case p.Repair == makePrivate && info.IsDir():
			err = os.Chmod(p.File, 0o700)
		case p.Repair == makePrivate:
			err = os.Chmod(p.File, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(fsroom.MakeDir(r.Room.TempDir()), fsroom.MakeDir(r.Room.AgentsDir()))
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
		if lost, err := checkArchived(path); lost == nil && !errors.As(err, &corrupt) {
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
	r.lost[v.path] = v
	if bytes.Equal(out, b) {
		return nil
	}
	return r.Room.Replace(v.path, out)
}

// keptName returns the name under which the bytes of a file are kept beside it:
// journal.damaged-1a2b3c4d.jsonl. In the archive the name does not end in .jsonl, which
// would make it that of a journal.
func keptName(path, why string, b []byte) string {
	sum := sha256.Sum256(b)
	mark := "." + why + "-" + hex.EncodeToString(sum[:4])
	name := filepath.Base(path)
	if _, last := fsroom.ArchivedEvents(name); last > 0 {
		return name + mark
	}
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + mark + ext
}

// keep writes the bytes of a file to another one beside it. When it returns nil, they are
// on the disk. The same bytes are kept once.
func (r *repairer[S]) keep(path, why string, b []byte) error {
	kept := filepath.Join(filepath.Dir(path), keptName(path, why, b))
	if have, err := lockfile.ReadRegular(kept, maxSalvage); err == nil && string(have) == string(b) {
		return r.Room.Store().Options().SyncDir(filepath.Dir(kept))
	}
	return r.Room.Replace(kept, b)
}
