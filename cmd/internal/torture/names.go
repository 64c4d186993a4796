//go:build linux

package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// syncedNames checks that every directory with a name on the way to a journal is synced
// before a command says that it is done: a file system may forget a name whose directory was
// never synced, however well its file was.
func syncedNames(e *env, r *report) {
	room := []string{"", "rooms", "rooms/ROOM"}
	check := func(name string, kill int, dirs []string, lines ...string) {
		r.add(1, 0, 0)
		r.check(name, e.names(kill, dirs, lines))
	}
	check("a new room", 0, room, "join --agent a:1")
	check("a room that ends", 0, append([]string{"archive", "archive/ROOM"}, room...), "join --agent a:1", "leave --agent a:1")
	for n := range 5 {
		check("a room whose first command was killed", n+1, room, "join --agent a:1", "join --agent b:2")
	}
}

var synced = regexp.MustCompile(`(?m)(?:fsync|fdatasync)\(\d+<([^>]*)>.*= 0`)

// names runs commands, and fails unless the directories were synced, ROOM standing for the room's id.
// The first command is killed at a sync of a directory; 0: it is not.
func (e *env) names(kill int, dirs, lines []string) error {
	above := e.newDir()
	data := filepath.Join(above, "data")
	defer remove(above)
	done := map[string]bool{}
	for i, line := range lines {
		trace := above + ".trace"
		inject, killed := "", kill > 0 && i == 0
		if killed {
			inject = fmt.Sprintf("fsync:signal=KILL:when=%d", kill)
		}
		res := e.on(data).traced(trace, "fsync,fdatasync", inject, strings.Fields(line)...).run()
		calls, _ := os.ReadFile(trace)
		_ = os.Remove(trace)
		for _, m := range synced.FindAllStringSubmatch(string(calls), -1) {
			done[m[1]] = true
		}
		if res.exit != 0 && !killed {
			return fmt.Errorf("tt %v", res)
		}
	}
	room, err := e.room(data)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		path := filepath.Join(data, strings.ReplaceAll(dir, "ROOM", filepath.Base(room.Dir())))
		if !done[path] {
			return fmt.Errorf("acknowledged, and %s was never synced", path)
		}
	}
	return nil
}
