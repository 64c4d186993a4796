package fsroom

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// A Problem is something wrong with a room's files.
type Problem struct {
	RoomID   string `json:"room_id,omitempty"`
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Problem  string `json:"problem"`
	Repair   string `json:"repair,omitempty"` // what --repair does about it
	Repaired bool   `json:"repaired"`
	// Lost is how many events of a repaired journal could not be read any more, and
	// Kept the name of the file beside it that has the damaged bytes.
	Lost *int   `json:"lost_events,omitempty"`
	Kept string `json:"kept,omitempty"`

	// Harmless is what a crash or a copy in the middle of a change leaves by
	// design: readers are not misled by it, and the next change clears it away.
	Harmless bool `json:"-"`

	at string // which moment of a room at work it belongs to, so that two are not taken for one
}

// Check verifies every file of the room against the fold of its journal. It
// changes nothing and takes no lock, so it may look in the middle of a change;
// what it does not find again at a second look was no problem.
func (r *Room[S]) Check() []Problem {
	problems := r.check()
	if len(problems) == 0 {
		return nil
	}
	again := r.check()
	return slices.DeleteFunc(problems, func(p Problem) bool { return !slices.Contains(again, p) })
}

func (r *Room[S]) check() []Problem { return r.checkAs(false) }

// looking is the room for one who mends nothing on the way.
func (r *Room[S]) looking() *Room[S] {
	opts := r.store.opts
	opts.LeaveModes = true
	return At(&Store{dir: r.store.dir, opts: opts}, r.rules, r.name)
}

func (r *Room[S]) checkAs(locked bool) []Problem {
	c := checker[S]{room: r.looking(), locked: locked}
	c.modes()
	c.kinds()
	c.history()
	c.archive()
	c.lock()
	c.leftovers()
	return c.problems
}

type checker[S any] struct {
	room     *Room[S]
	locked   bool // by us: what is unfinished stays so
	problems []Problem
}

func (c *checker[S]) found(file, repair, format string, args ...any) {
	c.problems = append(c.problems, Problem{RoomID: c.room.name, File: file, Problem: fmt.Sprintf(format, args...), Repair: repair})
}

// unfinished is found, unless somebody has the lock and is about to finish it.
// What is unfinished at another moment is another problem.
func (c *checker[S]) unfinished(at any, file, repair, format string, args ...any) {
	_, held := lockfile.FindHolder(c.room.lockPath())
	if !held || c.locked {
		c.found(file, repair, format, args...)
		p := &c.problems[len(c.problems)-1]
		p.at, p.Harmless = fmt.Sprint(at), true
	}
}

// modes: what is private must be, and everything belongs to the user whose data
// directory it is.
func (c *checker[S]) modes() {
	_ = filepath.WalkDir(c.room.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			c.found(path, "", "cannot be read: %v", err)
			return nil
		}
		info, err := d.Info()
		if err != nil || c.special(path, d.Type()) {
			return nil
		}
		if extra := info.Mode().Perm() & 0o077; extra != 0 && privateModes {
			c.found(path, makePrivate, "others have access to it (mode %04o)", info.Mode().Perm())
		}
		if p, ok := foreign(path, info, c.room.store.dir); ok {
			c.found(path, p.Repair, "%s", p.Problem)
		}
		return nil
	})
}

// special reports what is neither a file nor a directory. The room's own files
// are looked at by kinds.
func (c *checker[S]) special(path string, mode fs.FileMode) bool {
	if mode.IsRegular() || mode.IsDir() {
		return false
	}
	if own := c.room.files(); !slices.Contains(own, path) && !isAside(path) {
		c.found(path, moveAside, "it is %s, which nothing of ours is", lockfile.TypeName(mode))
	}
	return true
}

const moveAside = "move it aside"

// files are the room's own files.
func (r *Room[S]) files() []string { return []string{r.JournalPath(), r.statePath(), r.lockPath()} }

// kinds: nothing planted in place of our files and directories.
func (c *checker[S]) kinds() {
	for _, path := range c.room.files() {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
		case !info.Mode().IsRegular() && path == c.room.JournalPath():
			c.found(path, "", "it is %s, not a regular file", lockfile.TypeName(info.Mode()))
		case !info.Mode().IsRegular():
			c.found(path, moveAside, "it is %s, not a regular file", lockfile.TypeName(info.Mode()))
		case lockfile.Links(info) > 1:
			c.found(path, "replace it by a copy", "it has %d hard links: something outside the room shares it", lockfile.Links(info))
		}
	}
	for _, path := range []string{c.room.tempDir(), c.room.agentsDir()} {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			c.found(path, moveAside, "it is a file, not a directory")
		}
	}
}

// history: the journal folds, and the projection is what it folds to. The
// projection is read first: in a room at work it can only be behind.
func (c *checker[S]) history() {
	r := c.room
	p, s, err := r.readProjection()
	if err != nil {
		c.corrupt(r.statePath(), err)
		return
	}
	if _, err := os.Lstat(r.statePath()); err == nil && p == nil {
		c.found(r.statePath(), rebuild, "it is damaged")
	}
	snap, err := r.foldAll(p)
	if err != nil {
		c.corrupt(r.JournalPath(), err)
		return
	}
	if snap.torn > 0 {
		c.unfinished(snap.Position, r.JournalPath(), "cut it off, as the next change does", "%d bytes of an unfinished change at the end", snap.torn)
	}
	if snap.Position.Offset == 0 {
		c.between(p, s)
		return
	}
	if !r.rules.Live(snap.State) {
		c.unfinished(snap.Position, r.JournalPath(), "move it to the archive, as the next change does", "the room has ended but its journal is not archived")
	}
	if p != nil {
		c.projection(p, s, snap)
	}
}

// foldAll folds the whole journal, which need not exist. p tells what of it was
// committed; it may be nil.
func (r *Room[S]) foldAll(p *projection) (*Snapshot[S], error) {
	log, err := journal.Open(r.JournalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return &Snapshot[S]{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer log.Close()
	log.SetCommitted(func() int64 { return r.committed(p) })
	return r.fold(log, r.rules.New(r.name), journal.Position{})
}

// between: a room without a life in progress has its history in the archive.
func (c *checker[S]) between(p *projection, s S) {
	snap, err := c.room.betweenLives(p, s)
	if err != nil {
		c.corrupt(c.room.ArchiveDir(), err)
		return
	}
	if p != nil && p.Journal.Offset > 0 && snap.Position.Seq == p.Journal.Seq && !c.archived(snap.Position.Seq) {
		c.found(c.room.JournalPath(), "", "it is gone, and with it the events up to %d; the counters go on from there", p.Journal.Seq)
	}
}

func (c *checker[S]) archived(seq int64) bool {
	paths, _ := c.room.Archived()
	return len(paths) > 0 && archivedUpTo(paths[len(paths)-1]) >= seq
}

// archive: the journals of ended lives read, and have the events that their
// names tell.
func (c *checker[S]) archive() {
	paths, err := c.room.Archived()
	if err != nil {
		c.found(c.room.ArchiveDir(), "", "cannot be read: %v", err)
	}
	for _, path := range paths {
		if err := c.room.checkArchived(path); err != nil {
			c.corrupt(path, err)
		}
		if info, err := os.Lstat(path); err == nil && info.Mode().Perm()&0o077 != 0 && privateModes {
			c.found(path, makePrivate, "others have access to it (mode %04o)", info.Mode().Perm())
		}
	}
}

func (r *Room[S]) checkArchived(path string) error {
	log, err := openArchived(path)
	if err != nil {
		return err
	}
	defer log.Close()
	end, tail, err := log.Scan(journal.Position{}, func(*event.Event, int64) error { return nil })
	if err == nil && (tail.Torn > 0 || end.Seq != archivedUpTo(path)) {
		err = log.Damaged(end.Offset+tail.Torn, fmt.Sprintf("the events end at %d, its name says %d", end.Seq, archivedUpTo(path)))
	}
	return err
}

func (c *checker[S]) corrupt(file string, err error) {
	p := Problem{RoomID: c.room.name, File: file, Problem: err.Error()}
	var bad *journal.CorruptError
	var coded *code.Error
	switch {
	case errors.As(err, &bad):
		p.File, p.Line, p.Problem = bad.Path, bad.Line, bad.Problem
		p.Repair = "keep the events before and after that can be read, and the damaged file beside them"
	case errors.As(err, &coded):
		p.Problem = coded.Message
	}
	if !slices.Contains(c.problems, p) {
		c.problems = append(c.problems, p)
	}
}

const makePrivate = "make it private again"

const rebuild = "rebuild it from the journal, as the next change does"

// projection compares state.json with what the journal folds to. A missing one
// is no problem.
func (c *checker[S]) projection(p *projection, s S, snap *Snapshot[S]) {
	file := c.room.statePath()
	switch {
	case p.Journal.Offset > snap.Position.Offset:
		c.found(file, rebuild, "it covers %d bytes of a journal that has %d", p.Journal.Offset, snap.Position.Offset)
		return
	case p.Journal.Offset < snap.Position.Offset:
		return // a cache may be behind: every reader replays the rest
	}
	have, errA := c.room.rules.encode(s)
	want, errB := c.room.rules.encode(snap.State)
	if errA != nil || errB != nil || !bytes.Equal(have, want) || p.Journal.Seq != snap.Position.Seq {
		c.found(file, rebuild, "it is not what the journal folds to")
	}
}

// lock: a lock that nobody gives back blocks everybody.
func (c *checker[S]) lock() {
	if h, held := lockfile.FindHolder(c.room.lockPath()); held && h != nil && (h.State == "stopped" || h.State == "traced") {
		c.found(c.room.lockPath(), "", "it is held by %s", h)
	}
}

// leftovers: temporary files of killed processes. The next change sweeps them.
func (c *checker[S]) leftovers() {
	if entries, _ := os.ReadDir(c.room.tempDir()); len(entries) > 0 {
		c.unfinished(entries, c.room.tempDir(), "sweep it, as the next change does", "%d files left by a process that was killed", len(entries))
	}
}
