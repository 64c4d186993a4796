package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// A disk is what the machine knows of the files of its room beyond what is in them: what a power cut leaves.
type disk struct {
	folder string    // the room's directory
	synced []byte    // the journal, as it was put on disk last
	states [2][]byte // the last two contents of state.json
}

// ahead returns how many events the journal has beyond what state.json covers; it is negative where that has seen more. No
// fault takes from one of them what the other does not have.
func (w *world) ahead() int64 {
	var state struct{ Journal journal.Position }
	b, _ := os.ReadFile(w.file("state.json"))
	_ = json.Unmarshal(b, &state)
	seq := int64(0)
	for _, e := range eventsIn(w.file("journal.jsonl")) {
		seq = e.Seq
	}
	return seq - state.Journal.Seq
}

// eventsIn returns the events in files, without what is no event.
func eventsIn(paths ...string) (all []event.Event) {
	for _, path := range paths {
		b, _ := os.ReadFile(path)
		for line := range bytes.Lines(b) {
			var e event.Event
			if json.Unmarshal(line, &e) == nil {
				all = append(all, e)
			}
		}
	}
	return all
}

// file returns the path of a file of the room.
func (w *world) file(name string) string { return filepath.Join(w.folder, name) }

// sync notes what is in the journal.
func (w *world) sync() { w.synced, _ = os.ReadFile(w.file("journal.jsonl")) }

// stamp changes when the journal or state.json does.
func (w *world) stamp() (stamp string) {
	for _, name := range []string{"journal.jsonl", "state.json"} {
		if info, err := os.Lstat(w.file(name)); err == nil {
			stamp += fmt.Sprint(info.Size(), info.ModTime(), " ")
		}
	}
	return stamp
}

// glob returns the files below the data directory that match.
func (w *world) glob(pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(w.data, pattern))
	return found
}

// age gives files the time of the simulated clock that count by it, and were written by the clock of the real machine.
// It keeps what state.json was.
func (w *world) age() {
	now := time.Now()
	for _, path := range append(w.glob("listeners/*/activity.json"), w.glob("places/*/*")...) {
		if info, err := os.Lstat(path); err == nil && info.ModTime().After(now.Add(time.Hour)) {
			_ = os.Chtimes(path, now, now)
		}
	}
	if b, err := os.ReadFile(w.file("state.json")); err == nil && !bytes.Equal(b, w.states[1]) {
		w.states = [2][]byte{w.states[1], b}
	}
}

// power is the machine's loss of power: what was not put on disk is there in part. Of the journal
// a share of so many tenths of what was not synced is left; with older, state.json is what it was
// before its last replacement; with emptied, records of agents are empty.
func (w *world) power(a act) bool {
	tenths, older, emptied := a.number(0), a.arg(1) == "1", a.arg(2) == "1"
	for _, x := range w.windows {
		x.alive, x.inTurn = false, false
	}
	for _, p := range w.procs {
		w.doom(p)
	}
	w.bury()
	journal := w.file("journal.jsonl")
	if b, err := os.ReadFile(journal); err == nil && bytes.HasPrefix(b, w.synced) {
		_ = os.Truncate(journal, int64(len(w.synced)+(len(b)-len(w.synced))*tenths/10))
	}
	if older && w.ahead() >= 0 && w.states[0] != nil {
		_ = os.WriteFile(w.file("state.json"), w.states[0], 0o600)
		w.states = [2][]byte{1: w.states[0]}
	}
	if emptied {
		for _, path := range append(w.glob("rooms/*/agents/*/*.json"), w.glob("listeners/*/*.json")...) {
			_ = os.Truncate(path, 0)
		}
	}
	w.boot++
	w.booted = time.Now()
	w.folds()
	return true
}

// cutJournal removes the last lines of the journal, or with all the file.
func (w *world) cutJournal(lines int, all bool) bool {
	path := w.file("journal.jsonl")
	b, err := os.ReadFile(path)
	if err != nil || w.ahead() > 0 {
		return false
	}
	for range lines {
		b = b[:bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n')+1]
	}
	if err = os.WriteFile(path, b, 0o600); all {
		err = os.Remove(path)
	}
	w.sync()
	return err == nil
}

func (w *world) copyDir(name string) string { return filepath.Join(w.base, "copy-"+name) }

// copyRoom copies the room, as cp -a does, for [world.putBack].
func (w *world) copyRoom(name string) bool {
	_ = os.RemoveAll(w.copyDir(name))
	return copyTree(w.folder, w.copyDir(name)) == nil
}

// putBack replaces the room by its copy, or with journal the journal alone.
func (w *world) putBack(name string, journal bool) bool {
	from := w.copyDir(name)
	if modTime(from).IsZero() || journal && w.ahead() > 0 {
		return false
	}
	defer w.sync()
	if journal {
		return copyTree(filepath.Join(from, "journal.jsonl"), w.file("journal.jsonl")) == nil
	}
	_ = os.Rename(w.folder, filepath.Join(w.base, "away-"+strconv.Itoa(w.steps)))
	err := copyTree(from, w.folder)
	b, _ := os.ReadFile(w.file("state.json"))
	w.states = [2][]byte{1: b}
	w.forget()
	return err == nil
}

// copyTree copies a file or directory with all that is in it and the times.
func copyTree(from, to string) error { return exec.Command("cp", "-a", from, to).Run() }

// failures are the errors of calls to the disk, as traces call them.
var failures = map[string]error{"full": syscall.ENOSPC, "io": syscall.EIO, "readonly": syscall.EROFS, "denied": syscall.EACCES}
