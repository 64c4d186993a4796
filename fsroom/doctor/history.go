package doctor

import (
	"errors"
	"io/fs"
	"os"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/lockfile"
)

// history makes the journal fold, cuts off what is unfinished, archives a life that has
// ended, and rebuilds state.json. It keeps the bytes that it removes.
func (r *repairer[S]) history() error {
	cached, err := r.Room.Cached()
	if err != nil {
		return err
	}
	folded, err := r.Room.Fold(cached)
	if err == nil {
		cached, folded, err = r.sayLost(cached, folded)
	}
	var corrupt *journal.CorruptError
	var notRegular *lockfile.NotRegularError
	damaged := errors.As(err, &corrupt) || err == nil && (folded.Lost != nil || r.lostOpening(cached, folded))
	switch {
	case damaged:
		if folded, err = r.salvage(cached); err != nil {
			return err
		}
	case errors.As(err, &notRegular):
		return nil // a problem that only a person can solve
	case err != nil:
		return err
	}
	if folded.Torn > 0 {
		if err := r.keepTorn(folded); err != nil {
			return err
		}
	}
	if folded.Position.Offset == 0 {
		return r.counters(cached, folded)
	}
	b, err := lockfile.ReadRegular(r.Room.StatePath(), maxSalvage)
	if err == nil && (cached == nil || damaged || contradicts(cached, folded)) {
		if err := r.keep(r.Room.StatePath(), "damaged", b); err != nil {
			return err
		}
	}
	return r.Room.Finish(folded)
}

// sayLost writes the event that tells what the journal has lost, if state.json shows that it has.
// It returns what state.json has, and what the journal folds to.
func (r *repairer[S]) sayLost(cached, folded *fsroom.Snapshot[S]) (_, _ *fsroom.Snapshot[S], err error) {
	now, err := r.Room.Weigh(cached, folded)
	if err != nil || !now.Stale && !now.Untold() {
		return cached, folded, err
	}
	if folded.Torn > 0 && !now.Stale {
		if err := r.keepTorn(folded); err != nil {
			return nil, nil, err
		}
	}
	finish := r.Room.Finish
	if now.Untold() {
		finish = r.Room.SayLost
	}
	if err = finish(now); err == nil {
		cached, err = r.Room.Cached()
	}
	if err == nil {
		folded, err = r.Room.Fold(cached)
	}
	return cached, folded, err
}

// salvage replaces the journal by what can be read of it and returns what that folds to.
func (r *repairer[S]) salvage(cached *fsroom.Snapshot[S]) (*fsroom.Snapshot[S], error) {
	v := salvageOf(r.Room, cached)
	if err := r.journal(&v); err != nil {
		return nil, err
	}
	if v.orphan {
		return nil, code.New(code.CorruptRoom, "the event that opened the room cannot be read, nor can state.json, which would tell what it was")
	}
	return r.Room.Fold(nil)
}

// salvageOf returns the salvage of the room's journal. cached is what state.json has.
func salvageOf[S any](room *fsroom.Room[S], cached *fsroom.Snapshot[S]) salvage[S] {
	v := salvage[S]{room: room, path: room.JournalPath(), first: 1, committed: room.Committed(cached)}
	if _, last, err := room.LastArchived(); err == nil {
		v.first = last + 1
	}
	if cached != nil && cached.Position.Offset > 0 {
		v.known, v.last, v.turn = &cached.State, cached.Position.Seq, cached.Turn
	}
	return v
}

// lostOpening reports whether state.json knows of a life in progress at the end of the
// journal and the journal, which can be read, does not: the event that opened the room is
// no longer what it was.
func (r *repairer[S]) lostOpening(cached, folded *fsroom.Snapshot[S]) bool {
	live := r.Room.Rules().Live
	return cached != nil && cached.Position.Offset > 0 && live(cached.State) &&
		folded.Position.Offset > 0 && cached.Position.Seq >= folded.Position.Seq && !live(folded.State)
}

// keepTorn keeps the bytes of a torn tail.
func (r *repairer[S]) keepTorn(folded *fsroom.Snapshot[S]) error {
	b, err := lockfile.ReadRegular(r.Room.JournalPath(), maxSalvage)
	if err != nil {
		return err
	}
	return r.keep(r.Room.JournalPath(), "torn", b[folded.Position.Offset:])
}

// counters cuts off a torn tail and rebuilds a state.json that is damaged or tells what an ended life has lost, in a room
// without a life in progress.
func (r *repairer[S]) counters(cached, folded *fsroom.Snapshot[S]) error {
	if err := r.Room.Finish(folded); err != nil || cached != nil && cached.Lost == nil {
		return err
	}
	if cached != nil {
		told := *cached
		told.Lost = nil
		return r.Room.Finish(&told)
	}
	b, err := lockfile.ReadRegular(r.Room.StatePath(), maxSalvage)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	snap, err := r.Room.BetweenLives(nil)
	if err != nil {
		return nil // the archive must be repaired first; Check finds this again
	}
	if err := r.keep(r.Room.StatePath(), "damaged", b); err != nil {
		return err
	}
	if snap.Position.Seq == 0 {
		return os.Remove(r.Room.StatePath())
	}
	return r.Room.Finish(snap)
}
