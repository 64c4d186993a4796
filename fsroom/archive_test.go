package fsroom_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
)

// live leads a life of five events.
func (f *fixture) live(who string) *snapshot {
	f.t.Helper()
	return f.do(join(who), turnOn(who), leave(who))
}

// TestEndedLifeIsArchived as plain JSON Lines, and the room is not there until
// it is joined again.
func TestEndedLifeIsArchived(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "hello"))
	before := f.history()
	if !f.room.Exists() {
		t.Error("a live room does not exist")
	}
	ended := f.do(leave("a"))
	if f.room.Exists() || ended.State.Open {
		t.Errorf("exists: %v, state %+v", f.room.Exists(), ended.State)
	}
	if names := f.names(); len(names) != 0 {
		t.Errorf("rooms %v", names)
	}
	paths, err := f.room.Archived()
	if err != nil || len(paths) != 1 || filepath.Base(paths[0]) != "000000000001-000000000005.jsonl" {
		t.Fatalf("archived: %v, %v", paths, err)
	}
	if got := eventsIn(t, paths[0]); len(got) != 5 || !slices.Equal(got[:3], before) {
		t.Errorf("archived %q", got)
	}
	f.do(join("b"))
	if names := f.names(); !slices.Equal(names, []string{"demo"}) {
		t.Errorf("rooms %v", names)
	}
}

// TestEndedLifePutBack: a copy of a room that was made before its life ended is no room, to readers either.
func TestEndedLifePutBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), turnOn("a"))
	state, lines := f.read(f.statePath()), f.read(f.room.JournalPath())
	info, err := os.Stat(f.room.JournalPath())
	f.must(err)
	ended := f.do(leave("a"))
	f.write(f.statePath(), state)
	f.write(f.room.JournalPath(), lines)
	f.must(os.Chtimes(f.room.JournalPath(), info.ModTime(), info.ModTime()))
	if snap := f.view(); snap.State.Open || snap.Position.Seq != ended.Position.Seq {
		t.Errorf("open %v at event %d, want the end at %d", snap.State.Open, snap.Position.Seq, ended.Position.Seq)
	}
	f.do(join("b"))
}

func (f *fixture) names() []string {
	f.t.Helper()
	names, err := fsroom.Rooms(openStore(f.t, f.dir, fsroom.Options{}), tallyRules)
	f.must(err)
	return names
}

// TestCountersGoOn over two lives, with state.json lost at any of the times
// between the changes.
func TestCountersGoOn(t *testing.T) {
	t.Parallel()
	const changes = 6
	for lost := range 1 << changes {
		f := newFixture(t)
		for n := range changes {
			who := fmt.Sprint("agent", n/3)
			snap := f.do([]decision{join(who), turnOn(who), leave(who)}[n%3])
			if want := int64(n/3 + min(n%3, 1)); snap.State.Turn != want {
				t.Errorf("lost %b, change %d: turn %d, want %d", lost, n, snap.State.Turn, want)
			}
			if lost>>n&1 == 1 {
				f.must(os.Remove(f.statePath()))
				if again := f.view(); again.Position != snap.Position || again.State.Turn != snap.State.Turn {
					t.Errorf("lost %b, change %d: %+v, was %+v", lost, n, again, snap)
				}
			}
		}
		if f.verify(); t.Failed() {
			return
		}
	}
}

// TestKilledOnTheWayToTheArchive: whichever of the steps after their commits two
// changes do not get to, event_seq and turn_id go on, and no archive is lost.
func TestKilledOnTheWayToTheArchive(t *testing.T) {
	t.Parallel()
	for _, atJoin := range []fsroom.Step{"none", fsroom.StepReplace} {
		for _, atLeave := range []fsroom.Step{"none", fsroom.StepReplace, fsroom.StepArchive} {
			t.Run(fmt.Sprintf("%s,%s", atJoin, atLeave), func(t *testing.T) {
				f := newFixture(t)
				f.live("a")
				f.dying(atJoin, join("b"))
				f.do(turnOn("b"))
				f.dying(atLeave, leave("b"))
				f.dying(atJoin, join("c"))
				f.dying(atLeave, leave("c"))
				ended := f.view()
				if ended.State.Open || ended.State.Turn != 2 || ended.Position.Seq != 14 {
					t.Errorf("%+v at %+v", ended.State, ended.Position)
				}
				if got := len(f.history()); got != 14 {
					t.Errorf("%d events are left", got)
				}
				f.live("d")
				if paths, err := f.room.Archived(); len(paths) != 4 {
					t.Errorf("archived: %v, %v", paths, err)
				}
			})
		}
	}
}

// dying makes a change in a store that does not get beyond a step after the commit.
func (f *fixture) dying(step fsroom.Step, decide decision) {
	f.t.Helper()
	committed := false
	change(f.t, f.at(fsroom.Options{Fault: func(s fsroom.Step) error {
		committed = committed || s == fsroom.StepAppend
		if committed && s == step {
			return syscall.EIO
		}
		return nil
	}}), decide)
}

// TestUnarchivedLifeIsOver for readers, and the next writer moves it, even one
// that then changes nothing.
func TestUnarchivedLifeIsOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	endUnarchived(f)
	if s := f.view(); s.State.Open {
		t.Errorf("%+v", s.State)
	}
	if found := strings.Join(f.problems(), "\n"); !strings.Contains(found, "not archived") {
		t.Errorf("Check finds %q", found)
	}
	f.do(nothing)
	if f.room.Exists() {
		t.Error("the journal is still there")
	}
}

// TestRoomOlderThanArchive: a directory put together from two copies has the archive of a life that
// is not over in it. The archive has its last event, so it is over.
func TestRoomOlderThanArchive(t *testing.T) {
	for name, when := range map[string]func(*fixture, time.Time) error{
		"the time of the journal kept": func(f *fixture, at time.Time) error { return os.Chtimes(f.room.JournalPath(), at, at) },
		"another time":                 func(*fixture, time.Time) error { return nil },
		"no state":                     func(f *fixture, _ time.Time) error { return os.Remove(f.statePath()) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.do(join("a"), turnOn("a"))
			journal, state := f.read(f.room.JournalPath()), f.read(f.statePath())
			info, err := os.Stat(f.room.JournalPath())
			f.must(err)
			f.do(leave("a"))
			f.write(f.room.JournalPath(), journal) // the room was copied before, the archive after
			f.write(f.statePath(), state)
			f.must(when(f, info.ModTime()))
			before := f.archives()
			if _, _, err := f.room.Update(t.Context(), say("a", "still here")); code.Of(err) != code.NotJoined {
				t.Errorf("Update: %v", err)
			}
			if f.room.Exists() || f.view().Position.Seq != 5 {
				t.Errorf("the room has not ended: %+v", f.view())
			}
			if s := f.do(join("b")); s.Position.Seq != 7 || s.State.Turn != 1 {
				t.Errorf("%+v at %+v", s.State, s.Position)
			}
			if after := f.archives(); !maps.Equal(before, after) {
				t.Errorf("archived: %v", slices.Collect(maps.Keys(after)))
			}
			if kept := f.kept(f.room.Dir(), "journal.jsonl.aside-*"); len(kept) != 1 || kept[0] != string(journal) {
				t.Errorf("kept %q", kept)
			}
		})
	}
}

func (f *fixture) archives() map[string]string {
	f.t.Helper()
	paths, err := f.room.Archived()
	f.must(err)
	content := map[string]string{}
	for _, path := range paths {
		content[path] = string(f.read(path))
	}
	return content
}

// TestNewerArchiveThanState: an archive that was counted further than state.json
// knows is right, and so is a state.json that knows more than the archive.
func TestNewerArchiveThanState(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.live("a")
	old := f.read(f.statePath())
	f.live("b")
	want := f.view()
	now := f.read(f.statePath())

	f.write(f.statePath(), old)
	if got := f.view(); got.Position != want.Position || got.State.Turn != want.State.Turn {
		t.Errorf("from an old state.json: %+v at %+v", got.State, got.Position)
	}
	f.write(f.statePath(), now)
	f.must(os.RemoveAll(f.room.ArchiveDir()))
	if got := f.view(); !reflect.DeepEqual(got.State, want.State) || got.Position != want.Position {
		t.Errorf("without an archive: %+v at %+v", got.State, got.Position)
	}
	f.do(join("c"))
	f.gap = true
}

// TestForeignFilesInTheArchive are no lives.
func TestForeignFilesInTheArchive(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.live("a")
	for _, name := range []string{"README", "notes-9999.txt", "x-y.jsonl", "000000000001-000000000099.jsonl.gz"} {
		f.write(filepath.Join(f.room.ArchiveDir(), name), []byte("?"))
	}
	f.must(os.Mkdir(filepath.Join(f.room.ArchiveDir(), "000000000001-000000000099.jsonl"), 0o700))
	f.must(os.Remove(f.statePath()))
	if s := f.view(); s.Position.Seq != 5 {
		t.Errorf("at %+v", s.Position)
	}
	f.must(os.RemoveAll(f.room.ArchiveDir()))
}

// TestDamagedArchive is told, where nothing else knows the counters.
func TestDamagedArchive(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.live("a")
	paths, err := f.room.Archived()
	f.must(err)
	f.write(paths[0], append(f.read(paths[0]), "damage\n"...))
	f.view() // state.json knows
	f.must(os.Remove(f.statePath()))
	_, err = f.room.View()
	if err == nil || !strings.Contains(err.Error(), paths[0]+":6") {
		t.Errorf("View: %v", err)
	}
	f.expect(paths[0] + ":6")
}
