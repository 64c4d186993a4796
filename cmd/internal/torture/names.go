//go:build linux

package main

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

// syncedNames looks whether every directory with a name on the way to a journal is
// synced.
func syncedNames(g *rig, r *report) {
	if !haveStrace() {
		r.skip("there is no strace")
		return
	}
	for _, c := range nameCases() {
		r.add(1, 0, 0)
		if err := g.names(c); err != nil {
			r.wrong("%v", err)
		}
	}
}

var synced = regexp.MustCompile(`(?m)(?:fsync|fdatasync)\(\d+<([^>]*)>.*= 0`)

func (g *rig) names(c nameCase) error {
	above := g.newDir()
	data := filepath.Join(above, "data")
	defer g.remove(above)
	defer g.reap(data)
	done := map[string]bool{}
	for i, line := range c.lines {
		trace := above + ".trace"
		how := strace("-y", "-e", "trace=fsync,fdatasync", "-o", trace)
		if c.kill > 0 && i == 0 {
			how = append(how, "-e", fmt.Sprintf("inject=fsync:signal=KILL:when=%d", c.kill))
		}
		res := g.runUnder(data, how, append(strings.Fields(line), "--json")...)
		for _, m := range synced.FindAllStringSubmatch(readTrace(trace), -1) {
			done[m[1]] = true
		}
		if res.exit != 0 && !(c.kill > 0 && i == 0) {
			return fmt.Errorf("%s: tt %s: %v", c.name, line, res)
		}
	}
	room, err := g.room(data)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(room.Dir())); err != nil {
		return err
	}
	for _, dir := range c.dirs {
		path := filepath.Join(data, strings.ReplaceAll(dir, "ROOM", filepath.Base(room.Dir())))
		if !done[path] {
			return fmt.Errorf("%s: acknowledged, and %s was never synced", c.name, path)
		}
	}
	return nil
}
