// Package doctor checks the files of rooms and repairs them.
package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile"
)

// What a repair does about some problems.
const (
	makePrivate = "give it the mode of a private one again"
	giveAway    = "as root: give it to the owner of the directory"
	moveAside   = "move it aside"
	rebuild     = "rebuild it from the journal, as the next change does"
	fillGap     = "put an event of type damaged in the place of each lost one"
)

// JournalShortened is the Problem of a journal that has lost events which state.json covers.
const JournalShortened = "journal_shortened"

// A Problem is something wrong with a room's files.
type Problem struct {
	RoomID   string `json:"room_id,omitempty"`
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Problem  string `json:"problem"`
	Code     string `json:"code,omitempty"`   // of what is wrong with an engine
	Repair   string `json:"repair,omitempty"` // what --repair does about it
	Repaired bool   `json:"repaired"`
	// Lost is how many events of a repaired journal could not be read, and Kept is the
	// name of the file beside it that has the damaged bytes.
	Lost *int   `json:"lost_events,omitempty"`
	Kept string `json:"kept,omitempty"`
	// LostFrom and LostTo are the events that a shortened journal has lost.
	LostFrom int64 `json:"lost_from,omitempty"`
	LostTo   int64 `json:"lost_to,omitempty"`

	// Harmless is set for what a crash, or a copy in the middle of a change, leaves by
	// design: readers are not misled by it, and the next change removes it.
	Harmless bool `json:"-"`

	moment string // distinguishes unfinished changes of a room at work from each other
}

// Check verifies every file of a room against the fold of its journal. It changes
// nothing and takes no lock, so it may read the files in the middle of a change: a problem
// counts only if a second look finds it again.
func Check[S any](r *fsroom.Room[S]) []Problem {
	problems := check(r, false)
	if len(problems) == 0 {
		return nil
	}
	again := check(r, false)
	return slices.DeleteFunc(problems, func(p Problem) bool { return !slices.Contains(again, p) })
}

// check looks at the room once. locked tells that the caller has the room's lock.
func check[S any](r *fsroom.Room[S], locked bool) []Problem {
	c := checker[S]{Room: fsroom.At(r.Store().LeavingModes(), r.Rules(), r.Name()), locked: locked}
	c.files()
	c.history()
	c.archive()
	c.lock()
	c.leftovers()
	return c.problems
}

type checker[S any] struct {
	Room     *fsroom.Room[S]
	locked   bool        // by the caller: no other process can finish what is unfinished
	earlier  *event.Lost // what an earlier life has lost, as state.json tells, and no journal does
	problems []Problem
}

func (c *checker[S]) found(file, repair, format string, args ...any) {
	c.problems = append(c.problems, Problem{RoomID: c.Room.Name(), File: file, Problem: fmt.Sprintf(format, args...), Repair: repair})
}

// unfinished is found, unless a process has the lock, which is about to finish it. What
// is unfinished at another moment is another problem.
func (c *checker[S]) unfinished(moment any, file, repair, format string, args ...any) {
	_, held := lockfile.FindHolder(c.Room.LockPath())
	if !held || c.locked {
		c.found(file, repair, format, args...)
		p := &c.problems[len(c.problems)-1]
		p.moment, p.Harmless = fmt.Sprint(moment), true
	}
}

// files checks that everything in the room is private and belongs to the owner of the data
// directory, that the room's files are regular files with one name, that its directories are
// directories, and that there is nothing else than files and directories.
func (c *checker[S]) files() {
	own := []string{c.Room.JournalPath(), c.Room.StatePath(), c.Room.LockPath()}
	_ = walk(c.Room.Dir(), func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			c.found(path, "", "cannot be read: %v", err)
			return nil
		}
		mode, isOwn := info.Mode(), slices.Contains(own, path)
		what := lockfile.TypeName(mode)
		switch {
		case isOwn && !mode.IsRegular() && path == c.Room.JournalPath():
			c.found(path, "", "it is %s, not a regular file", what)
		case isOwn && !mode.IsRegular():
			c.found(path, moveAside, "it is %s, not a regular file", what)
		case isOwn && lockfile.Links(info) > 1:
			c.found(path, "replace it by a copy", "it has %d hard links: something outside the room shares it", lockfile.Links(info))
		case mode.IsRegular() && (path == c.Room.TempDir() || path == c.Room.AgentsDir()):
			c.found(path, moveAside, "it is a file, not a directory")
		case !mode.IsRegular() && !mode.IsDir() && !fsroom.IsAside(path):
			c.found(path, moveAside, "it is %s, which nothing of ours is", what)
		case (isOwn || mode.IsDir()) && mode.Perm()&0o200 == 0:
			c.found(path, makePrivate, "its owner cannot write to it (mode %04o)", mode.Perm())
		}
		if mode.IsRegular() || mode.IsDir() {
			c.access(path, info)
		}
		return nil
	})
}

func (c *checker[S]) access(path string, info fs.FileInfo) {
	for _, p := range checkAccess(c.Room.Store().Dir(), path, info, false) {
		c.found(path, p.Repair, "%s", p.Problem)
	}
}

// history checks that the journal folds, and that state.json is what it folds to.
// state.json is read first: in a room at work it can only be behind.
func (c *checker[S]) history() {
	cached, err := c.Room.Cached()
	if err != nil {
		c.corrupt(c.Room.StatePath(), err)
		return
	}
	if _, err := os.Lstat(c.Room.StatePath()); err == nil && cached == nil {
		c.found(c.Room.StatePath(), rebuild, "it is damaged")
	}
	folded, err := c.Room.Fold(cached)
	if err != nil {
		c.corrupt(c.Room.JournalPath(), err)
		v := salvageOf(c.Room, cached)
		if _, err := v.make(); err != nil { // a repair would leave it as it is
			c.problems[len(c.problems)-1].Repair = ""
		}
		return
	}
	if folded.Torn > 0 {
		c.unfinished(folded.Position, c.Room.JournalPath(), "cut it off, as the next change does",
			"%s of an unfinished change at the end", code.Count(int(folded.Torn), "byte"))
	}
	now, err := c.Room.Weigh(cached, folded)
	if err != nil {
		c.corrupt(c.Room.ArchiveDir(), err)
		return
	}
	if now.Stale {
		c.found(c.Room.JournalPath(), "move it aside, as the next change does", "it is an old copy of a journal that is in the archive")
		c.problems[len(c.problems)-1].moment = fmt.Sprint(folded.Position) // in a room at work it is archived since it was read
	}
	switch {
	case now.Lost != nil && (folded.Position.Offset > 0 || now.Untold()):
		c.shortened(c.Room.JournalPath(), fillGap, *now.Lost)
	case cached != nil:
		c.earlier = cached.Lost
	}
	if now.Stale || now.Untold() {
		return
	}
	if folded.Position.Offset == 0 {
		c.betweenLives(cached)
		return
	}
	if !c.Room.Rules().Live(folded.State) {
		c.unfinished(folded.Position, c.Room.JournalPath(), "move it to the archive, as the next change does",
			"the room has ended but its journal is not archived")
	}
	if cached != nil {
		c.cache(cached, folded)
	}
}

func (c *checker[S]) shortened(path, repair string, lost event.Lost) {
	c.problems = append(c.problems, Problem{RoomID: c.Room.Name(), File: path, Problem: JournalShortened, Repair: repair,
		LostFrom: lost.From, LostTo: lost.To})
}

// betweenLives checks a room without a life in progress, whose history is in the archive.
func (c *checker[S]) betweenLives(cached *fsroom.Snapshot[S]) {
	snap, err := c.Room.BetweenLives(cached)
	if err != nil {
		c.corrupt(c.Room.ArchiveDir(), err)
		return
	}
	if cached == nil || cached.Position.Offset == 0 || snap.Position.Seq != cached.Position.Seq {
		return
	}
	if _, last, _ := c.Room.LastArchived(); last < cached.Position.Seq {
		c.found(c.Room.JournalPath(), "", "it is gone, and with it the events up to %d; the counters go on from there", cached.Position.Seq)
	}
}

// cache compares state.json with what the journal folds to.
func (c *checker[S]) cache(cached, folded *fsroom.Snapshot[S]) {
	switch {
	case cached.Position.Offset > folded.Position.Offset:
		c.found(c.Room.StatePath(), rebuild, "it covers %d bytes of a journal that has %d", cached.Position.Offset, folded.Position.Offset)
	case contradicts(cached, folded):
		c.found(c.Room.StatePath(), rebuild, "it is not what the journal folds to")
	}
}

// contradicts reports whether state.json covers more than the journal has, or has
// another state for the same journal. One that is only behind is what a crash leaves:
// readers fold the rest.
func contradicts[S any](cached, folded *fsroom.Snapshot[S]) bool {
	if cached.Position.Offset != folded.Position.Offset {
		return cached.Position.Offset > folded.Position.Offset
	}
	if cached.Outdated() {
		return false // readers fold the journal
	}
	return !bytes.Equal(wire.Append(nil, cached.State), wire.Append(nil, folded.State)) || cached.Position.Seq != folded.Position.Seq
}

// archive checks that the journals of ended lives can be read, and have the events that
// their names say.
func (c *checker[S]) archive() {
	paths, err := c.Room.Archived()
	if err != nil {
		c.found(c.Room.ArchiveDir(), "", "cannot be read: %v", err)
	}
	for _, path := range paths {
		switch lost, err := checkArchived(path); {
		case err != nil:
			c.corrupt(path, err)
		case lost != nil:
			c.shortened(path, fillGap, *lost)
			c.earlier = nil
		}
		if info, err := os.Lstat(path); err == nil {
			c.access(path, info)
		}
	}
	if c.earlier != nil {
		c.shortened(c.Room.StatePath(), rebuild, *c.earlier)
	}
}

// checkArchived returns which events the journal has lost, nil if it has all.
func checkArchived(path string) (lost *event.Lost, err error) {
	log, err := journal.OpenCommitted(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	_, last := fsroom.ArchivedEvents(path)
	seq := int64(0)
	end, tail, err := log.Scan(journal.Position{}, func(e *event.Event, _ int64) error {
		if seq++; e.Leaps(seq) && seq > 1 {
			lost = &event.Lost{From: seq, To: e.Seq - 1}
		}
		seq = e.Seq
		return nil
	})
	if err == nil && (tail.Torn > 0 || end.Seq != last) {
		err = log.Damaged(end.Offset+tail.Torn, fmt.Sprintf("the events end at %d, its name says %d", end.Seq, last))
	}
	return lost, err
}

func (c *checker[S]) corrupt(file string, err error) {
	p := Problem{RoomID: c.Room.Name(), File: file, Problem: err.Error()}
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

// lock finds a lock whose holder is stopped: no other process can get it.
func (c *checker[S]) lock() {
	if h := c.Room.StoppedLockHolder(); h != nil {
		c.found(c.Room.LockPath(), "", "it is held by %s", h)
	}
}

// leftovers finds temporary files of killed processes.
func (c *checker[S]) leftovers() {
	if entries, _ := os.ReadDir(c.Room.TempDir()); len(entries) > 0 {
		c.unfinished(entries, c.Room.TempDir(), "sweep it, as the next change does",
			"%s left by a process that was killed, or by a copy that was made while it wrote", code.Count(len(entries), "file"))
	}
}
