//go:build linux

package torture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/fsroomtest"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

func (e *env) room(data string) (*fsroom.Room[*turn.State], error) {
	store, err := fsroom.Open(data, fsroom.Options{NoWatch: true})
	if err != nil {
		return nil, err
	}
	return fsroom.At(store, roomtypes.Stick(), fsroom.RoomName(e.workspace)), nil
}

// events are all committed events of the room, over all its lives.
func (e *env) events(data string) ([]event.Event, error) {
	r, err := e.room(data)
	if err != nil {
		return nil, err
	}
	paths, err := r.Archived()
	if err != nil {
		return nil, err
	}
	return eventsIn(append(paths, r.JournalPath())...)
}

// eventsIn returns the committed events of journals, of those that are there.
func eventsIn(paths ...string) (events []event.Event, err error) {
	for _, path := range paths {
		log, err := journal.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			defer log.Close()
			_, _, err = log.Scan(journal.Position{}, func(ev *event.Event, _ int64) error {
				events = append(events, ev.Clone())
				return nil
			})
		}
		if err != nil {
			return nil, err
		}
	}
	return events, nil
}

// freshText is what the commands of mended write.
const freshText = "fresh"

// mended reports an error unless fresh commands succeed without help after the
// fault, and both checkers then find nothing.
func (e *env) mended(data string) error {
	fresh := []string{"join --agent z:9", "msg send room " + freshText + " --agent z:9"}
	if _, err := os.Stat(filepath.Join(data, "topics")); err == nil {
		fresh = append(fresh, "ask room "+freshText+" --agent z:9")
	}
	if err := e.on(data).ok(fresh...); err != nil {
		return fmt.Errorf("a fresh command fails: %w", err)
	}
	var left []int
	if !eventually(longest, func() bool {
		left = slices.DeleteFunc(processesOf(data), func(pid int) bool { return strings.HasPrefix(commandLine(pid), "tt guard ") })
		return len(left) == 0
	}) {
		return fmt.Errorf("processes do not end: %v", left) // such as records of what a turn changed
	}
	room, err := e.room(data)
	if err != nil {
		return err
	}
	problems := slices.DeleteFunc(fsroomtest.Problems(data, roomtypes.Stick()), sweptLater)
	for _, p := range doctor.Check(room) {
		problems = append(problems, p.File+": "+p.Problem)
	}
	if len(problems) > 0 {
		return fmt.Errorf("after a fresh command: %s", strings.Join(problems, "; "))
	}
	return nil
}

// sweptLater: temporary files that are made without a lock are swept when they
// are a minute old.
func sweptLater(problem string) bool {
	return strings.Contains(problem, "temporary file") &&
		(strings.Contains(problem, "/agents/") || strings.Contains(problem, "/.format") || strings.Contains(problem, "/.probe-"))
}

// kept reports an error unless the events begin with those that were there before.
func kept(before, now []event.Event) error {
	same := func(a, b event.Event) bool {
		return a.ID == b.ID && a.Seq == b.Seq && string(a.Payload) == string(b.Payload)
	}
	if len(now) < len(before) || !slices.EqualFunc(before, now[:len(before)], same) {
		return fmt.Errorf("events that were there are gone: %d, now %d", len(before), len(now))
	}
	return nil
}
