package queue

import (
	"encoding/json"
	"time"
)

// A Mode says what else may hold the lock.
type Mode string

// The modes. A shared holder excludes exclusive ones only.
const (
	Exclusive Mode = "exclusive"
	Shared    Mode = "shared"
)

// A State says whether a ticket has the lock.
type State string

// The states of a ticket.
const (
	Waiting State = "waiting"
	Held    State = "held"
)

// A Ticket is the content of a ticket's file. The caller of [Queue.Acquire] sets Agent,
// Mode, PID, Process, Command, Dir and Inside.
type Ticket struct {
	Number  int64           `json:"ticket"`
	Nonce   string          `json:"nonce"` // numbers may be drawn again, nonces are not
	Agent   string          `json:"agent_id"`
	Mode    Mode            `json:"mode"`
	State   State           `json:"state"`
	PID     int             `json:"pid"`
	Process json.RawMessage `json:"process,omitempty"` // what [Processes] reads
	Command []string        `json:"command"`
	Dir     string          `json:"cwd"`
	AskedAt time.Time       `json:"asked_at"`
	HeldAt  *time.Time      `json:"held_at,omitzero"`
	Inside  []string        `json:"inside,omitempty"` // the locks that the process runs under
}

// A Condition is that of a ticket's process.
type Condition string

// The conditions of a process. Unknown means that it cannot be looked up from here.
const (
	Alive   Condition = "alive"
	Stopped Condition = "stopped"
	Gone    Condition = "gone"
	Unknown Condition = "unknown"
)

// Processes looks up the processes of tickets.
type Processes interface {
	// Condition returns the condition of a process.
	Condition(process json.RawMessage) Condition
	// Watch returns a channel that is closed when the process ends.
	Watch(process json.RawMessage) (ended <-chan struct{}, stop func(), err error)
}

// An Entry is the ticket of a process that has the lock or waits for it.
type Entry struct {
	Ticket
	Condition Condition // Alive, Stopped or Unknown

	locked bool // the record lock is held
}

// Blockers returns the entries of others that keep the lock from me, in the order of
// their numbers. The lock may be granted if there are none.
//
// Entries in conflict with me, which means that one of the two is exclusive, block in
// two cases: they have the lock; or they wait with a lower number, unless their process
// is stopped. A stopped process is passed by. When it continues, it waits for those
// that have the lock by then.
func Blockers(me *Ticket, others []*Entry) []*Entry {
	var blockers []*Entry
	for _, other := range others {
		conflict := me.Mode != Shared || other.Mode != Shared
		before := other.Number < me.Number && other.Condition != Stopped
		if conflict && (other.State == Held || before) {
			blockers = append(blockers, other)
		}
	}
	return blockers
}

// nearest returns the blocker to wait for: the last one before me, which is the last
// to go first, else one behind me that went ahead.
func nearest(me *Ticket, blockers []*Entry) *Entry {
	found := blockers[len(blockers)-1]
	for _, b := range blockers {
		if b.Number < me.Number {
			found = b
		}
	}
	return found
}
