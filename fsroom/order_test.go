package fsroom_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// A recorder notes what a change does to the disk, in order: its steps, and the
// directories that it syncs, with whether the room has its journal by then.
type recorder struct {
	f        *fixture
	done     []string
	failStep fsroom.Step
	failDir  string
}

func (r *recorder) options() fsroom.Options {
	return fsroom.Options{Fault: r.step, SyncDir: r.syncDir, Sync: func(log *journal.Log) error {
		r.done = append(r.done, "sync")
		return log.Sync()
	}}
}

func (r *recorder) step(s fsroom.Step) error {
	switch s {
	case fsroom.StepAppend, fsroom.StepReplace, fsroom.StepArchive:
		r.done = append(r.done, string(s))
	}
	if s == r.failStep {
		return syscall.EIO
	}
	return nil
}

func (r *recorder) syncDir(dir string) error {
	name, err := filepath.Rel(filepath.Dir(r.f.dir), dir)
	if err != nil {
		return err
	}
	if name == r.failDir {
		return syscall.EIO
	}
	if !r.f.room.Exists() && slices.Contains(r.done, "archive") {
		name += " after the move"
	}
	r.done = append(r.done, "sync "+name)
	return lockfile.SyncDir(dir)
}

// The directories above a journal, which make its name durable.
var above = []string{"sync data/rooms/demo", "sync data/rooms", "sync data", "sync ."}

// TestOrderOnDisk: every name on the way to a journal is durable before its first
// line, and every change is covered by state.json before the next is appended.
func TestOrderOnDisk(t *testing.T) {
	t.Parallel()
	join, lines := join("a"), func(parts ...string) []string { return parts }
	first := append(slices.Clone(above), "append", "sync", "replace")
	tests := map[string]struct {
		prepare func(f *fixture)
		change  decision
		want    []string
	}{
		"first of a room": {func(*fixture) {}, join, first},
		"later":           {func(f *fixture) { f.do(join) }, say("a", "one"), lines("append", "sync", "replace")},
		"first after a kill before the append": {func(f *fixture) {
			_, _, err := f.at(fsroom.Options{Fault: (&fault{step: fsroom.StepAppend, err: syscall.EIO}).hit}).Update(context.Background(), join)
			if _, statErr := os.Stat(f.room.JournalPath()); err == nil || statErr != nil {
				f.t.Errorf("%v, %v", err, statErr)
			}
		}, join, first},
		"first after a torn one": {func(f *fixture) {
			f.do(join)
			f.must(os.Remove(f.statePath()))
			f.must(os.Truncate(f.room.JournalPath(), 50))
		}, join, first},
		"behind a change that state.json does not cover": {func(f *fixture) {
			f.do(join)
			f.dying(fsroom.StepReplace, say("a", "one"))
		}, say("a", "two"), lines("sync", "replace", "append", "sync", "replace")},
		"nothing, behind such a change": {func(f *fixture) {
			f.do(join)
			f.dying(fsroom.StepReplace, say("a", "one"))
		}, nothing, lines("sync", "replace")},
		"the end of the first life": {func(f *fixture) { f.do(join) }, leave("a"),
			lines("append", "sync", "archive", "sync data/archive", "sync data", "sync data/archive/demo after the move", "sync data/rooms/demo after the move", "replace")},
		"the end of a later life": {func(f *fixture) { f.do(join, leave("a"), join) }, leave("a"),
			lines("append", "sync", "archive", "sync data/archive/demo after the move", "sync data/rooms/demo after the move", "replace")},
		"a new life": {func(f *fixture) { f.do(join, leave("a")) }, join, first},
		"a new life, whose counters were not written down": {func(f *fixture) {
			f.do(join)
			f.dying(fsroom.StepReplace, leave("a"))
		}, join, append(lines("replace"), first...)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			test.prepare(f)
			r := &recorder{f: f}
			change(t, f.at(r.options()), test.change)
			if !slices.Equal(r.done, test.want) {
				t.Errorf("%s\nwant\n%s", strings.Join(r.done, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestLockedTellsWhatStays: what a killed writer has left is on disk before somebody acts on it under the lock.
func TestLockedTellsWhatStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	f.dying(fsroom.StepReplace, say("a", "one"))
	r := &recorder{f: f}
	err := f.at(r.options()).Locked(t.Context(), func(*snapshot) error {
		r.done = append(r.done, "told")
		return nil
	})
	if want := []string{"sync", "replace", "told"}; err != nil || !slices.Equal(r.done, want) {
		t.Errorf("%v: %q, want %q", err, r.done, want)
	}
}

// TestStateFollowsTheCommit: the new state.json is drafted beside the journal's sync, and gets its name
// when the change is committed. A step that fails there leaves no draft.
func TestStateFollowsTheCommit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	before := f.read(f.statePath())
	_, _, err := f.room.UpdateThen(t.Context(), say("a", "one"), func() {
		if !bytes.Equal(f.read(f.statePath()), before) {
			t.Error("state.json was replaced before the commit")
		}
	})
	if err != nil || bytes.Equal(f.read(f.statePath()), before) {
		t.Errorf("%v, or state.json was not replaced", err)
	}
	f.dying(fsroom.StepReplace, say("a", "two"))
	if left, err := os.ReadDir(f.room.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left in tmp: %v, %v", left, err)
	}
	f.do(say("a", "three"))
}

// TestCommitFailsBesideTheDraft: a change whose journal cannot be synced leaves the old state.json, and
// nothing in tmp, however long the new one takes.
func TestCommitFailsBesideTheDraft(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	before, returned, drafted := f.read(f.statePath()), make(chan bool), false
	r := f.at(fsroom.Options{
		Sync: func(*journal.Log) error { return syscall.EIO },
		Prepare: func(path string, data []byte, tempDir string) (*lockfile.Draft, error) {
			select {
			case <-returned: // too early
			case <-time.After(100 * time.Millisecond):
			}
			drafted = true
			return lockfile.Prepare(path, data, tempDir)
		},
	})
	_, _, err := r.Update(t.Context(), say("a", "one"))
	close(returned)
	if !errors.Is(err, syscall.EIO) || !drafted || !bytes.Equal(f.read(f.statePath()), before) {
		t.Errorf("%v, drafted %v, or state.json was replaced", err, drafted)
	}
	if left, err := os.ReadDir(f.room.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left in tmp: %v, %v", left, err)
	}
	f.do(say("a", "two"))
}

// TestDraftFails: then state.json is replaced without one.
func TestDraftFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	change(t, f.at(fsroom.Options{Prepare: func(string, []byte, string) (*lockfile.Draft, error) { return nil, syscall.ENOSPC }}), say("a", "one"))
	if snap, err := f.room.Cached(); err != nil || snap == nil || snap.Position != f.view().Position {
		t.Errorf("%+v, %v", snap, err)
	}
}

// TestOrderAboveTheDataDirectory: directories that are made on the way to it have
// durable names as well.
func TestOrderAboveTheDataDirectory(t *testing.T) {
	t.Parallel()
	base := tempDir(t)
	f := fixtureIn(t, filepath.Join(base, "share", "stick", "data"))
	var synced []string
	o := fsroom.Options{SyncDir: func(dir string) error {
		name, err := filepath.Rel(base, dir)
		synced = append(synced, name)
		return err
	}}
	change(t, f.at(o), join("a"))
	want := []string{".", "share", "share/stick/data/rooms/demo", "share/stick/data/rooms", "share/stick/data", "share/stick"}
	if !slices.Equal(synced, want) {
		t.Errorf("%q, want %q", synced, want)
	}
}

// TestRepairSyncsWhatItReplaces: the damaged bytes have a durable name before the
// journal is replaced, and the new journal has one when the repair is done.
func TestRepairSyncsWhatItReplaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "one"))
	f.write(f.room.JournalPath(), bytes.Replace(f.read(f.room.JournalPath()), []byte(joined), []byte("join\""), 1))
	r := &recorder{f: f}
	var kept, mended []bool
	o := r.options()
	sync := o.SyncDir
	o.SyncDir = func(dir string) error {
		kept = append(kept, len(f.kept(f.room.Dir(), "journal.damaged-*")) > 0)
		mended = append(mended, bytes.Contains(f.read(f.room.JournalPath()), []byte(event.Damaged)))
		return sync(dir)
	}
	doctor.Repair(context.Background(), fsroom.At(openStore(t, f.dir, o), tallyRules, "demo"))
	want := []string{"sync data/rooms/demo", "sync data/rooms/demo"}
	if len(r.done) < 2 || !slices.Equal(r.done[:2], want) || !slices.Equal(kept[:2], []bool{true, true}) || !slices.Equal(mended[:2], []bool{false, true}) {
		t.Errorf("%q, kept %v, mended %v", r.done, kept, mended)
	}
}

// TestDirectorySyncFails: before the commit it refuses the change, and nothing has
// happened; after it nothing is told.
func TestDirectorySyncFails(t *testing.T) {
	t.Parallel()
	for _, line := range above {
		f := newFixture(t)
		r := &recorder{f: f, failDir: strings.TrimPrefix(line, "sync ")}
		_, _, err := f.at(r.options()).Update(context.Background(), join("a"))
		if code.Of(err) != code.DataDirUnusable || !errors.Is(err, syscall.EIO) || f.room.Exists() || slices.Contains(r.done, "append") {
			t.Errorf("%s: %v, done %q", line, err, r.done)
		}
		f.do(join("a"))
	}
	for _, dir := range []string{"data/archive", "data", "data/archive/demo", "data/rooms/demo"} {
		f := newFixture(t)
		f.do(join("a"))
		r := &recorder{f: f, failDir: dir}
		if snap := change(t, f.at(r.options()), leave("a")); snap.State.Open {
			t.Errorf("%s: %+v", dir, snap.State)
		}
		f.do(join("b"))
		if n := len(f.history()); n != 6 {
			t.Errorf("%s: %d events", dir, n)
		}
	}
}

// TestUnreadableParent: the directory above the data directory may belong to another user and
// not be readable.
func TestUnreadableParent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := fsroom.Options{SyncDir: func(dir string) error {
		if dir == filepath.Dir(f.dir) {
			return &os.PathError{Op: "open", Path: dir, Err: syscall.EACCES}
		}
		return nil
	}}
	change(t, f.at(o), join("a"))
}
