package fsroom

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// loadTries bounds how often a reader starts over because a life of the room
// ended after it read state.json and before it opened the journal.
const loadTries = 10

// Load returns the room as state.json and the journal have it. The journal decides: a
// state.json that does not fit it is ignored, unless it shows that the journal has lost
// events, see [Files.Weigh].
func (r *Files[S]) Load() (*Snapshot[S], error) {
	if err := r.CheckDirs(); err != nil {
		return nil, err
	}
	for range loadTries {
		cached, err := r.Cached()
		if err != nil {
			return nil, err
		}
		info, err := os.Lstat(r.JournalPath())
		missing := errors.Is(err, fs.ErrNotExist)
		switch {
		case missing:
			if cached != nil && cached.Position.Offset > 0 && r.cacheReplaced(cached) {
				continue // the life ended in between
			}
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, &lockfile.NotRegularError{Path: r.JournalPath(), Mode: info.Mode().Type()}
		default:
			r.store.keepPrivate(r.JournalPath(), info)
			if cached != nil && cached.covers(info) && !(r.isAlone() && r.isArchived(cached)) {
				return cached, nil
			}
		}
		folded := &Snapshot[S]{}
		if !missing {
			if folded, err = r.foldOn(cached, cached, info.Size()); errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return nil, err
			}
		}
		snap, err := r.Weigh(cached, folded)
		if err == nil && snap.Untold() && r.cacheReplaced(cached) {
			continue // by the change that is not in what was read of the journal
		}
		return snap, err
	}
	return nil, fmt.Errorf("%s keeps changing", r.dir)
}

// cacheReplaced reports whether state.json was replaced since cached was read.
func (r *Files[S]) cacheReplaced(cached *Snapshot[S]) bool {
	now, err := r.Cached()
	return err == nil && now != nil && now.coverage() != cached.coverage()
}

// Fold returns what the whole journal folds to, without looking at state.json. cached,
// which may be nil, shows how much of the journal was committed. The snapshot of a
// missing journal, and of one without a whole change, has the zero Position: that belongs to a life
// that was never committed.
func (r *Files[S]) Fold(cached *Snapshot[S]) (*Snapshot[S], error) {
	snap, err := r.foldOn(nil, cached, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return &Snapshot[S]{}, nil
	}
	return snap, err
}

// foldOn is Fold of the lines beyond from, if from fits the journal, whose size is given. from may be nil.
func (r *Files[S]) foldOn(from, cached *Snapshot[S], size int64) (*Snapshot[S], error) {
	log, err := journal.Open(r.JournalPath())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	log.SetCommitted(func() int64 { return r.Committed(cached) })
	if from != nil && !from.outdated && from.Position.Offset > 0 && size > from.Position.Offset {
		// The number of the next event shows that from is of this life. A torn tail
		// alone does not.
		snap, err := r.fold(log, from.State, from)
		if err == nil && snap.Position != from.Position {
			return snap, nil
		}
	}
	return r.fold(log, r.rules.New(r.name), &Snapshot[S]{})
}

// Committed returns how many bytes of the journal were committed, as far as cached
// shows it. A state.json of an earlier life, whose journal is in the archive, shows
// nothing about this one; nor does nil.
func (r *Files[S]) Committed(cached *Snapshot[S]) int64 {
	if cached == nil {
		return 0
	}
	if r.isArchived(cached) {
		return 0
	}
	return cached.Position.Offset
}

// isArchived reports whether the life of a snapshot has ended: its journal is in the archive.
func (r *Files[S]) isArchived(snap *Snapshot[S]) bool {
	_, last, err := r.LastArchived()
	return err == nil && last >= snap.Position.Seq
}

// fold applies every whole change behind a snapshot to s.
func (r *Files[S]) fold(log *journal.Log, s S, from *Snapshot[S]) (*Snapshot[S], error) {
	snap := &Snapshot[S]{State: s, Lost: from.Lost}
	seq := from.Position.Seq
	end, tail, err := log.Scan(from.Position, func(e *event.Event, end int64) error {
		if e.Leaps(seq + 1) {
			snap.Lost = lostBefore(e, seq)
		}
		snap.Turn, seq = e.Turn, e.Seq
		if !r.IsOwn(e.RoomID) {
			return log.Damaged(end, fmt.Sprintf("it is of another room, %.100q", e.RoomID))
		}
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
	snap.Position, snap.Torn = end, tail.Torn
	return snap, nil
}
