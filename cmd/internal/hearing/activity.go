package hearing

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// activityFile is what an agent does, as hooks have noted it last. Its time is that of the last sign of life.
const activityFile = "activity.json"

// mostDetail is how many characters the detail of an activity has at most. It is no whole command, which may have secrets in it.
const mostDetail = 60

// A Doing is what hooks note of an agent.
type Doing struct {
	What       string            `json:"what"` // one of the activities of package turn
	Since      Began             `json:",inline"`
	Tool       string            `json:"tool,omitempty"`        // that runs, or of which its user is asked
	Detail     string            `json:"detail,omitempty"`      // of the tool: what it would do, or the name of a file
	Session    string            `json:"session,omitempty"`     // of the harness
	Process    *identity.Process `json:"process,omitzero"`      // of its window; nil: not known
	StatusFile string            `json:"status_file,omitempty"` // in which the harness says what the model does, see [Doing.asHarnessSays]; "" if there is none
	Stopped    bool              `json:"stopped,omitempty"`     // of an idle one: its user has ended the turn, in a harness that takes no prompt until the user's next
	Reply      int               `json:"reply,omitempty"`       // how many bytes the model had said when its turn ended last; 0: not known, or it has used a tool since
	Helper     bool              // a helper inside the session is at work, which begins no turn of the session's model; not kept
}

// Began is when an agent began what it does.
type Began struct {
	Wall event.Time `json:"since"`
	Boot string     `json:"boot,omitempty"`
	Mono int64      `json:"mono_ms,omitempty"`
}

// Note records what the agent does, in one replaced file: without lock, event or wake. Only what has changed is written; else the file
// gets a new time. It reports whether a turn of the model has begun or ended.
func (a Agent) Note(d Doing) (turned bool, err error) {
	if runes := []rune(d.Detail); len(runes) > mostDetail {
		d.Detail = string(runes[:mostDetail-1]) + "…"
	}
	var before Doing
	known := a.Dir().Read(activityFile, &before) && before.Session == d.Session
	wasInTurn := known && turn.InTurn(before.What)
	if known && d.Helper { // it may have a file of its own
		d.StatusFile = before.StatusFile
	}
	if known && d.Helper && !wasInTurn && d.What == turn.ActivityWorking {
		return false, a.Dir().Mark(activityFile, d.Since.Wall.Time)
	}
	if known && before.What == d.What && before.Stopped == d.Stopped && reflect.DeepEqual(before.Process, d.Process) {
		if before.Tool == d.Tool && before.Detail == d.Detail && before.Reply == d.Reply {
			return false, a.Dir().Mark(activityFile, d.Since.Wall.Time)
		}
		d.Since = before.Since
	}
	return wasInTurn != turn.InTurn(d.What), a.Dir().Write(activityFile, &d)
}

// Forget removes what was noted of a session that has ended. Another session of the agent stays.
func (a Agent) Forget(session string) {
	var d Doing
	if a.Dir().Read(activityFile, &d) && d.Session == session {
		_ = a.Dir().Remove(activityFile)
	}
}

// NotedIn returns the process of the window of which something was noted last, nil if it is not known.
func (a Agent) NotedIn() *identity.Process { return a.noted().Process }

// noted returns what was noted last, the zero Doing if nothing was.
func (a Agent) noted() (d Doing) {
	a.Dir().Read(activityFile, &d)
	return d
}

// Reply returns the [Doing.Reply] of a session.
func (a Agent) Reply(session string) int {
	if d := a.noted(); d.Session == session {
		return d.Reply
	}
	return 0
}

// ModelTurn returns when the turn of the agent's model began, as hooks have noted it, or when it ended: inTurn
// says which. began is zero if nothing is known.
func (a Agent) ModelTurn() (began time.Time, inTurn bool) {
	d := a.noted()
	return d.Since.Wall.Time, turn.InTurn(d.What)
}

// Activity returns what the agent does, as far as is known: nothing is guessed. Whether it lives is no part of it, but
// its model is in no turn where the window has ended in which it was: the session may be open in another one.
func (a Agent) Activity() turn.Activity {
	var d Doing
	if !a.Store.ListenerHas(a.ID, activityFile) || !a.Dir().Read(activityFile, &d) || !slices.Contains(turn.Activities, d.What) {
		return turn.Activity{}
	}
	v := turn.Activity{What: d.What, Began: turn.Instant(d.Since), Since: d.Since.Wall, At: event.NewTime(a.Dir().Marked(activityFile)),
		Tool: d.Tool, Detail: d.Detail, Source: "hook", Stopped: d.Stopped}
	if v.At.Before(v.Since.Time) {
		v.At = v.Since
	}
	if turn.InTurn(v.What) {
		v = d.asHarnessSays(v)
	}
	if turn.InTurn(v.What) && d.Process != nil && a.Table.Verdict(*d.Process) == identity.Gone {
		return turn.Activity{What: turn.ActivityIdle, Began: turn.Instant{Wall: v.At}, Since: v.At, At: v.At, Source: v.Source}
	}
	return v
}

// asHarnessSays returns what a model that hooks say is in a turn does. Hooks are not told when its user ends the turn or answers no, or
// when its service fails. A file of the harness may say so: one of its state, or the transcript of the session. Both are documented
// nowhere, and never make an idle model busy.
func (d *Doing) asHarnessSays(v turn.Activity) turn.Activity {
	read := stateOf
	if strings.HasSuffix(d.StatusFile, ".jsonl") {
		read = transcriptEnd
	}
	what, at := read(d.StatusFile)
	if what == "" || what == v.What || at.Before(d.Since.Wall.Time) {
		return v
	}
	since := event.NewTime(at)
	return turn.Activity{What: what, Began: turn.Instant{Wall: since}, Since: since, At: since, Source: "harness"}
}

// stateOf reads the file in which Claude Code says what a session does.
func stateOf(file string) (what string, at time.Time) {
	var state struct {
		Status string `json:"status"`
		At     int64  `json:"statusUpdatedAt"` // milliseconds of Unix time
	}
	if data, err := os.ReadFile(file); err != nil || wire.Decode(data, &state) != nil {
		return "", at
	}
	return map[string]string{"idle": turn.ActivityIdle, "waiting": turn.ActivityAsks}[state.Status], time.UnixMilli(state.At)
}

// transcriptTail is how much of the end of a transcript is read.
const transcriptTail = 64 << 10

// transcriptEnd reads the end of a transcript of Codex: what the model does if its last turn is over, and since when.
func transcriptEnd(file string) (what string, at time.Time) {
	f, err := os.Open(file)
	if err != nil {
		return "", at
	}
	defer f.Close()
	_, _ = f.Seek(-transcriptTail, io.SeekEnd) // one that is shorter is read whole
	data, _ := io.ReadAll(io.LimitReader(f, transcriptTail))
	lines := bytes.Split(data, []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		var line struct {
			Timestamp time.Time
			Payload   struct{ Type string }
		}
		if !bytes.Contains(lines[i], []byte(`"event_msg"`)) || json.Unmarshal(lines[i], &line) != nil {
			continue
		}
		switch line.Payload.Type {
		case "task_started":
			return "", at
		case "task_complete":
			return turn.ActivityIdle, line.Timestamp
		}
	}
	return "", at
}
