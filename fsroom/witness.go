package fsroom

import (
	"errors"
	"io/fs"
	"os"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// Weigh returns the room that state.json and the journal show together. cached is what state.json
// has, nil for nothing; folded is what the whole journal folds to, with the zero Position for a
// journal that is missing or has no whole change.
//
// The journal decides, with two exceptions. If a valid state.json covers more events than the
// journal has, the journal has lost them, and the room is as state.json has it: see
// [Snapshot.Untold]. If the archive has the last event of the journal or of state.json, that life
// has ended: nothing is lost, and such a journal is an old copy, see [Snapshot.Stale]. A journal that
// an engine can give back decides always.
func (r *Files[S]) Weigh(cached, folded *Snapshot[S]) (*Snapshot[S], error) {
	if !r.isAlone() {
		return r.orBetweenLives(cached, folded, false)
	}
	_, archived, err := r.LastArchived()
	if err != nil {
		return nil, err
	}
	had, stale := folded.Position, false
	if had.Offset > 0 && had.Seq <= archived {
		had, stale = journal.Position{Seq: archived}, true
	}
	witness := cached != nil && cached.Position.Seq > max(had.Seq, archived) &&
		(cached.Position.Offset > 0 || cached.Lost != nil) && (had.Offset > 0 || r.rules.Live(cached.State))
	if !witness {
		return r.orBetweenLives(cached, folded, stale)
	}
	return &Snapshot[S]{
		State:    cached.State,
		Position: journal.Position{Offset: had.Offset, Seq: cached.Position.Seq},
		Turn:     cached.Turn,
		Torn:     folded.Torn,
		Lost:     &event.Lost{From: max(had.Seq, archived) + 1, To: cached.Position.Seq},
		Stale:    stale,
	}, nil
}

// orBetweenLives returns the room that the journal folds to, or the one between two lives if there
// is no journal of a life in progress.
func (r *Files[S]) orBetweenLives(cached, folded *Snapshot[S], stale bool) (*Snapshot[S], error) {
	if folded.Position.Offset > 0 && !stale {
		return folded, nil
	}
	snap, err := r.BetweenLives(cached)
	if err != nil {
		return nil, err
	}
	c := *snap
	c.Torn, c.Stale = folded.Torn, stale
	return &c, nil
}

// isAlone reports whether the room is shared with no other host.
func (r *Files[S]) isAlone() bool {
	return r.rules.Share == nil || r.store.opts.Engine == nil && r.store.opts.Host == ""
}

// Untold reports whether state.json alone tells that the last events are lost. The next change
// begins with an event that tells it, see [event.JournalDamaged].
func (s *Snapshot[S]) Untold() bool { return s.Lost != nil && s.Position.Seq == s.Lost.To }

// lossEvent returns the event that tells what was lost. Folding it gives the state of snap.
func (r *Files[S]) lossEvent(snap *Snapshot[S]) event.Event {
	return event.Event{
		Type: event.JournalDamaged, Turn: snap.Turn,
		Reason:  "the journal was shorter than state.json says; the room goes on from there",
		Payload: wire.Append(nil, &event.Loss{Lost: *snap.Lost, State: wire.Append(nil, snap.State)}),
	}
}

// lostBefore returns what an event that follows the one with the number seq says was lost.
func lostBefore(e *event.Event, seq int64) *event.Lost {
	var p event.Loss
	if wire.Decode(e.Payload, &p) != nil || p.From <= seq || p.To != e.Seq-1 {
		return &event.Lost{From: seq + 1, To: e.Seq - 1}
	}
	return &p.Lost
}

// SayLost writes the event that tells what was lost, if none does yet. The caller has the
// lock, and snap is from [Files.Weigh]. It is for repairs.
func (r *Files[S]) SayLost(snap *Snapshot[S]) error {
	if err := r.Clear(snap); err != nil {
		return err
	}
	_, err := r.commit(snap, nil, func() {})
	return err
}

// liveWithout reports whether a life is in progress of which only state.json is left.
func (r *Files[S]) liveWithout() bool {
	cached, err := r.Cached()
	if cached == nil || err != nil {
		return false
	}
	snap, err := r.Weigh(cached, &Snapshot[S]{})
	return err != nil || snap.Untold()
}

// hasLost reports whether the journal had the event, and has it no more.
func (r *Files[S]) hasLost(log *journal.Log, seq int64) bool {
	snap, err := r.Load()
	if err != nil || snap.Position.Seq < seq {
		return false
	}
	if snap.Lost.Has(seq) || log == nil {
		return snap.Lost.Has(seq)
	}
	at, err := log.Find(seq)
	if err != nil {
		return false
	}
	leaps := false
	_, _, _ = log.Scan(at, func(e *event.Event, _ int64) error {
		leaps = e.Leaps(seq)
		return errFound
	})
	return leaps
}

// errExchanged means that something else has the name of the room's lock or journal since
// the room was locked: its directory was exchanged. Nothing was changed.
var errExchanged = errors.New("the directory of the room was exchanged meanwhile")

// exchanged reports whether the locked file has lost its name, or has it through a link.
func (r *Files[S]) exchanged(locked fs.FileInfo) bool {
	if r.CheckDirs() != nil {
		return true
	}
	now, err := os.Lstat(r.LockPath())
	return locked != nil && (err != nil || !os.SameFile(locked, now)) || r.CheckDirs() != nil
}
