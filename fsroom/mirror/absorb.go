package mirror

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// absorb writes what was fetched to the mirror, whose lock the caller has.
func (r *mirror[S]) absorb(t *tail) error {
	if !t.news() {
		return nil
	}
	m := r.readMarker()
	if t.stale != nil && m == *t.stale {
		m = marker{}
	}
	if !t.follows(m) {
		return errLinesLost // so it is fetched again
	}
	if err := r.Store().Prepare(r.Dir()); err != nil {
		return err
	}
	snap, err := r.Load()
	if err != nil {
		return err
	}
	if m.linesLost(snap.Position) {
		return r.startOver()
	}
	if err := r.Clear(snap); err != nil {
		return err
	}
	before := r.Rules().Clone(snap.State)
	var absorbed []event.Event
	for _, e := range t.entries {
		switch {
		case int64(e.Revision) <= m.Revision:
		case e.Lines == nil:
			m.noted(e)
		default:
			var events []event.Event
			if events, err = r.absorbChange(snap, e.Lines); err == nil {
				last := events[len(events)-1]
				m.Changes++
				m.Revision, m.Offset, m.Seq, m.EventID, m.At = int64(e.Revision), snap.Position.Offset, last.Seq, last.ID, last.CreatedAt
				absorbed = append(absorbed, events...)
			}
		}
		if err != nil {
			break
		}
	}
	if errors.Is(err, errLinesLost) {
		if t.from.Revision == 0 { // all that the engine has does not follow on the mirror
			return r.explainEngine(engine.ErrRewound)
		}
		return r.startOver()
	}
	if err != nil {
		return err
	}
	if len(absorbed) > 0 {
		r.NotifyAgents(before, snap.State, absorbed)
		if r.Rules().Live(snap.State) {
			_ = r.WriteProjection(snap) // if it fails, the next reader folds the journal
		}
	}
	if err := r.writeMarker(m); err != nil {
		return err
	}
	r.reached() // again: a mirror that has just been made had no directory before
	return nil
}

// startOver makes the next fetch begin with the first change. It returns errLinesLost,
// or why that could not be done: who gets errLinesLost fetches at once.
func (r *mirror[S]) startOver() error {
	err := os.Remove(r.StatePath()) // it may know more than the journal has
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err = errors.Join(err, r.writeMarker(marker{})); err != nil {
		return err
	}
	return errLinesLost
}

// heal makes the next fetch begin with the first change if the error is damage in the mirror, whose lock the caller has.
func (r *mirror[S]) heal(ctx context.Context, err error) error {
	var damage *journal.CorruptError
	if !errors.As(err, &damage) || r.engine == nil || r.putAside(ctx) != nil {
		return err
	}
	return r.startOver()
}

// putAside keeps the journals of a mirror under other names, if the engine has as many events, or more.
func (r *mirror[S]) putAside(ctx context.Context) error {
	had := r.readMarker().Seq
	if snap, _ := r.Cached(); snap != nil {
		had = max(had, snap.Position.Seq)
	}
	t, err := r.fetchFrom(ctx, marker{})
	if err == nil && t.chain.seq < had {
		err = engine.ErrRewound
	}
	if err != nil {
		return err
	}
	paths, err := r.Archived()
	for _, path := range append(paths, r.JournalPath()) {
		if moved := r.MoveAside(path); !errors.Is(moved, fs.ErrNotExist) {
			err = errors.Join(err, moved)
		}
	}
	return err
}

// Refetch fetches a mirror anew whose journals are damaged.
func Refetch[S any](ctx context.Context, room *fsroom.Room[S]) error {
	r := room.Shared().(*mirror[S])
	unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	if err = r.putAside(ctx); err == nil {
		err = r.startOver()
	}
	if err = errors.Join(err, unlock()); errors.Is(err, errLinesLost) {
		_, err = r.View(ctx)
	}
	return err
}

// check compares the mirror, whose lock the caller has, with its marker. A journal that goes
// on behind the marker is one whose writer ended before it wrote the marker, unless the engine,
// asked now, does not have those events: then it has lost them.
func (r *mirror[S]) check(ctx context.Context, end journal.Position) error {
	m := r.readMarker()
	switch {
	case m.linesLost(end):
		return r.startOver()
	case end.Seq == m.Seq:
		return nil
	}
	t, err := r.fetchFrom(ctx, m)
	if err == nil {
		err = r.absorb(t)
	}
	if err == nil && end.Seq > r.readMarker().Seq {
		if err = r.engine.Confirm(ctx, r.engineName(), t.last); err == nil {
			err = engine.ErrRewound
		}
	}
	if err == nil || errors.Is(err, engine.ErrConflict) {
		return errOvertaken
	}
	return r.explainEngine(err)
}

// absorbChange appends the lines of an entry to the mirror's journal, without those that are
// there already, and folds them. It returns the events of the entry.
func (r *mirror[S]) absorbChange(snap *fsroom.Snapshot[S], lines []byte) ([]event.Event, error) {
	events, err := decodeChange(lines)
	if err != nil {
		return nil, err
	}
	more := events
	for len(more) > 0 && more[0].Seq <= snap.Position.Seq {
		more, lines = more[1:], lines[bytes.IndexByte(lines, '\n')+1:]
	}
	if known := len(events) - len(more); known > 0 {
		if err := r.compare(&events[known-1]); err != nil {
			return nil, err
		}
	}
	switch {
	case len(more) == 0:
		return events, nil
	case more[0].Seq != snap.Position.Seq+1:
		return nil, errLinesLost
	}
	log, err := journal.OpenWriter(r.JournalPath())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	last := &more[len(more)-1]
	end, err := log.AppendLines(snap.Position, lines, last.Seq)
	if err != nil {
		return nil, err
	}
	for i := range more {
		if err := r.Rules().Apply(snap.State, &more[i]); err != nil {
			return nil, err
		}
	}
	snap.Advance(end, last.Turn)
	if !r.Rules().Live(snap.State) {
		if err := r.Archive(snap); err != nil {
			return nil, err
		}
		next, err := r.Load()
		if err != nil {
			return nil, err
		}
		*snap = *next
	}
	return events, nil
}

// compare returns an error if the mirror has another event in the place of e.
func (r *mirror[S]) compare(e *event.Event) error {
	paths, err := r.Archived()
	if err != nil {
		return err
	}
	path := r.JournalPath()
	for _, archived := range paths {
		if first, last := fsroom.ArchivedEvents(archived); first <= e.Seq && e.Seq <= last {
			path = archived
			break
		}
	}
	log, err := journal.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // lost, also here
	}
	if err != nil {
		return err
	}
	defer log.Close()
	here, err := r.EventAt(context.Background(), log, path, e.Seq)
	if err == nil && here != nil && here.ID != e.ID {
		err = r.explainEngine(engine.ErrRewound)
	}
	return err
}
