//go:build linux

package torture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/journal/event"
)

// A fixture is a command, and the data directory that it runs in, which is copied for each run.
type fixture struct {
	name    string
	setup   []string // commands, one per line, that make the room
	command string
	repair  bool // the command repairs a journal that is damaged in the middle

	data   string
	args   []string
	before []event.Event
	err    error
}

const (
	handoffStatus = "done"
	handoff       = " --status " + handoffStatus + " --next-action go-on"
)

// allFixtures has every command that changes a room.
func (e *env) allFixtures() []*fixture {
	and := slices.Clone[[]string]
	owned := append(and(members), "try --agent a:1")
	noted := append(and(owned), "notes add remember --agent a:1")
	given := append(and(owned), "assign b:2 --agent a:1"+handoff)
	all := []*fixture{
		{name: "join a new room", command: "join --agent a:1"},
		{name: "join", setup: members, command: "join --agent d:4"},
		{name: "wait", setup: members, command: "wait --timeout 1s --agent a:1"},
		{name: "wait that joins", command: "wait --timeout 1s --agent a:1"},
		{name: "try", setup: given, command: "try --agent b:2"},
		{name: "release", setup: owned, command: "release --agent a:1" + handoff},
		{name: "assign", setup: owned, command: "assign b:2 --agent a:1" + handoff},
		{name: "take", setup: owned, command: "take --reason stuck --operator-requested --agent c:3"},
		{name: "leave", setup: owned, command: "leave --agent b:2"},
		{name: "leave as the owner", setup: owned, command: "leave --agent a:1"},
		{name: "leave as the last", setup: members[:1], command: "leave --agent a:1"},
		{name: "close", setup: owned, command: "close --reason done --agent a:1"},
		{name: "close as a person", setup: given, command: "close --reason done --agent human:ann"},
		{name: "join again", setup: []string{"join --agent a:1", "leave --agent a:1"}, command: "join --agent a:1"},
		{name: "kick", setup: owned, command: "kick c:3 --force --agent a:1"},
		{name: "msg send", setup: owned, command: "msg send room hello --agent b:2"},
		{name: "msg recv", setup: append(and(owned), "msg send b:2 hello --agent a:1"), command: "msg recv --agent b:2"},
		{name: "ask", setup: owned, command: "ask b:2 which --agent a:1"},
		{name: "inbox", setup: append(and(owned), "msg send b:2 hello --agent a:1", "ask b:2 which --agent a:1"), command: "inbox --agent b:2"},
		{name: "notes add", setup: owned, command: "notes add remember --agent a:1"},
		{name: "policy", setup: owned, command: "policy --claim-ttl 5m"},
		{name: "doctor --repair", setup: noted, command: "doctor --repair", repair: true},
	}
	for _, f := range all {
		e.set(f)
	}
	return all
}

// set makes the data directory of a fixture.
func (e *env) set(f *fixture) {
	f.data, f.args = e.newDir(), strings.Fields(f.command)
	h := e.on(f.data)
	if f.err = h.ok(f.setup...); f.err != nil {
		return
	}
	reap(f.data)
	if f.before, f.err = e.events(f.data); f.err == nil {
		f.err = e.leaveTraces(f)
	}
}

// leaveTraces leaves in the room what a killed command may leave: a torn tail and
// a temporary file. A room that is to be repaired is damaged.
func (e *env) leaveTraces(f *fixture) error {
	room, err := e.room(f.data)
	if err != nil || len(f.setup) == 0 || !room.Exists() {
		return err
	}
	b, err := os.ReadFile(room.JournalPath())
	if err != nil {
		return err
	}
	if f.repair {
		lines := strings.SplitAfter(string(b), "\n")
		lines[damagedLine] = "{damaged" + lines[damagedLine][8:]
		return os.WriteFile(room.JournalPath(), []byte(strings.Join(lines, "")), 0o600)
	}
	if err := os.WriteFile(room.JournalPath(), append(b, `{"event_seq":`...), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(room.Dir(), "tmp", "left"), nil, 0o600)
}

// damagedLine is the line, from 0, that leaveTraces makes unreadable.
const damagedLine = 2

// copyTo copies the data directory with its times, as a backup does. A case may
// begin without one.
func (f *fixture) copyTo(data string) error {
	if _, err := os.Stat(f.data); err != nil {
		return nil
	}
	return command("cp", "-a", f.data, data)
}
