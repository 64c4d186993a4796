package simulation

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/journal"
)

// A disk is what the machine knows of its files beyond what is in them: what a power cut leaves.
type disk struct {
	m      *Machine
	synced map[string][]byte // journals, as they were put on disk last
	states [][2]string       // the last two contents of state.json, with the path
	copies map[string]string // directories with copies of the rooms, by name
	// lone is set while one of state.json and the journal is older than it was, by a fault, and no change has come since:
	// no second fault takes the other one.
	lone bool
}

// options completes the options of the store of a process.
func (p *proc) options(o *fsroom.Options) {
	o.NoWatch, o.BlindPoll, o.BlindPollMax = true, 5*time.Second, 20*time.Second
	o.Sleep = p.await
	o.Fault = func(s fsroom.Step) error {
		p.point()
		if s == fsroom.StepDone || s == fsroom.StepUnlock {
			return nil
		}
		return p.fail(string(s))
	}
	o.Sync = func(log *journal.Log) error {
		p.point()
		if err := p.fail("sync"); err != nil {
			return err
		}
		p.m.disk.sync()
		return nil
	}
	o.SyncDir = func(string) error { return p.fail("sync directory") }
}

// fail returns the error of a call to the disk.
func (p *proc) fail(what string) error {
	if p.killed {
		return errKilled
	}
	if p.failAt == 0 || goid() != p.goid {
		return nil
	}
	if p.failAt--; p.failAt > 0 {
		return nil
	}
	p.failed = what
	p.m.logf("%s: %s fails: %v", p.name, what, p.failure)
	return &fs.PathError{Op: what, Path: filepath.Join(p.m.data, "x"), Err: p.failure}
}

// failures are the errors of calls to the disk, as traces call them.
var failures = map[string]error{"full": syscall.ENOSPC, "io": syscall.EIO, "readonly": syscall.EROFS, "denied": syscall.EACCES}

// sync notes what is in the journals.
func (d *disk) sync() {
	for _, path := range d.m.glob("rooms/*/journal.jsonl") {
		if b, err := os.ReadFile(path); err == nil {
			d.synced[path] = b
		}
	}
}

// stamp changes when a journal changes.
func (d *disk) stamp() string {
	var b strings.Builder
	for _, path := range d.m.glob("rooms/*/journal.jsonl") {
		if info, err := os.Lstat(path); err == nil {
			b.WriteString(path + " " + strconv.FormatInt(info.Size(), 10) + " " + info.ModTime().String())
		}
	}
	return b.String()
}

// age gives files the time of the simulated clock that count by it, and were written by the
// clock of the real machine. It keeps what state.json was.
func (d *disk) age() {
	now := time.Now()
	for _, pattern := range []string{"listeners/*/activity.json", "places/*/*"} {
		for _, path := range d.m.glob(pattern) {
			if info, err := os.Lstat(path); err == nil && info.ModTime().After(now.Add(time.Hour)) {
				_ = os.Chtimes(path, now, now)
			}
		}
	}
	for _, path := range d.m.glob("rooms/*/state.json") {
		b, err := os.ReadFile(path)
		if n := len(d.states); err == nil && (n == 0 || d.states[n-1] != [2]string{path, string(b)}) {
			d.states, d.lone = append(d.states[max(0, n-1):], [2]string{path, string(b)}), false
		}
	}
}

// powerCut is the machine's loss of power: what was not put on disk is there in part. Of the journal
// a share of so many tenths of what was not synced is left; with older, state.json is what it was
// before its last replacement; with emptied, records of agents are empty.
func (m *Machine) powerCut(tenths int, older, emptied bool) {
	for _, p := range m.procs {
		m.kill(p)
	}
	for _, path := range m.glob("rooms/*/journal.jsonl") {
		b, err := os.ReadFile(path)
		durable := m.disk.synced[path]
		if err != nil || !bytes.HasPrefix(b, durable) {
			continue
		}
		_ = os.Truncate(path, int64(len(durable)+(len(b)-len(durable))*tenths/10))
	}
	if d := &m.disk; older && !d.lone && len(d.states) == 2 && d.states[0][0] == d.states[1][0] {
		_ = os.WriteFile(d.states[0][0], []byte(d.states[0][1]), 0o600)
		d.states, d.lone = d.states[:1], true
	}
	if emptied {
		for _, pattern := range []string{"rooms/*/agents/*/*.json", "listeners/*/*.json"} {
			for _, path := range m.glob(pattern) {
				_ = os.Truncate(path, 0)
			}
		}
	}
	clear(m.others)
	clear(m.live)
	m.boot++
	m.booted = time.Now()
}

// cutJournal removes the last lines of the journal, or with all the file.
func (m *Machine) cutJournal(lines int, all bool) bool {
	cut := false
	if m.disk.lone {
		return false
	}
	for _, path := range m.glob("rooms/*/journal.jsonl") {
		if all {
			cut = os.Remove(path) == nil || cut
			continue
		}
		b, err := os.ReadFile(path)
		for range lines {
			b = b[:bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n')+1]
		}
		cut = err == nil && os.WriteFile(path, b, 0o600) == nil || cut
	}
	m.disk.sync()
	m.disk.lone = cut
	return cut
}

// copyRooms copies the rooms, as cp -a does, for [Machine.putBack].
func (m *Machine) copyRooms(name string) {
	to := filepath.Join(m.base, "copy-"+name)
	_ = os.RemoveAll(to)
	if copyTree(filepath.Join(m.data, "rooms"), to) == nil {
		m.disk.copies[name] = to
	}
}

// putBack replaces each room by its copy, or with journal the journal alone.
func (m *Machine) putBack(name string, journal bool) bool {
	from, ok := m.disk.copies[name]
	if !ok || journal && m.disk.lone {
		return false
	}
	done := false
	rooms, _ := os.ReadDir(from)
	for _, room := range rooms {
		to := filepath.Join(m.data, "rooms", room.Name())
		if journal {
			done = copyTree(filepath.Join(from, room.Name(), "journal.jsonl"), filepath.Join(to, "journal.jsonl")) == nil || done
			continue
		}
		_ = os.Rename(to, filepath.Join(m.base, "away-"+strconv.Itoa(m.steps)))
		done = copyTree(filepath.Join(from, room.Name()), to) == nil || done
	}
	m.disk.sync()
	m.disk.lone = journal && done
	return done
}

// copyTree copies a file or directory with all that is in it and the times.
func copyTree(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
		entries, err := os.ReadDir(from)
		for _, e := range entries {
			err = errors.Join(err, copyTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
		}
		return err
	}
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}
