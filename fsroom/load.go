package fsroom

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// loadTries bounds how often a reader starts over because a life of the room
// ended between its look at state.json and its look at the journal.
const loadTries = 10

// load reads the projection and folds in what the journal has beyond it. The
// journal decides: a projection that does not fit it is rebuilt.
func (r *Room[S]) load() (*Snapshot[S], error) {
	if err := r.own(); err != nil {
		return nil, err
	}
	for range loadTries {
		p, s, err := r.readProjection()
		if err != nil {
			return nil, err
		}
		info, err := os.Lstat(r.JournalPath())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if p != nil && p.Journal.Offset > 0 && r.projectionChanged(p) {
				continue // the life ended while we looked
			}
			return r.betweenLives(p, s)
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, &journal.CorruptError{Path: r.JournalPath(), Line: 1, Problem: "it is not a regular file"}
		}
		r.store.keepPrivate(r.JournalPath(), info)
		if p != nil && p.Journal.matches(info) {
			return covered(p, s), nil
		}
		snap, err := r.replay(p, s, info.Size())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return snap, err
	}
	return nil, fmt.Errorf("%s keeps changing", r.dir)
}

// covered is the room as a projection that is up to date has it.
func covered[S any](p *projection, s S) *Snapshot[S] {
	return &Snapshot[S]{State: s, Position: p.Journal.Position, turn: p.Journal.Turn, fresh: true}
}

// projectionChanged reports whether state.json is another one than p by now.
func (r *Room[S]) projectionChanged(p *projection) bool {
	now, _, err := r.readProjection()
	return err == nil && now != nil && now.Journal != p.Journal
}

// replay folds the journal's lines into the state: those beyond the projection
// if it fits, else all of them. A journal without a whole change is that of a
// life that was never committed: the room is still between two lives.
func (r *Room[S]) replay(p *projection, s S, size int64) (*Snapshot[S], error) {
	log, err := journal.Open(r.JournalPath())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	log.SetCommitted(func() int64 { return r.committed(p) })
	if p != nil && p.Journal.Offset > 0 && size > p.Journal.Offset {
		// The number of the event that follows shows that the projection is of
		// this life. A torn tail alone shows nothing.
		snap, err := r.fold(log, s, p.Journal.Position)
		if err == nil && snap.Position != p.Journal.Position {
			return snap, nil
		}
	}
	snap, err := r.fold(log, r.rules.New(r.name), journal.Position{})
	if err != nil || snap.Position.Offset > 0 {
		return snap, err
	}
	torn := snap.torn
	snap, err = r.betweenLives(p, s)
	if snap != nil {
		snap.torn = torn
	}
	return snap, err
}

// committed returns how many bytes of the journal a projection shows to have been
// committed. One of an earlier life, whose journal is in the archive by now, shows
// nothing about this one.
func (r *Room[S]) committed(p *projection) int64 {
	if p == nil {
		return 0
	}
	if paths, err := r.Archived(); err == nil && len(paths) > 0 && archivedUpTo(paths[len(paths)-1]) >= p.Journal.Seq {
		return 0
	}
	return p.Journal.Offset
}

// fold applies every whole change behind the position.
func (r *Room[S]) fold(log *journal.Log, s S, from journal.Position) (*Snapshot[S], error) {
	snap := &Snapshot[S]{State: s}
	end, tail, err := log.Scan(from, func(e *event.Event, end int64) error {
		snap.turn = e.Turn
		err := r.rules.Apply(s, e)
		var coded *code.Error
		if err != nil && !errors.As(err, &coded) {
			return log.Damaged(end, err.Error())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	snap.Position, snap.torn = end, tail.Torn
	return snap, nil
}
