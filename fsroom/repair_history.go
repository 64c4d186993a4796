package fsroom

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/lockfile"
)

// mendHistory makes the journal fold, cuts off what is unfinished, archives a
// life that has ended, and rebuilds the projection.
func (r *Room[S]) mendHistory(lost losses) error {
	p, s, err := r.readProjection()
	if err != nil {
		return err
	}
	snap, err := r.foldAll(p)
	var bad *journal.CorruptError
	var notRegular *lockfile.NotRegularError
	salvaged := errors.As(err, &bad) || err == nil && r.unopened(p, s, snap)
	if salvaged {
		v := r.salvageOf(p, s)
		err := r.mendJournal(v, lost)
		if err != nil {
			return err
		}
		if v.orphan {
			return code.New(code.CorruptRoom, "the event that opened the room cannot be read, nor can state.json, which would tell what it was")
		}
		if snap, err = r.foldAll(nil); err != nil {
			return err
		}
	}
	switch {
	case errors.As(err, &notRegular):
		return nil // Check goes on telling that
	case !salvaged && err != nil:
		return err
	}
	if snap.torn > 0 {
		if err := r.cutKeeping(snap); err != nil {
			return err
		}
	}
	if snap.Position.Offset == 0 {
		return r.mendBetween(p, s)
	}
	return r.mendProjection(p, snap, salvaged)
}

// unopened reports whether the journal reads, but tells nothing of the life that
// state.json knows to be in progress at its end: the event that opened the room
// is no longer what it was.
func (r *Room[S]) unopened(p *projection, s S, snap *Snapshot[S]) bool {
	return p != nil && p.Journal.Offset > 0 && r.rules.Live(s) &&
		snap.Position.Offset > 0 && p.Journal.Seq >= snap.Position.Seq && !r.rules.Live(snap.State)
}

// salvageOf sets up the mending of the current journal.
func (r *Room[S]) salvageOf(p *projection, s S) *salvage[S] {
	v := &salvage[S]{room: r, path: r.JournalPath(), first: 1, committed: r.committed(p)}
	if paths, err := r.Archived(); err == nil && len(paths) > 0 {
		v.first = archivedUpTo(paths[len(paths)-1]) + 1
	}
	if p != nil && p.Journal.Offset > 0 {
		v.known, v.isKnown, v.last, v.turn = s, true, p.Journal.Seq, p.Journal.Turn
	}
	return v
}

// cutKeeping removes a torn tail and keeps its bytes.
func (r *Room[S]) cutKeeping(snap *Snapshot[S]) error {
	b, err := lockfile.ReadRegular(r.JournalPath(), maxSalvage)
	if err != nil {
		return err
	}
	if err := r.keep(r.JournalPath(), "torn", b[snap.Position.Offset:]); err != nil {
		return err
	}
	return r.cut(snap)
}

// mendBetween rebuilds the counters of a room without a life in progress.
func (r *Room[S]) mendBetween(p *projection, s S) error {
	b, err := lockfile.ReadRegular(r.statePath(), maxProjection)
	if errors.Is(err, fs.ErrNotExist) || p != nil {
		return nil
	}
	if err != nil {
		return err
	}
	snap, err := r.betweenLives(p, s)
	if err != nil {
		return nil // the archive is damaged, too: it comes first, and Check finds this again
	}
	if err := r.keep(r.statePath(), "damaged", b); err != nil {
		return err
	}
	if snap.Position.Seq == 0 {
		return os.Remove(r.statePath())
	}
	return r.writeProjection(snap, time.Time{})
}

// mendProjection brings state.json up to date. One that is only behind is what
// every crash leaves; any other is kept.
func (r *Room[S]) mendProjection(p *projection, snap *Snapshot[S], salvaged bool) error {
	b, err := lockfile.ReadRegular(r.statePath(), maxProjection)
	if err == nil && (p == nil || salvaged || r.lies(b, snap)) {
		if err := r.keep(r.statePath(), "damaged", b); err != nil {
			return err
		}
	}
	if !r.rules.Live(snap.State) {
		return r.archive(snap)
	}
	snap.fresh = false
	return r.catchUp(snap)
}

// lies reports whether a state.json that reads is ahead of the journal, or says
// of the same journal something else.
func (r *Room[S]) lies(b []byte, snap *Snapshot[S]) bool {
	p, _, err := decodeProjection(r.rules, r.name, b)
	if err != nil || p.Journal.Offset > snap.Position.Offset {
		return true
	}
	want, err := r.rules.encode(snap.State)
	return err != nil || p.Journal.Offset == snap.Position.Offset && !bytes.Equal(p.State, want)
}
