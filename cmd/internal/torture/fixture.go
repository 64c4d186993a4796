//go:build linux

package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// A sweepCase is a command and how the room it runs in is made.
type sweepCase struct {
	name   string
	setup  []string // commands, one per line, that make the room
	args   string   // NOTE stands for the id of the first open note
	repair bool     // the command repairs a journal that is damaged in the middle
	clean  bool     // no killed command has left anything in the room
}

const (
	handoffStatus = "done"
	handoff       = " --status " + handoffStatus + " --next-action go-on"
)

// sweepCases has every command that changes a room.
func sweepCases() []sweepCase {
	three := []string{"join --agent a:1", "join --agent b:2", "join --agent c:3"}
	and := slices.Clone[[]string]
	owned := append(and(three), "try --agent a:1")
	noted := append(and(owned), "notes add remember --agent a:1")
	given := append(and(owned), "assign b:2 --agent a:1"+handoff)
	return []sweepCase{
		{name: "join a new room", args: "join --agent a:1"},
		{name: "join", setup: three, args: "join --agent d:4"},
		{name: "wait", setup: three, args: "wait --timeout 1s --agent a:1"},
		{name: "wait that joins", args: "wait --timeout 1s --agent a:1"},
		{name: "try", setup: given, args: "try --agent b:2"},
		{name: "release", setup: owned, args: "release --agent a:1" + handoff},
		{name: "assign", setup: owned, args: "assign b:2 --agent a:1" + handoff},
		{name: "pass", setup: owned, args: "pass c:3 --agent a:1" + handoff},
		{name: "take", setup: owned, args: "take --reason stuck --operator-requested --agent c:3"},
		{name: "leave", setup: owned, args: "leave --agent b:2"},
		{name: "leave as the owner", setup: owned, args: "leave --agent a:1"},
		{name: "leave as the last", setup: three[:1], args: "leave --agent a:1"},
		{name: "close", setup: owned, args: "close --reason done --agent a:1"},
		{name: "close as a person", setup: given, args: "close --reason done --agent human:ann"},
		{name: "join again", setup: []string{"join --agent a:1", "leave --agent a:1"}, args: "join --agent a:1"},
		{name: "kick", setup: owned, args: "kick c:3 --force --agent a:1"},
		{name: "msg send", setup: owned, args: "msg send room hello --agent b:2"},
		{name: "msg recv", setup: append(and(owned), "msg send b:2 hello --agent a:1"), args: "msg recv --agent b:2"},
		{name: "ask", setup: owned, args: "ask b:2 which --agent a:1"},
		{name: "inbox", setup: append(and(owned), "msg send b:2 hello --agent a:1", "ask b:2 which --agent a:1"), args: "inbox --agent b:2"},
		{name: "notes add", setup: owned, args: "notes add remember --agent a:1"},
		{name: "notes resolve", setup: noted, args: "notes resolve NOTE --agent a:1"},
		{name: "policy", setup: owned, args: "policy --claim-ttl 5m"},
		{name: "doctor --repair", setup: noted, args: "doctor --repair", repair: true},
	}
}

// A fixture is the data directory of a case, which is copied for each run.
type fixture struct {
	sweepCase
	data   string
	args   []string
	before []event.Event
	killed []int // guardians
	err    error
}

// allFixtures makes the fixtures of all cases. When it returns, the guardians that
// it killed have left the process table: a command that finds one that is just
// ending makes other calls than one that finds none.
func (e *env) allFixtures() (all []*fixture) {
	var killed []int
	for _, c := range sweepCases() {
		f := e.fixture(c)
		all, killed = append(all, f), append(killed, f.killed...)
	}
	eventually(10*time.Second, func() bool {
		killed = slices.DeleteFunc(killed, func(pid int) bool { _, err := os.Stat(fmt.Sprint("/proc/", pid)); return err != nil })
		return len(killed) == 0
	})
	return all
}

func (e *env) fixture(c sweepCase) *fixture {
	f := &fixture{sweepCase: c, data: e.newDir(), args: strings.Fields(c.args)}
	if f.err = e.ok(f.data, c.setup...); f.err != nil {
		return f
	}
	f.killed = reap(f.data)
	if i := slices.Index(f.args, "NOTE"); i >= 0 {
		f.args[i] = noteID.FindString(e.run(f.data, "notes", "list", "--agent", "a:1").stdout)
	}
	if f.before, f.err = e.events(f.data); f.err == nil {
		f.err = e.leaveTraces(f.data, c)
	}
	return f
}

// leaveTraces leaves in the room what a killed command may leave: a torn tail and
// a temporary file. A room that is to be repaired is damaged.
func (e *env) leaveTraces(data string, c sweepCase) error {
	room, err := e.room(data)
	if err != nil || len(c.setup) == 0 || c.clean || !room.Exists() {
		return err
	}
	b, err := os.ReadFile(room.JournalPath())
	if err != nil {
		return err
	}
	if c.repair {
		lines := strings.SplitAfter(string(b), "\n")
		lines[damagedLine] = "{damaged" + lines[damagedLine][8:]
		return os.WriteFile(room.JournalPath(), []byte(strings.Join(lines, "")), 0o600)
	}
	if err := os.WriteFile(room.JournalPath(), append(b, `{"event_seq":`...), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(room.Dir(), "tmp", "left"), nil, 0o600)
}

var noteID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

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
