package hearing

import (
	"time"
)

// A Printed is what a hook has printed for an agent. It counts as shown when a later hook
// of the session proves that the model was asked with it: a prompt that is cancelled takes
// what was printed beside it along. Until then it is said again with the next prompt.
type Printed struct {
	Session string        `json:"harness_session"` // of the harness
	Rooms   []PrintedRoom `json:"rooms"`
}

// A PrintedRoom is the part of a [Printed] that is about one room.
type PrintedRoom struct {
	Room     string   `json:"room_id"`
	Cursor   Cursor   `json:"cursor"`             // the agent's cursor moves over it then
	Answered []string `json:"answered,omitempty"` // the questions of the agent whose answers it had
	Left     bool     `json:"left,omitempty"`     // it said that the agent is in the room no more
}

// Of returns what was printed of a room, nil if nothing was.
func (p *Printed) Of(room string) *PrintedRoom {
	for i := range p.Rooms {
		if p.Rooms[i].Room == room {
			return &p.Rooms[i]
		}
	}
	return nil
}

// Add takes in what was printed before.
func (p *Printed) Add(before Printed) {
	for _, r := range before.Rooms {
		if later := p.Of(r.Room); later != nil {
			r.Cursor.Advance(later.Cursor)
			later.Cursor, later.Left, later.Answered = r.Cursor, later.Left || r.Left, append(r.Answered, later.Answered...)
		} else {
			p.Rooms = append(p.Rooms, r)
		}
	}
}

// PrintedSince reports whether something was printed since then that is not known to have
// been in a request.
func (a Agent) PrintedSince(then time.Time) bool {
	const tick = 50 * time.Millisecond // times of files come from a coarser clock
	return !a.Dir().Changed(printedFile).Before(then.Add(-tick))
}

// HasPrinted reports whether something was printed that is not known to have been in a
// request, at the cost of one look at a file.
func (a Agent) HasPrinted() bool { return a.Store.ListenerHas(a.ID, printedFile) }

// Printed returns what was printed and is not known to have been in a request.
func (a Agent) Printed() (p Printed) {
	if !a.HasPrinted() || !a.Dir().Read(printedFile, &p) {
		return Printed{}
	}
	return p
}

// SavePrinted stores what was printed; nothing removes the record. The caller has the lock
// of [Agent.Dir].
func (a Agent) SavePrinted(p Printed) error {
	if len(p.Rooms) == 0 {
		return a.Dir().Remove(printedFile)
	}
	return a.Dir().Write(printedFile, &p)
}
