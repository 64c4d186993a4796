package simulation

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// outdate notes that what the processes of this moment acknowledge may be from before something that is undone.
func (w *world) outdate() {
	for _, p := range w.procs {
		p.older = true
	}
}

// forget drops what was acknowledged after the moment to which the room was put back by its user, and who was promised a
// call since then. What writes is excused.
func (w *world) forget() {
	w.look()
	w.back = w.state.Turn
	w.outdate()
	for _, r := range w.reads { // they may have read either room
		r.turn = w.back
	}
	for _, x := range w.windows {
		if !w.state.Open || !w.room.Agent(x.agent).Has("wants") { // its life may have been closed since
			x.refused = false
		}
		x.called = x.called || w.room.Agent(x.agent).Has("called")
	}
	maps.DeleteFunc(w.grants, func(n int64, _ string) bool { return n > w.state.Turn })
	maps.DeleteFunc(w.events, func(n int64, _ string) bool { return n > w.state.Seq })
	w.overrun("")
}

// history checks the journals of the room: the numbers are used once, and what was acknowledged is there.
func (w *world) history() {
	all := eventsIn(append(w.glob("archive/*/*"), w.file("journal.jsonl"))...)
	slices.SortStableFunc(all, func(a, b event.Event) int { return int(a.Seq - b.Seq) })
	kinds, grants, lost := map[int64]string{}, map[int64]string{}, int64(0)
	for i, e := range all {
		if i > 0 && e.Seq == all[i-1].Seq && e.ID != all[i-1].ID {
			w.find("a number of an event was used twice", "event %d is a %s and a %s", e.Seq, all[i-1].Type, e.Type)
		}
		kinds[e.Seq] = e.Type
		if e.Type == "journal_damaged" {
			lost = e.Seq
		}
		if e.Type == turn.Claim || e.Type == turn.Takeover {
			if _, ok := grants[e.Turn]; ok && e.ID != all[max(0, i-1)].ID {
				w.find("a turn was given twice", "turn %d is in the journal twice", e.Turn)
			}
			grants[e.Turn] = e.To
		}
	}
	if snap := w.view(); snap != nil && snap.Lost != nil { // what the journal has lost is said with the next change
		lost = snap.State.Seq + 1
	}
	for _, seq := range slices.Sorted(maps.Keys(w.events)) {
		if kind, ok := kinds[seq]; seq >= lost && (!ok || kind != w.events[seq]) {
			w.find("what was acknowledged is gone", "event %d was a %s and is %q", seq, w.events[seq], kind)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(w.grants)) {
		if _, ok := grants[n]; !ok && lost == 0 {
			w.find("what was acknowledged is gone", "turn %d was given", n)
		}
	}
	w.folds()
}

// folds compares the room with what its journals alone make of it, unless they have lost something.
func (w *world) folds() {
	has := w.view()
	if has == nil || has.Lost != nil || has.Stale || !has.State.Open {
		return
	}
	data := filepath.Join(w.base, "fold")
	defer os.RemoveAll(data)
	_ = os.MkdirAll(filepath.Join(data, "rooms"), 0o700)
	_ = copyTree(filepath.Join(w.data, "archive"), data)
	_ = copyTree(w.folder, filepath.Join(data, "rooms"))
	_ = os.Remove(filepath.Join(data, "rooms", filepath.Base(w.folder), "state.json"))
	store, _ := fsroom.Open(data, fsroom.Options{NoWatch: true})
	folded, err := fsroom.At(store, roomtypes.Stick(), filepath.Base(w.folder)).View()
	if err != nil {
		w.find("the journal does not fold", "%v", err)
		return
	}
	a, b := wire.Append(nil, has.State), wire.Append(nil, folded.State)
	if w.counts["folds"]++; !bytes.Equal(a, b) {
		w.find("the journal folds to another state", "the room is %s and its journal makes %s", a, b)
	}
}
