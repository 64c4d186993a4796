//go:build linux

package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	sim "github.com/talking-stick/tt/cmd/internal/simulation/machine"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/fsroomtest"
	"github.com/talking-stick/tt/journal/event"
)

// journals are those of the room in a directory, of all its lives.
func journals(dir string) []string {
	past, _ := filepath.Glob(filepath.Join(dir, "archive", "*", "*.jsonl"))
	now, _ := filepath.Glob(filepath.Join(dir, "rooms", "*", "journal.jsonl"))
	return append(past, now...)
}

// events are those of the journals of a room at rest.
func events(dir string) []event.Event { return sim.Events(journals(dir)...) }

// fresh is who runs the commands of mended.
const fresh = "z:9"

// mended returns the events of the room, and an error unless fresh commands succeed without help after the
// fault, and both checkers then find nothing.
func (e *env) mended(data string) ([]event.Event, error) {
	commands := []string{"join --agent " + fresh, "msg send room fresh --agent " + fresh}
	if _, err := os.Stat(filepath.Join(data, "topics")); err == nil {
		commands = append(commands, "ask room fresh --agent "+fresh)
	}
	if err := e.on(data).ok(commands...); err != nil {
		return nil, fmt.Errorf("a fresh command fails: %w", err)
	}
	var left []int // such as records of what a turn changed
	if !eventually(longest, func() bool { _, left = processesOf(data); return len(left) == 0 }) {
		return nil, fmt.Errorf("processes do not end: %v", left)
	}
	problems := slices.DeleteFunc(fsroomtest.Problems(data, roomtypes.Stick()), sweptLater)
	store, err := fsroom.Open(data, fsroom.Options{NoWatch: true})
	if err != nil {
		return nil, err
	}
	for _, p := range doctor.Check(fsroom.At(store, roomtypes.Stick(), fsroom.RoomName(e.workspace))) {
		problems = append(problems, p.File+": "+p.Problem)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("after a fresh command: %s", strings.Join(problems, "; "))
	}
	return events(data), nil
}

// sweptLater: temporary files that are made without a lock are swept when they
// are a minute old.
func sweptLater(problem string) bool {
	return strings.Contains(problem, "temporary file") &&
		(strings.Contains(problem, "/agents/") || strings.Contains(problem, "/.format") || strings.Contains(problem, "/.probe-"))
}
