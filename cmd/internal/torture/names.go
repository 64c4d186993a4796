//go:build linux

package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A nameCase is commands of which the last has to put names on the disk before it
// says that it is done: a file system may forget a name whose directory was never
// synced, however well its file was.
type nameCase struct {
	name  string
	lines []string
	kill  int      // the first is killed at this sync of a directory; 0: never
	dirs  []string // that must have been synced, ROOM standing for the room's id
}

func nameCases() []nameCase {
	room := []string{"", "rooms", "rooms/ROOM"}
	cases := []nameCase{
		{"a new room", []string{"join --agent a:1"}, 0, room},
		{"a room that ends", []string{"join --agent a:1", "leave --agent a:1"}, 0, append([]string{"archive", "archive/ROOM"}, room...)},
	}
	for n := range 5 {
		cases = append(cases, nameCase{"a room whose first command was killed", []string{"join --agent a:1", "join --agent b:2"}, n + 1, room})
	}
	return cases
}

// syncedNames checks that every directory with a name on the way to a journal is
// synced.
func syncedNames(e *env, r *report) {
	for _, c := range nameCases() {
		r.add(1, 0, 0)
		r.check(c.name, e.names(c))
	}
}

var synced = regexp.MustCompile(`(?m)(?:fsync|fdatasync)\(\d+<([^>]*)>.*= 0`)

func (e *env) names(c nameCase) error {
	above := e.newDir()
	data := filepath.Join(above, "data")
	defer remove(above)
	done := map[string]bool{}
	for i, line := range c.lines {
		trace := above + ".trace"
		// It detaches from the guardian, for which it would wait otherwise.
		how := []string{"strace", "-f", "-qq", "-b", "execve", "-y", "-e", "trace=fsync,fdatasync", "-o", trace}
		killed := c.kill > 0 && i == 0
		if killed {
			how = append(how, "-e", fmt.Sprintf("inject=fsync:signal=KILL:when=%d", c.kill))
		}
		h := e.on(data)
		res := h.process(append(how, h.command(strings.Fields(line)...).Args...)...).run()
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
	for _, dir := range c.dirs {
		path := filepath.Join(data, strings.ReplaceAll(dir, "ROOM", filepath.Base(room.Dir())))
		if !done[path] {
			return fmt.Errorf("acknowledged, and %s was never synced", path)
		}
	}
	return nil
}
