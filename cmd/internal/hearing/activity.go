package hearing

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// activityFile is what an agent does, as hooks have noted it last. Its time is that of the
// last sign of life.
const activityFile = "activity.json"

// mostDetail is how many characters the detail of an activity has at most. It is no whole
// command, which may have secrets in it.
const mostDetail = 60

// A Doing is what hooks note of an agent.
type Doing struct {
	What    string // one of the activities of package turn
	Since   event.Time
	Tool    string // that runs, or of which its user is asked
	Detail  string // of the tool: what it would do, or the name of a file
	Session string // of the harness
	Process *identity.Process
}

// Note records what the agent does, in one replaced file: without lock, event or wake. Only
// what has changed is written; else the file gets a new time.
func (a Agent) Note(d Doing, now time.Time) error {
	if runes := []rune(d.Detail); len(runes) > mostDetail {
		d.Detail = string(runes[:mostDetail-1]) + "…"
	}
	var before Doing
	if a.Dir().Read(activityFile, &before) && before.What == d.What && before.Session == d.Session {
		d.Since = before.Since
		if before.Tool == d.Tool && before.Detail == d.Detail {
			return a.Dir().Mark(activityFile, now)
		}
	}
	if d.Since.IsZero() {
		d.Since = event.NewTime(now)
	}
	return a.Dir().Write(activityFile, &d)
}

// Forget removes what was noted of a session that has ended. Another session of the agent
// stays.
func (a Agent) Forget(session string) error {
	var d Doing
	if !a.Dir().Read(activityFile, &d) || d.Session != session {
		return nil
	}
	return a.Dir().Remove(activityFile)
}

// Activity returns what the agent does, as far as is known: nothing is guessed.
func (a Agent) Activity() turn.Activity {
	var d Doing
	if !a.Store.ListenerHas(a.ID, activityFile) || !a.Dir().Read(activityFile, &d) || !slices.Contains(turn.Activities, d.What) {
		return turn.Activity{}
	}
	v := turn.Activity{What: d.What, Since: d.Since, At: event.NewTime(a.Dir().Marked(activityFile)), Tool: d.Tool, Detail: d.Detail, Source: "hook"}
	if v.At.Before(v.Since.Time) {
		v.At = v.Since
	}
	// The harness may know that a turn has ended of which no hook has told.
	if l := a.Listener(); (v.What == turn.ActivityWorking || v.What == turn.ActivityAsks) && l.Session == d.Session && !l.Busy.IsZero() && l.Model() == Idle {
		v = turn.Activity{What: turn.ActivityIdle, Since: v.At, At: v.At, Source: "harness"}
	}
	if d.Process != nil && a.Table.Verdict(*d.Process) == identity.Gone {
		v.What = turn.ActivityEnded
	}
	return v
}

// FileDetail is the detail of a tool that writes a file.
func FileDetail(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return filepath.Base(paths[0])
}

// Fields implements [wire.Fields].
func (d *Doing) Fields(c *wire.Codec) {
	c.Text("what", &d.What)
	c.Time("since", &d.Since)
	c.OptText("tool", &d.Tool)
	c.OptText("detail", &d.Detail)
	c.OptText("session", &d.Session)
	if !c.Writes() && d.Process == nil {
		d.Process = new(identity.Process)
	}
	c.OptObject("process", d.Process, d.Process == nil || *d.Process == (identity.Process{}))
	if d.Process != nil && *d.Process == (identity.Process{}) {
		d.Process = nil
	}
}
