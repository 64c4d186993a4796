package hearing

import (
	"encoding/json"
	"os"
	"time"
)

// What the model of an agent does, as far as is known.
const (
	Idle = ""     // it is in no turn
	Busy = "busy" // it is in a turn
	Asks = "asks" // it waits for an answer of its user
)

// Model returns what the agent's model does. Hooks set that it is busy, and the harness may
// say by a file of its own that it is so no more: some run no hook after the user has ended
// a turn. That file is nowhere documented, so it never begins a turn, and what is
// missing or not understood says nothing.
func (l *Listener) Model() string {
	if l.Busy.IsZero() {
		return Idle
	}
	if l.StatusFile == "" {
		return Busy
	}
	var status struct {
		Status string `json:"status"`
		At     int64  `json:"statusUpdatedAt"` // milliseconds of Unix time
	}
	data, err := os.ReadFile(l.StatusFile)
	if err != nil || json.Unmarshal(data, &status) != nil || time.UnixMilli(status.At).Before(l.Busy.Time) {
		return Busy
	}
	switch status.Status {
	case "idle":
		return Idle
	case "waiting":
		return Asks
	}
	return Busy
}
