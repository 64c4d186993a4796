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

// read goes on with the next journal and returns the state it folds to, nil if
// it does not.
func (h *history[S]) read(path string) *S {
	log, err := journal.Open(path)
	if err != nil {
		h.found("%v", err)
		return nil
	}
	defer log.Close()
	s := h.rules.New(h.name)
	seq := h.end.Seq
	end, tail, err := log.Scan(journal.Position{}, func(e *event.Event, _ int64) error {
		seq++
		h.event(path, seq, e)
		seq = e.Seq
		return h.rules.Apply(s, e)
	})
	if err != nil {
		h.found("%v", err)
		return nil
	}
	if tail.Torn > 0 {
		h.found("%s: %d bytes of an unfinished change", path, tail.Torn)
	}
	h.end = end
	return s
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
