package fsroom

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
)

// loadTries bounds how often a reader starts over because a life of the room
// ended between its look at state.json and its look at the journal.
const loadTries = 10

// load reads the projection and folds in what the journal has beyond it. The
// journal decides: a projection that does not fit it is rebuilt.
func (r *Room[S]) load() (*Snapshot[S], error) {
	for range loadTries {
		p, s, err := r.readProjection()
		if err != nil {
			return nil, err
		}
		info, err := os.Lstat(r.JournalPath())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if p != nil && p.Journal.Offset == 0 {
				return &Snapshot[S]{State: s, Position: p.Journal.Position, fresh: true}, nil
			}
			if p != nil && r.projectionChanged(p) {
				continue // the life ended while we looked
			}
			return r.fromArchive()
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, &journal.CorruptError{Path: r.JournalPath(), Line: 1, Problem: "it is not a regular file"}
		case p != nil && info.Size() == p.Journal.Offset && info.ModTime().UnixNano() == p.Journal.MTime:
			return &Snapshot[S]{State: s, Position: p.Journal.Position, fresh: true}, nil
		}
		snap, err := r.replay(p, s, info.Size())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return snap, err
	}
	return nil, fmt.Errorf("%s keeps changing", r.dir)
}

// projectionChanged reports whether state.json is another one than p by now.
func (r *Room[S]) projectionChanged(p *projection) bool {
	now, _, err := r.readProjection()
	return err == nil && now != nil && now.Journal != p.Journal
}

// replay folds the journal's lines into the state: those beyond the projection
// if it fits, else all of them.
func (r *Room[S]) replay(p *projection, s *S, size int64) (*Snapshot[S], error) {
	log, err := journal.Open(r.JournalPath())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if p != nil && p.Journal.Offset > 0 && size > p.Journal.Offset {
		if snap, err := r.fold(log, s, p.Journal.Position); err == nil {
			return snap, nil
		}
	}
	return r.fold(log, r.rules.New(r.name), journal.Position{})
}

// fold applies every whole change behind the position.
func (r *Room[S]) fold(log *journal.Log, s *S, from journal.Position) (*Snapshot[S], error) {
	end, tail, err := log.Scan(from, func(e *journal.Event, end int64) error {
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
	return &Snapshot[S]{State: s, Position: end, torn: tail.Torn}, nil
}
