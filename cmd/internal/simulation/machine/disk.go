package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// A Disk is a data directory, and what the machine knows of the files of one room beyond what is in them: what a power cut leaves.
type Disk struct {
	Data   string    // the data directory
	Room   string    // the room's directory
	synced []byte    // the journal, as it was put on disk last
	states [2][]byte // the last two contents of state.json
}

// File returns the path of a file of the room.
func (d *Disk) File(name string) string { return filepath.Join(d.Room, name) }

// Glob returns the files below the data directory that match.
func (d *Disk) Glob(pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(d.Data, pattern))
	return found
}

// Events returns the events in files, without what is no event.
func Events(paths ...string) (all []event.Event) {
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

// ahead returns how many events the journal has beyond what state.json covers; it is negative where that has seen more. No
// fault takes from one of them what the other does not have.
func (d *Disk) ahead() int64 {
	var state struct{ Journal journal.Position }
	b, _ := os.ReadFile(d.File("state.json"))
	_ = json.Unmarshal(b, &state)
	seq := int64(0)
	for _, e := range Events(d.File("journal.jsonl")) {
		seq = e.Seq
	}
	return seq - state.Journal.Seq
}

// Sync notes what is in the journal.
func (d *Disk) Sync() { d.synced, _ = os.ReadFile(d.File("journal.jsonl")) }

// Stamp changes when the journal or state.json does.
func (d *Disk) Stamp() (stamp string) {
	for _, name := range []string{"journal.jsonl", "state.json"} {
		if info, err := os.Lstat(d.File(name)); err == nil {
			stamp += fmt.Sprint(info.Size(), info.ModTime(), " ")
		}
	}
	return stamp
}

// ModTime returns when a file was changed, zero if there is none.
func ModTime(path string) time.Time {
	if info, err := os.Lstat(path); err == nil {
		return info.ModTime()
	}
	return time.Time{}
}

// Age gives files the time of the simulated clock that count by it, and were written by the clock of the real machine.
// It keeps what state.json was.
func (d *Disk) Age() {
	now := time.Now()
	for _, path := range append(d.Glob("listeners/*/activity.json"), d.Glob("places/*/*")...) {
		if ModTime(path).After(now.Add(time.Hour)) {
			_ = os.Chtimes(path, now, now)
		}
	}
	if b, err := os.ReadFile(d.File("state.json")); err == nil && !bytes.Equal(b, d.states[1]) {
		d.states = [2][]byte{d.states[1], b}
	}
}

// Power is a loss of power: what was not put on disk is there in part. Of the journal
// a share of so many tenths of what was not synced is left; with older, state.json is what it was
// before its last replacement; with emptied, records of agents are empty.
func (d *Disk) Power(tenths int, older, emptied bool) {
	journal := d.File("journal.jsonl")
	if b, err := os.ReadFile(journal); err == nil && bytes.HasPrefix(b, d.synced) {
		_ = os.Truncate(journal, int64(len(d.synced)+(len(b)-len(d.synced))*tenths/10))
	}
	if older && d.ahead() >= 0 && d.states[0] != nil {
		_ = os.WriteFile(d.File("state.json"), d.states[0], 0o600)
		d.states = [2][]byte{1: d.states[0]}
	}
	if emptied {
		for _, path := range append(d.Glob("rooms/*/agents/*/*.json"), d.Glob("listeners/*/*.json")...) {
			_ = os.Truncate(path, 0)
		}
	}
}

// Cut removes the last lines of the journal, or with all the file. It returns false where it does nothing.
func (d *Disk) Cut(lines int, all bool) bool {
	path := d.File("journal.jsonl")
	b, err := os.ReadFile(path)
	if err != nil || d.ahead() > 0 {
		return false
	}
	for range lines {
		b = b[:bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n')+1]
	}
	if err = os.WriteFile(path, b, 0o600); all {
		err = os.Remove(path)
	}
	d.Sync()
	return err == nil
}

// PutBack replaces the room by its copy and keeps it at another place; with "" it replaces the journal alone. It returns false
// where it does nothing.
func (d *Disk) PutBack(from, away string) bool {
	if ModTime(from).IsZero() || away == "" && d.ahead() > 0 {
		return false
	}
	defer d.Sync()
	if away == "" {
		return CopyTree(filepath.Join(from, "journal.jsonl"), d.File("journal.jsonl"))
	}
	_ = os.Rename(d.Room, away)
	done := CopyTree(from, d.Room)
	b, _ := os.ReadFile(d.File("state.json"))
	d.states = [2][]byte{1: b}
	return done
}

// CopyTree copies a file or directory with all that is in it and the times. It reports whether it could.
func CopyTree(from, to string) bool {
	return exec.Command("cp", "-a", from, to).Run() == nil
}

// Store completes the options of the store of a process: each step of it is a point, and a call to the disk may fail.
func (p *Proc) Store(o *fsroom.Options, d *Disk) {
	o.NoWatch, o.BlindPoll, o.BlindPollMax = true, 5*time.Second, 20*time.Second
	o.Sleep = p.Await
	o.Fault = func(s fsroom.Step) error {
		p.Point()
		if s == fsroom.StepDone || s == fsroom.StepUnlock {
			return nil
		}
		return p.Fail(string(s))
	}
	o.Sync = func(*journal.Log) error {
		p.Point()
		err := p.Fail("sync")
		if err == nil {
			d.Sync()
		}
		return err
	}
	o.SyncDir = func(string) error { return p.Fail("sync directory") }
}

// Fail returns the error of a call to the disk.
func (p *Proc) Fail(what string) error {
	if p.Killed {
		return fs.ErrClosed
	}
	if p.FailAt == 0 || !p.Mine() {
		return nil
	}
	if p.FailAt--; p.FailAt > 0 {
		return nil
	}
	p.Failed = what
	return &fs.PathError{Op: what, Path: "x", Err: p.Failure}
}
