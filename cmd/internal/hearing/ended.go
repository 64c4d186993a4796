package hearing

import (
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// endedFile has the [Ending] of an agent's session. It is removed when the session goes on.
const endedFile = "ended.json"

// endedLasts is how long an agent that is in no room keeps its Ending, for hooks that come late.
const endedLasts = 24 * time.Hour

// An Ending says that the session of an agent has ended, although its process may go on.
type Ending struct {
	At      event.Time        `json:"at"`
	Quits   bool              `json:"process_ends,omitempty"` // the process ends, too
	Process *identity.Process `json:"process,omitzero"`       // in which the session was open; nil: not known
}

// Of reports whether the session has ended in a process, nil for one that is not known.
func (e Ending) Of(p *identity.Process) bool { return e.Process == nil || p == nil || *e.Process == *p }

// Ended returns how the agent's session has ended, false if it has not as far as is known. Where it
// has not, it costs one look at a file.
func (a Agent) Ended() (e Ending, ended bool) {
	if !a.Store.ListenerHas(a.ID, endedFile) || !a.Dir().Read(endedFile, &e) {
		return Ending{}, false
	}
	return e, true
}

// SetEnded records that the agent's session has ended. It removes what is left of sessions that
// have ended long ago.
func (a Agent) SetEnded(e Ending) error {
	top := filepath.Dir(a.Dir().Path(""))
	all, _ := os.ReadDir(top)
	for _, entry := range all {
		dir := filepath.Join(top, entry.Name())
		info, err := os.Lstat(filepath.Join(dir, endedFile))
		rooms, _ := os.ReadDir(filepath.Join(dir, roomsDir))
		if err == nil && e.At.Sub(info.ModTime()) > endedLasts && len(rooms) == 0 {
			_ = os.RemoveAll(dir)
		}
	}
	return a.Dir().Write(endedFile, &e)
}

// GoOn records that the agent's session goes on.
func (a Agent) GoOn() {
	if a.Store.ListenerHas(a.ID, endedFile) {
		_ = a.Dir().Remove(endedFile)
	}
}
