package simulation

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// A disk is what the machine knows of the files of its room beyond what is in them: what a power cut leaves.
type disk struct {
	room   string          // the room's directory
	synced []byte          // the journal, as it was put on disk last
	states [2][]byte       // the last two contents of state.json
	copies map[string]bool // whether a copy of the room, by name, is lone
	// lone is set while one of state.json and the journal is, or may be, older than the other, by a fault, and no change
	// has come since: no second fault takes the other one.
	lone bool
}

// file returns the path of a file of the room.
func (d *disk) file(name string) string { return filepath.Join(d.room, name) }

// sync notes what is in the journal.
func (d *disk) sync() { d.synced, _ = os.ReadFile(d.file("journal.jsonl")) }

// stamp changes when the journal or state.json does.
func (d *disk) stamp() (stamp string) {
	for _, name := range []string{"journal.jsonl", "state.json"} {
		if info, err := os.Lstat(d.file(name)); err == nil {
			stamp += strconv.FormatInt(info.Size(), 10) + " " + info.ModTime().String() + " "
		}
	}
	return stamp
}

// glob returns the files below the data directory that match.
func (m *Machine) glob(pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(m.data, pattern))
	return found
}

// age gives files the time of the simulated clock that count by it, and were written by the clock of the real machine.
// It keeps what state.json was.
func (m *Machine) age() {
	now := time.Now()
	for _, path := range append(m.glob("listeners/*/activity.json"), m.glob("places/*/*")...) {
		if info, err := os.Lstat(path); err == nil && info.ModTime().After(now.Add(time.Hour)) {
			_ = os.Chtimes(path, now, now)
		}
	}
	d := &m.disk
	if b, err := os.ReadFile(d.file("state.json")); err == nil && !bytes.Equal(b, d.states[1]) {
		d.states, d.lone = [2][]byte{d.states[1], b}, false
	}
}

// powerCut is the machine's loss of power: what was not put on disk is there in part. Of the journal
// a share of so many tenths of what was not synced is left; with older, state.json is what it was
// before its last replacement; with emptied, records of agents are empty.
func (m *Machine) powerCut(tenths int, older, emptied bool) {
	d := &m.disk
	lone := d.lone
	for _, p := range m.procs {
		m.doom(p)
	}
	m.bury()
	d.lone = lone
	if b, err := os.ReadFile(d.file("journal.jsonl")); err == nil && bytes.HasPrefix(b, d.synced) {
		_ = os.Truncate(d.file("journal.jsonl"), int64(len(d.synced)+(len(b)-len(d.synced))*tenths/10))
	}
	if older && !d.lone && d.states[0] != nil {
		_ = os.WriteFile(d.file("state.json"), d.states[0], 0o600)
		d.states, d.lone = [2][]byte{1: d.states[0]}, true
	}
	if emptied {
		for _, path := range append(m.glob("rooms/*/agents/*/*.json"), m.glob("listeners/*/*.json")...) {
			_ = os.Truncate(path, 0)
		}
	}
	clear(m.others)
	clear(m.live)
	m.boot++
	m.booted = time.Now()
}

// cutJournal removes the last lines of the journal, or with all the file.
func (m *Machine) cutJournal(lines int, all bool) bool {
	d := &m.disk
	path := d.file("journal.jsonl")
	b, err := os.ReadFile(path)
	if d.lone || err != nil {
		return false
	}
	for range lines {
		b = b[:bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n')+1]
	}
	if err = os.WriteFile(path, b, 0o600); all {
		err = os.Remove(path)
	}
	d.sync()
	d.lone = err == nil
	return d.lone
}

func (m *Machine) copyDir(name string) string { return filepath.Join(m.base, "copy-"+name) }

// copyRoom copies the room, as cp -a does, for [Machine.putBack].
func (m *Machine) copyRoom(name string) bool {
	to := m.copyDir(name)
	_ = os.RemoveAll(to)
	delete(m.disk.copies, name)
	if copyTree(m.disk.room, to) != nil {
		return false
	}
	m.disk.copies[name] = m.disk.lone
	return true
}

// putBack replaces the room by its copy, or with journal the journal alone.
func (m *Machine) putBack(name string, journal bool) bool {
	d := &m.disk
	lone, ok := d.copies[name]
	if !ok || journal && d.lone {
		return false
	}
	from, err := m.copyDir(name), error(nil)
	if journal {
		err = copyTree(filepath.Join(from, "journal.jsonl"), d.file("journal.jsonl"))
	} else {
		_ = os.Rename(d.room, filepath.Join(m.base, "away-"+strconv.Itoa(m.steps)))
		err = copyTree(from, d.room)
		b, _ := os.ReadFile(d.file("state.json"))
		d.states = [2][]byte{1: b}
	}
	d.sync()
	d.lone = journal && err == nil || !journal && lone
	return err == nil
}

// copyTree copies a file or directory with all that is in it and the times.
func copyTree(from, to string) error {
	return filepath.Walk(from, func(path string, info os.FileInfo, err error) error {
		at := to + path[len(from):]
		switch {
		case err != nil:
			return err
		case info.IsDir():
			return os.MkdirAll(at, 0o700)
		}
		b, err := os.ReadFile(path)
		return cmp.Or(err, os.WriteFile(at, b, 0o600), os.Chtimes(at, info.ModTime(), info.ModTime()))
	})
}

// failures are the errors of calls to the disk, as traces call them.
var failures = map[string]error{"full": syscall.ENOSPC, "io": syscall.EIO, "readonly": syscall.EROFS, "denied": syscall.EACCES}
