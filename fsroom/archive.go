package fsroom

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

var errNotThere = fs.ErrNotExist

func parent(dir string) string { return filepath.Dir(dir) }

// ArchiveDir returns where the journals of the room's ended lives are kept.
func (r *Room[S]) ArchiveDir() string { return filepath.Join(r.store.dir, "archive", r.name) }

// archive moves the journal of an ended life away. The room's counters go on in
// state.json and, should that be lost, from the last line of the archive. Every
// step can be cut off: until the rename the room is one that has ended but is
// not archived, which the next writer finishes.
func (r *Room[S]) archive(snap *Snapshot[S]) error {
	if err := r.store.step(StepArchive); err != nil {
		return err
	}
	log, err := journal.Open(r.JournalPath())
	if err != nil {
		return err
	}
	first, err := log.First()
	log.Close()
	if err != nil {
		return err
	}
	for _, d := range []string{filepath.Dir(r.ArchiveDir()), r.ArchiveDir()} {
		if err := makeDir(d); err != nil {
			return err
		}
	}
	if err := r.syncArchive(); err != nil {
		return err
	}
	to, err := r.freeArchive(first.Seq, snap.Position.Seq)
	if err != nil {
		return err
	}
	if err := os.Rename(r.JournalPath(), to); err != nil {
		return err
	}
	// A rename that a power cut undoes is done again by the next writer.
	_ = r.store.opts.SyncDir(r.ArchiveDir())
	_ = r.store.opts.SyncDir(r.dir)
	snap.Position = journal.Position{Seq: snap.Position.Seq}
	_ = r.writeProjection(snap, time.Time{})
	return nil
}

// syncArchive makes the name of the room's archive durable before the first journal
// is moved there.
func (r *Room[S]) syncArchive() error {
	paths, err := r.Archived()
	if err != nil || len(paths) > 0 {
		return err
	}
	for _, dir := range []string{parent(r.ArchiveDir()), r.store.dir} {
		if err := r.store.opts.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// freeArchive returns the path for the journal of a life. A rename would replace
// what is there, which a directory put together from several copies can have.
func (r *Room[S]) freeArchive(first, last int64) (string, error) {
	for n := 1; ; n++ {
		path := filepath.Join(r.ArchiveDir(), archiveName(first, last, n))
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		} else if err != nil {
			return "", err
		}
	}
}

// archiveName tells the first and the last event_seq of the journal.
func archiveName(first, last int64, n int) string {
	if n > 1 {
		return fmt.Sprintf("%012d-%012d.%d.jsonl", first, last, n)
	}
	return fmt.Sprintf("%012d-%012d.jsonl", first, last)
}

// archivedUpTo returns the last event_seq that an archiveName tells, 0 for any
// other name.
func archivedUpTo(path string) int64 {
	_, last, _ := strings.Cut(filepath.Base(path), "-")
	last, ext, _ := strings.Cut(last, ".")
	n, err := strconv.ParseInt(last, 10, 64)
	if err != nil || ext != "jsonl" && !strings.HasSuffix(ext, ".jsonl") {
		return 0
	}
	return n
}

// Archived returns the journals of the room's ended lives, the one with the last
// event last.
func (r *Room[S]) Archived() ([]string, error) {
	if err := r.store.own(filepath.Dir(r.ArchiveDir()), r.ArchiveDir()); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(r.ArchiveDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if e.Type().IsRegular() && archivedUpTo(e.Name()) > 0 {
			paths = append(paths, filepath.Join(r.ArchiveDir(), e.Name()))
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(archivedUpTo(a), archivedUpTo(b)), strings.Compare(a, b))
	})
	return paths, nil
}

// betweenLives is the room when its journal has no event: it was never opened,
// or has ended. Its counters are in state.json and in the last line of the
// archive, and either can be missing or behind: a kill comes between moving the
// journal and replacing state.json, and a copy takes them at different times.
// Whichever has counted further is right, since nothing may count back.
func (r *Room[S]) betweenLives(p *projection, s S) (*Snapshot[S], error) {
	paths, err := r.Archived()
	if err != nil {
		return nil, err
	}
	var newest string
	var upTo int64
	if len(paths) > 0 {
		newest = paths[len(paths)-1]
		upTo = archivedUpTo(newest)
	}
	switch {
	case p != nil && p.Journal.Seq >= upTo && p.Journal.Offset == 0:
		return covered(p, s), nil
	case upTo > 0 && (p == nil || p.Journal.Seq <= upTo):
		last, err := lastEvent(newest)
		if err != nil {
			return nil, err
		}
		return r.counted(last), nil
	case p == nil:
		return &Snapshot[S]{State: r.rules.New(r.name)}, nil
	}
	// The journal of a life in progress is gone. Without it the life is over.
	return r.counted(&event.Event{RoomID: r.name, Seq: p.Journal.Seq, Turn: p.Journal.Turn}), nil
}

// counted is a room of which only the counters are left.
func (r *Room[S]) counted(last *event.Event) *Snapshot[S] {
	s := r.rules.New(r.name)
	r.rules.Continue(s, last)
	return &Snapshot[S]{State: s, Position: journal.Position{Seq: last.Seq}, turn: last.Turn}
}

// openArchived opens the journal of an ended life, all of which was committed.
func openArchived(path string) (*journal.Log, error) {
	log, err := journal.Open(path)
	if err != nil {
		return nil, err
	}
	log.SetCommitted(func() int64 { size, _, _ := log.Stat(); return size })
	return log, nil
}

// lastEvent reads the last line of an archived journal.
func lastEvent(path string) (*event.Event, error) {
	log, err := openArchived(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	end, _, err := log.Last()
	if err != nil {
		return nil, err
	}
	from, err := log.Find(end.Seq)
	if err != nil {
		return nil, err
	}
	var last *event.Event
	_, _, err = log.Scan(from, func(e *event.Event, _ int64) error {
		c := e.Clone()
		last = &c
		return nil
	})
	if err == nil && last == nil {
		err = &journal.CorruptError{Path: path, Line: 1, Problem: "it has no event"}
	}
	return last, err
}
