package fsroom

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/lockfile"
)

// Repair mends what [Room.Check] finds and can be mended, under the room's lock,
// and returns every problem, those that are gone with Repaired set. What holds
// it up, such as a lock that is not to be had, is a problem of its own.
//
// Before anything is replaced its bytes are on disk under a name of their own
// beside it. Repair may be killed at any moment and run again: it then goes on
// from what it finds.
func (r *Room[S]) Repair(ctx context.Context) []Problem {
	if _, err := os.Lstat(r.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	found := r.check()
	if info, err := os.Lstat(r.lockPath()); err == nil && !info.Mode().IsRegular() {
		// Nobody can have it as a lock: it is refused as one.
		if err := r.moveAside(r.lockPath()); err != nil {
			return append(found, r.heldUp(err))
		}
	}
	unlock, err := r.lock(ctx)
	if err != nil {
		return append(found, r.heldUp(err))
	}
	defer unlock()
	for _, p := range r.checkAs(true) {
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil
	}
	lost := losses{}
	err = r.mend(lost)
	return r.outcome(found, lost, err)
}

// heldUp is the problem that an error of the repair itself is.
func (r *Room[S]) heldUp(err error) Problem {
	return Problem{RoomID: r.name, File: r.dir, Problem: "not repaired: " + r.store.explain(err, r.dir).Error()}
}

// outcome tells the problems that are gone from those that remain.
func (r *Room[S]) outcome(found []Problem, lost losses, err error) []Problem {
	left := r.checkAs(true)
	for i := range found {
		found[i].Repaired = !slices.Contains(left, found[i])
	}
	for _, p := range left {
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	for i := range found {
		if l, ok := lost[found[i].File]; ok && found[i].Repaired && found[i].Line > 0 {
			found[i].Lost, found[i].Kept = &l.events, l.kept
		}
	}
	if err != nil {
		found = append(found, r.heldUp(err))
	}
	return found
}

// mend brings the room in order. The caller has the lock.
func (r *Room[S]) mend(lost losses) error {
	history := func() error { return r.mendHistory(lost) }
	archive := func() error { return r.mendArchive(lost) }
	for _, mend := range []func() error{r.mendKinds, r.mendModes, r.mendLinks, r.mendTemp, history, archive, r.mendLock} {
		if err := mend(); err != nil {
			return err
		}
	}
	return nil
}

// mendKinds moves aside what is no file or directory of ours, but for something
// in the journal's place: to take that away would be to end the room's life.
func (r *Room[S]) mendKinds() error {
	if info, err := os.Lstat(r.statePath()); err == nil && info.IsDir() {
		if err := r.moveAside(r.statePath()); err != nil {
			return err
		}
	}
	for _, dir := range []string{r.tempDir(), r.agentsDir()} {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			if err := r.moveAside(dir); err != nil {
				return err
			}
		}
		if err := makeDir(dir); err != nil {
			return err
		}
	}
	return r.walk(func(path string, info fs.FileInfo) error {
		if info.Mode().IsRegular() || info.IsDir() || path == r.JournalPath() || isAside(path) {
			return nil
		}
		return r.moveAside(path)
	})
}

// mendModes makes what others can read or change private again, and gives what
// belongs to somebody else to the owner of the data directory.
func (r *Room[S]) mendModes() error {
	if !privateModes {
		return nil
	}
	private := func(path string, info fs.FileInfo) error {
		if _, is := foreign(path, info, r.store.dir); is {
			giveBack(path, r.store.dir)
		}
		switch {
		case info.Mode().Perm()&0o077 == 0:
		case info.IsDir():
			return os.Chmod(path, dirMode)
		case info.Mode().IsRegular():
			return os.Chmod(path, fileMode)
		}
		return nil
	}
	paths, err := r.Archived()
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

// walk calls do with everything in the room, following no link.
func (r *Room[S]) walk(do func(path string, info fs.FileInfo) error) error {
	return filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return do(path, info)
	})
}

// mendLinks gives the room a journal and a state of its own.
func (r *Room[S]) mendLinks() error {
	for _, path := range []string{r.JournalPath(), r.statePath()} {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || lockfile.Links(info) < 2 {
			continue
		}
		b, err := lockfile.ReadRegular(path, maxSalvage)
		if err != nil {
			return err
		}
		if err := r.replace(path, b); err != nil {
			return err
		}
	}
	return nil
}

// mendTemp removes what killed processes left.
func (r *Room[S]) mendTemp() error {
	_, err := lockfile.Sweep(r.tempDir())
	return err
}

// mendLock comes last: once the path names another file, others can have the lock.
func (r *Room[S]) mendLock() error {
	info, err := os.Lstat(r.lockPath())
	if err != nil || !info.Mode().IsRegular() || lockfile.Links(info) < 2 {
		return err
	}
	return r.replace(r.lockPath(), nil)
}

// mendArchive mends the journals of ended lives.
func (r *Room[S]) mendArchive(lost losses) error {
	paths, err := r.Archived()
	if err != nil {
		return err
	}
	for _, path := range paths {
		var bad *journal.CorruptError
		if err := r.checkArchived(path); !errors.As(err, &bad) {
			continue
		}
		v := salvage[S]{room: r, path: path, first: archivedFrom(path), last: archivedUpTo(path), committed: maxSalvage}
		if err := r.mendJournal(&v, lost); err != nil {
			return err
		}
	}
	return nil
}

// mendJournal replaces a damaged journal by what can be read of it, and keeps
// its bytes beside it.
func (r *Room[S]) mendJournal(v *salvage[S], lost losses) error {
	b, err := lockfile.ReadRegular(v.path, maxSalvage)
	if err != nil {
		return err
	}
	v.kept = keptName(v.path, "damaged", b)
	out, err := v.make()
	if err != nil || v.orphan && v.path == r.JournalPath() {
		return err
	}
	if err := r.keep(v.path, "damaged", b); err != nil {
		return err
	}
	lost[v.path] = loss{v.lost, v.kept}
	if bytes.Equal(out, b) {
		return nil
	}
	return r.replace(v.path, out)
}

// losses are, by the path of a mended journal, how many of its events could not be
// read any more, and the name of the file that has its damaged bytes.
type losses map[string]loss

type loss struct {
	events int
	kept   string
}

// replace replaces a file and makes sure that the new one stays after a power cut.
func (r *Room[S]) replace(path string, b []byte) error {
	if err := lockfile.Replace(path, b, r.tempDir()); err != nil {
		return err
	}
	return r.store.opts.SyncDir(filepath.Dir(path))
}
