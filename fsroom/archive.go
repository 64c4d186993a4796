package fsroom

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/lockfile"
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
	to := filepath.Join(r.ArchiveDir(), archiveName(first.Seq, snap.Position.Seq))
	if err := os.Rename(r.JournalPath(), to); err != nil {
		return err
	}
	_ = lockfile.SyncDir(r.ArchiveDir())
	_ = lockfile.SyncDir(r.dir)
	snap.Position = journal.Position{Seq: snap.Position.Seq}
	snap.fresh = r.writeProjection(coverage{Position: snap.Position}, snap.State) == nil
	return nil
}

// archiveName sorts by age as text.
func archiveName(first, last int64) string { return fmt.Sprintf("%012d-%012d.jsonl", first, last) }

// Archived returns the journals of the room's ended lives, oldest first.
func (r *Room[S]) Archived() ([]string, error) {
	entries, err := os.ReadDir(r.ArchiveDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".jsonl") {
			paths = append(paths, filepath.Join(r.ArchiveDir(), e.Name()))
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// fromArchive is the room between two lives when state.json was lost.
func (r *Room[S]) fromArchive() (*Snapshot[S], error) {
	s := r.rules.New(r.name)
	paths, err := r.Archived()
	if err != nil || len(paths) == 0 {
		return &Snapshot[S]{State: s}, err
	}
	log, err := journal.Open(paths[len(paths)-1])
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
	_, _, err = log.Scan(from, func(e *journal.Event, _ int64) error {
		r.rules.Counts(s, e)
		return nil
	})
	return &Snapshot[S]{State: s, Position: journal.Position{Seq: end.Seq}}, err
}
