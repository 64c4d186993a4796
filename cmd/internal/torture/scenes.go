//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// A scene is a command and the data directory it is run in.
type scene struct {
	name    string
	before  []string // commands, one per line, that lead to it
	args    string   // NOTE stands for the id of the first open note
	repair  bool     // it mends a journal that is damaged in the middle
	orderly bool     // nothing was left by a kill before
}

const handoff = " --status done --next-action go-on"

// scenes has every command that changes a room.
func scenes() []scene {
	three := []string{"join --agent a:1", "join --agent b:2", "join --agent c:3"}
	owned := append(append([]string{}, three...), "try --agent a:1")
	noted := append(append([]string{}, owned...), "notes add remember --agent a:1")
	given := append(append([]string{}, owned...), "assign b:2 --agent a:1"+handoff)
	return []scene{
		{name: "join a new room", args: "join --agent a:1"},
		{name: "join", before: three, args: "join --agent d:4"},
		{name: "wait", before: three, args: "wait --timeout 1s --agent a:1"},
		{name: "wait that joins", args: "wait --timeout 1s --agent a:1"},
		{name: "try", before: given, args: "try --agent b:2"},
		{name: "release", before: owned, args: "release --agent a:1" + handoff},
		{name: "assign", before: owned, args: "assign b:2 --agent a:1" + handoff},
		{name: "pass", before: owned, args: "pass c:3 --agent a:1" + handoff},
		{name: "take", before: owned, args: "take --reason stuck --operator-requested --agent c:3"},
		{name: "leave", before: owned, args: "leave --agent b:2"},
		{name: "leave as the owner", before: owned, args: "leave --agent a:1"},
		{name: "leave as the last", before: three[:1], args: "leave --agent a:1"},
		{name: "join again", before: []string{"join --agent a:1", "leave --agent a:1"}, args: "join --agent a:1"},
		{name: "kick", before: owned, args: "kick c:3 --force --agent a:1"},
		{name: "msg send", before: owned, args: "msg send room hello --agent b:2"},
		{name: "msg recv", before: append(append([]string{}, owned...), "msg send b:2 hello --agent a:1"), args: "msg recv --agent b:2"},
		{name: "notes add", before: owned, args: "notes add remember --agent a:1"},
		{name: "notes resolve", before: noted, args: "notes resolve NOTE --agent a:1"},
		{name: "policy", before: owned, args: "policy --claim-ttl 5m"},
		{name: "doctor --repair", before: noted, args: "doctor --repair", repair: true},
	}
}

// A stage is a scene ready to be played. Its data directory is copied for each run.
type stage struct {
	scene
	data   string
	args   []string
	before []event.Event
	err    error
}

// stageAll makes the stages of all scenes. The guardians that are killed for them
// have left the process table when it returns: what finds one that is just ending
// makes other calls than what finds none.
func (g *rig) stageAll() (all []*stage) {
	var killed []string
	for _, s := range scenes() {
		st, procs := g.stage(s)
		all, killed = append(all, st), append(killed, procs...)
	}
	for deadline := time.Now().Add(10 * time.Second); len(killed) > 0 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		killed = slices.DeleteFunc(killed, func(proc string) bool { _, err := os.Stat(proc); return err != nil })
	}
	return all
}

// stage plays what leads to the scene. It returns the guardians it killed.
func (g *rig) stage(s scene) (st *stage, killed []string) {
	st = &stage{scene: s, data: g.newDir(), args: append(strings.Fields(s.args), "--json")}
	for _, line := range s.before {
		if r := g.run(st.data, strings.Fields(line)...); r.exit != 0 {
			st.err = fmt.Errorf("tt %s: %v", line, r)
			return st, nil
		}
	}
	killed = g.reap(st.data)
	if i := slices.Index(st.args, "NOTE"); i >= 0 {
		if st.args[i], st.err = g.firstNote(st.data); st.err != nil {
			return st, killed
		}
	}
	if st.before, st.err = g.events(st.data); st.err == nil {
		st.err = g.upset(st.data, s)
	}
	return st, killed
}

// upset leaves in the room of a scene what a kill may have left before: a torn
// tail and a temporary file. One that is to be repaired is damaged.
func (g *rig) upset(data string, s scene) error {
	room, err := g.room(data)
	if err != nil || len(s.before) == 0 || s.orderly || !room.Exists() {
		return err
	}
	if s.repair {
		return damageMiddle(room.JournalPath())
	}
	if err := appendTo(room.JournalPath(), `{"event_seq":`); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(room.Dir(), "tmp", "left"), nil, 0o600)
}

func (g *rig) firstNote(data string) (string, error) {
	var list struct {
		Notes []struct {
			ID string `json:"note_id"`
		}
	}
	r := g.run(data, "notes", "list", "--agent", "a:1")
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || len(list.Notes) == 0 {
		return "", fmt.Errorf("notes list: %v", r)
	}
	return list.Notes[0].ID, nil
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// damagedLine is the line that damageMiddle makes unreadable, from 0.
const damagedLine = 2

func damageMiddle(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(b), "\n")
	lines[damagedLine] = "{damaged" + lines[damagedLine][8:]
	return os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600)
}
