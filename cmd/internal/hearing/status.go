package hearing

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// asHarnessSays returns what a model that hooks say is in a turn does. Hooks are not told
// when its user ends the turn or answers no, or when its service fails. A file of the
// harness may say so: one of its state, or the transcript of the session. Both are
// documented nowhere, and never make an idle model busy.
func (d *Doing) asHarnessSays(v turn.Activity) turn.Activity {
	var what string
	var at time.Time
	if strings.HasSuffix(d.StatusFile, ".jsonl") {
		what, at = transcriptEnd(d.StatusFile)
	} else if d.StatusFile != "" {
		what, at = stateOf(d.StatusFile)
	}
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
	if data, err := os.ReadFile(file); err != nil || json.Unmarshal(data, &state) != nil {
		return "", at
	}
	return map[string]string{"idle": turn.ActivityIdle, "waiting": turn.ActivityAsks}[state.Status], time.UnixMilli(state.At)
}

// transcriptTail is how much of the end of a transcript is read.
const transcriptTail = 64 << 10

// transcriptEnd reads the end of a transcript of Codex: what the model does if its last turn
// is over, and since when.
func transcriptEnd(file string) (what string, at time.Time) {
	f, err := os.Open(file)
	if err != nil {
		return "", at
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		_, _ = f.Seek(max(0, info.Size()-transcriptTail), io.SeekStart)
	}
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
