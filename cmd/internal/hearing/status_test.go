package hearing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// TestTranscript: a turn of Codex that ends with an error runs no hook, and its transcript
// says that it is over.
func TestTranscript(t *testing.T) {
	line := func(second, kind, more string) string {
		return `{"timestamp":"2026-11-22T23:00:` + second + `.000Z","type":"event_msg","payload":{"type":"` + kind + `"` + more + `}}` + "\n"
	}
	long := strings.Repeat(line("30", "token_count", `,"info":{}`), 2000)
	for name, c := range map[string]struct{ text, want string }{
		"failed":              {line("20", "task_started", "") + line("30", "task_complete", `,"error":{"message":"m"}`), turn.ActivityIdle},
		"and more follows":    {line("30", "task_complete", "") + line("30", "thread_settings_applied", ""), turn.ActivityIdle},
		"at work again":       {line("30", "task_complete", "") + line("31", "task_started", ""), turn.ActivityWorking},
		"an earlier turn":     {line("05", "task_complete", ""), turn.ActivityWorking},
		"at work for long":    {line("30", "task_complete", "") + line("31", "task_started", "") + long, turn.ActivityWorking},
		"the end is far back": {line("30", "task_complete", "") + long, turn.ActivityWorking},
		"said in a message":   {`{"timestamp":"2026-11-22T23:00:30.000Z","type":"response_item","payload":{"type":"task_complete"}}` + "\n", turn.ActivityWorking},
		"half a line":         {line("30", "task_complete", "")[:90], turn.ActivityWorking},
		"no transcript":       {"\x00[]{\n\"event_msg\"\n", turn.ActivityWorking},
		"empty":               {"", turn.ActivityWorking},
	} {
		file := filepath.Join(t.TempDir(), "t.jsonl")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		began := event.NewTime(time.Date(2026, 11, 22, 23, 0, 10, 0, time.UTC))
		d := Doing{What: turn.ActivityWorking, Since: Began{Wall: began}, StatusFile: file}
		if got := d.asHarnessSays(turn.Activity{What: d.What}).What; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	d := Doing{What: turn.ActivityWorking, StatusFile: "/no/such.jsonl"}
	if got := d.asHarnessSays(turn.Activity{What: d.What}).What; got != turn.ActivityWorking {
		t.Errorf("a transcript that is not there: %s", got)
	}
}
