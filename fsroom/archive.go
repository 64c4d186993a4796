package fsroom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// ArchiveDir returns the directory for the journals of the room's ended lives.
func (r *Files[S]) ArchiveDir() string { return filepath.Join(r.store.dir, "archive", r.name) }

// Archive moves the journal of an ended life to the archive. The room's counters go on
// from state.json or, if that is lost, from the last line of the archive. A process can be
// killed after each step: until the rename the room is one that has ended but is not
// archived, which the next writer archives.
func (r *Files[S]) Archive(snap *Snapshot[S]) error {
	if err := r.store.Step(StepArchive); err != nil {
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
		if err := MakeDir(d); err != nil {
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
	// If a power cut undoes the rename, the next writer does it again.
	_ = r.store.opts.SyncDir(r.ArchiveDir())
	_ = r.store.opts.SyncDir(r.dir)
	snap.Position = journal.Position{Seq: snap.Position.Seq}
	_ = r.WriteProjection(snap)
	return nil
}

// syncArchive makes the name of the room's archive durable before the first journal
// is moved there.
func (r *Files[S]) syncArchive() error {
	paths, err := r.Archived()
	if err != nil || len(paths) > 0 {
		return err
	}
	for _, dir := range []string{filepath.Dir(r.ArchiveDir()), r.store.dir} {
		if err := r.store.opts.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// freeArchive returns an unused path for the journal of a life, which has its first and its last
// event_seq. A directory that was put together from several copies may have a file of that name,
// which a rename would replace.
func (r *Files[S]) freeArchive(first, last int64) (string, error) {
	name := fmt.Sprintf("%012d-%012d", first, last)
	path := filepath.Join(r.ArchiveDir(), name+".jsonl")
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		} else if err != nil {
			return "", err
		}
		path = filepath.Join(r.ArchiveDir(), fmt.Sprintf("%s.%d.jsonl", name, n))
	}
}

// ArchivedEvents returns the first and the last event_seq from the name of an archived
// journal, and zeros for any other path.
func ArchivedEvents(path string) (first, last int64) {
	from, to, _ := strings.Cut(filepath.Base(path), "-")
	to, ext, _ := strings.Cut(to, ".")
	first, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	if err1 != nil || err2 != nil || ext != "jsonl" && !strings.HasSuffix(ext, ".jsonl") {
		return 0, 0
	}
	return first, last
}

func archivedUpTo(path string) int64 {
	_, last := ArchivedEvents(path)
	return last
}

// LastArchived returns the archived journal with the last event, and the event_seq of
// that event; "" and 0 if nothing is archived.
func (r *Files[S]) LastArchived() (path string, last int64, err error) {
	paths, err := r.Archived()
	if err != nil || len(paths) == 0 {
		return "", 0, err
	}
	path = paths[len(paths)-1]
	return path, archivedUpTo(path), nil
}

// Archived returns the paths of the journals of the room's ended lives, the one with the
// last event last.
func (r *Files[S]) Archived() ([]string, error) {
	entries, err := os.ReadDir(r.ArchiveDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := cmp.Or(r.store.checkDirs(filepath.Dir(r.ArchiveDir()), r.ArchiveDir()), err); err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if e.Type().IsRegular() && archivedUpTo(e.Name()) > 0 {
			paths = append(paths, filepath.Join(r.ArchiveDir(), e.Name()))
		}
	}
	// ReadDir has sorted them by name: of two that end at the same event, the first
	// stays the first.
	sort.SliceStable(paths, func(i, j int) bool { return archivedUpTo(paths[i]) < archivedUpTo(paths[j]) })
	return paths, nil
}

// BetweenLives returns the room whose journal has no event: it was never opened, or has
// ended. cached is what state.json has, nil if nothing. The counters are in state.json
// and in the last line of the archive, and either can be missing or behind: a process can
// be killed after it archived the journal and before it replaced state.json, and a copy
// takes them at different times. The higher counters are right, since no counter ever
// decreases.
func (r *Files[S]) BetweenLives(cached *Snapshot[S]) (*Snapshot[S], error) {
	newest, last, err := r.LastArchived()
	if err != nil {
		return nil, err
	}
	switch {
	case cached != nil && cached.Position.Seq >= last && cached.Position.Offset == 0:
		return cached, nil
	case last > 0 && (cached == nil || cached.Position.Seq <= last):
		e, err := r.lastEvent(newest)
		if err != nil {
			return nil, err
		}
		return r.Continued(e), nil
	case cached == nil:
		return &Snapshot[S]{State: r.rules.New(r.name)}, nil
	}
	// The journal of a life in progress is gone, and so that life is over.
	return r.Continued(&event.Event{RoomID: r.name, Seq: cached.Position.Seq, Turn: cached.Turn}), nil
}

// Continued returns a room of which only the counters are left.
func (r *Files[S]) Continued(last *event.Event) *Snapshot[S] {
	s := r.rules.New(r.name)
	r.rules.Continue(s, last)
	return &Snapshot[S]{State: s, Position: journal.Position{Seq: last.Seq}, Turn: last.Turn}
}

// lastEvent reads the last event of an archived journal.
func (r *Files[S]) lastEvent(path string) (*event.Event, error) {
	log, err := journal.OpenCommitted(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	end, _, err := log.Last()
	if err != nil {
		return nil, err
	}
	last, err := r.EventAt(context.Background(), log, path, end.Seq)
	if err == nil && last == nil {
		err = &journal.CorruptError{Path: path, Line: 1, Problem: "it has no event"}
	}
	return last, err
}
