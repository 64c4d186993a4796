package fsroom

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
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
}

// Check verifies every file of the room against the fold of its journal. It
// changes nothing.
func (r *Room[S]) Check() []Problem {
	c := checker[S]{room: r}
	c.modes()
	c.kinds()
	c.history()
	c.lock()
	c.leftovers()
	return c.problems
}

type checker[S any] struct {
	room     *Room[S]
	problems []Problem
}

func (c *checker[S]) found(file, repair, format string, args ...any) {
	c.problems = append(c.problems, Problem{RoomID: c.room.name, File: file, Problem: fmt.Sprintf(format, args...), Repair: repair})
}

// modes: what is private must be.
func (c *checker[S]) modes() {
	_ = filepath.WalkDir(c.room.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			c.found(path, "", "cannot be read: %v", err)
			return nil
		}
		info, err := d.Info()
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		if extra := info.Mode().Perm() & 0o077; extra != 0 && privateModes {
			c.found(path, "make it private again", "others have access to it (mode %04o)", info.Mode().Perm())
		}
		return nil
	})
}

// kinds: nothing planted in place of our files.
func (c *checker[S]) kinds() {
	for _, path := range []string{c.room.JournalPath(), c.room.statePath(), c.room.lockPath()} {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
		case !info.Mode().IsRegular():
			c.found(path, "", "it is a %s, not a regular file", kindOf(info.Mode()))
		case links(info) > 1:
			c.found(path, "", "it has %d hard links: something outside the room shares it", links(info))
		}
	}
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m.IsDir():
		return "directory"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	}
	return "special file"
}

// history: the journal folds, and the projection is what it folds to.
func (c *checker[S]) history() {
	r := c.room
	log, err := journal.Open(r.JournalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.found(r.JournalPath(), "", "%v", err)
		return
	}
	defer log.Close()
	snap, err := r.fold(log, r.rules.New(r.name), journal.Position{})
	if err != nil {
		c.corrupt(err)
		return
	}
	if snap.torn > 0 {
		c.found(r.JournalPath(), "cut it off, as the next change does", "%d bytes of an unfinished change at the end", snap.torn)
	}
	if snap.Position.Offset > 0 && !r.rules.Live(snap.State) {
		c.found(r.JournalPath(), "move it to the archive, as the next change does", "the room has ended but its journal is not archived")
	}
	c.projection(snap)
}

func (c *checker[S]) corrupt(err error) {
	p := Problem{RoomID: c.room.name, File: c.room.JournalPath(), Problem: err.Error()}
	var bad *journal.CorruptError
	var coded *code.Error
	switch {
	case errors.As(err, &bad):
		p.Line, p.Problem = bad.Line, bad.Problem
		p.Repair = "keep the events before and after that can be read, and the damaged file beside them"
	case errors.As(err, &coded):
		p.Problem = coded.Message
	}
	c.problems = append(c.problems, p)
}

// projection compares state.json with what the journal folds to. A missing one
// is no problem, and one that is behind is replayed by the next command.
func (c *checker[S]) projection(snap *Snapshot[S]) {
	const rebuild = "rebuild it from the journal, as the next change does"
	r := c.room
	if _, err := os.Lstat(r.statePath()); errors.Is(err, fs.ErrNotExist) {
		return
	}
	p, s, err := r.readProjection()
	switch {
	case err != nil:
		c.corrupt(err)
		return
	case p == nil:
		c.found(r.statePath(), rebuild, "it is damaged")
		return
	case p.Journal.Offset > snap.Position.Offset:
		c.found(r.statePath(), rebuild, "it covers %d bytes of a journal that has %d", p.Journal.Offset, snap.Position.Offset)
		return
	case p.Journal.Offset < snap.Position.Offset:
		c.found(r.statePath(), rebuild, "it covers %d bytes of a journal that has %d", p.Journal.Offset, snap.Position.Offset)
		return
	}
	have, errA := json.Marshal(s)
	want, errB := json.Marshal(snap.State)
	if errA != nil || errB != nil || !bytes.Equal(have, want) {
		c.found(r.statePath(), rebuild, "it is not what the journal folds to")
	}
}

// lock: a lock that nobody gives back blocks everybody.
func (c *checker[S]) lock() {
	if h, held := lockfile.FindHolder(c.room.lockPath()); held && h != nil && h.State == "stopped" {
		c.found(c.room.lockPath(), "", "it is held by process %s", describe(h))
	}
}

// leftovers: temporary files of killed processes. The next change sweeps them.
func (c *checker[S]) leftovers() {
	entries, _ := os.ReadDir(c.room.tempDir())
	if len(entries) == 0 {
		return
	}
	if _, held := lockfile.FindHolder(c.room.lockPath()); held {
		return // somebody may be writing one just now
	}
	c.found(c.room.tempDir(), "sweep it, as the next change does", "%d files left by a process that was killed", len(entries))
}
