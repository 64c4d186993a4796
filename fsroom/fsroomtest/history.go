package fsroomtest

import (
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// A history is one room's events over all its lives.
type history[S any] struct {
	*verifier[S]
	name string
	ids  map[string]bool
	end  journal.Position // of the journal last read
	turn int64
}

// read goes on with the next journal and returns the state that it folds to; ok is
// false if it does not fold.
func (h *history[S]) read(path string) (s S, ok bool) {
	log, err := journal.Open(path)
	if err != nil {
		h.found("%v", err)
		return s, false
	}
	defer log.Close()
	s = h.rules.New(h.name)
	seq := h.end.Seq
	end, tail, err := log.Scan(journal.Position{}, func(e *event.Event, _ int64) error {
		seq++
		h.event(path, seq, e)
		seq = e.Seq
		return h.rules.Apply(s, e)
	})
	if err != nil {
		h.found("%v", err)
		return s, false
	}
	if tail.Torn > 0 {
		h.found("%s: %d bytes of an unfinished change", path, tail.Torn)
	}
	h.end = end
	return s, true
}

func (h *history[S]) event(path string, due int64, e *event.Event) {
	if e.Seq != due {
		h.found("%s: event_seq %d where %d is due", path, e.Seq, due)
	}
	if e.Turn < h.turn {
		h.found("%s: event %d: turn_id goes back from %d to %d", path, e.Seq, h.turn, e.Turn)
	}
	h.turn = e.Turn
	if e.RoomID != h.name {
		h.found("%s: event %d: room_id %q", path, e.Seq, e.RoomID)
	}
	if h.ids[e.ID] {
		h.found("%s: event %d: event_id %q for the second time", path, e.Seq, e.ID)
	}
	h.ids[e.ID] = true
	if e.CreatedAt.IsZero() {
		h.found("%s: event %d has no time", path, e.Seq)
	}
}
