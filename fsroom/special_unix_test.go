package fsroom_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// planted are the things that can stand in the place of a file. None may be
// written through, and none may make us wait.
func planted() map[string]func(path, outside string) error {
	return map[string]func(path, outside string) error{
		"directory":     func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"symbolic link": func(path, outside string) error { return os.Symlink(outside, path) },
		"link to itself": func(path, _ string) error {
			return os.Symlink(path, path)
		},
		"named pipe": func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"socket": func(path, _ string) error {
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer syscall.Close(fd)
			defer os.Chmod(path, 0o600)
			return syscall.Bind(fd, &syscall.SockaddrUnix{Name: path})
		},
	}
}

// plant puts a thing in the place of a file; the file's content stays outside.
func (f *fixture) plant(path string, thing func(path, outside string) error) (outside string) {
	f.t.Helper()
	outside = filepath.Join(tempDir(f.t), "outside")
	if err := os.Rename(path, outside); err != nil {
		f.t.Fatal(err)
	}
	f.must(thing(path, outside))
	return outside
}

// TestPlantedState: the room works on without its state.json, and replaces it
// where something can be replaced at all.
func TestPlantedState(t *testing.T) {
	t.Parallel()
	for name, thing := range planted() {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			before := f.populate()
			outside := f.plant(f.statePath(), thing)
			content := f.read(outside)
			if got := f.view(); !reflect.DeepEqual(got.State, before.State) {
				t.Errorf("%+v, want %+v", got.State, before.State)
			}
			if found := strings.Join(f.problems(), "\n"); !strings.Contains(found, "not a regular file") {
				t.Errorf("Check finds %q", found)
			}
			f.do(say("b", "hello"))
			if now := f.read(outside); string(now) != string(content) {
				t.Errorf("something was written outside: %s", now)
			}
			if aside, _ := filepath.Glob(f.statePath() + ".aside-*"); len(aside) > 0 != (name == "directory") { // which no rename replaces
				t.Errorf("moved aside: %v", aside)
			}
		})
	}
}

// TestHardLinkedState: a copy made of links is no part of the room.
func TestHardLinkedState(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	before := f.populate()
	outside := f.plant(f.statePath(), func(path, outside string) error { return os.Link(outside, path) })
	content := f.read(outside)
	if got := f.view(); !reflect.DeepEqual(got.State, before.State) {
		t.Errorf("%+v, want %+v", got.State, before.State)
	}
	if found := strings.Join(f.problems(), "\n"); !strings.Contains(found, "2 hard links") {
		t.Errorf("Check finds %q", found)
	}
	f.do(say("b", "hello"))
	if now := f.read(outside); string(now) != string(content) {
		t.Errorf("something was written outside: %s", now)
	}
}

// TestPlantedJournalAndLock are refused with a code, by readers too where it is
// the journal.
func TestPlantedJournalAndLock(t *testing.T) {
	t.Parallel()
	for name, thing := range planted() {
		for _, file := range []string{"journal.jsonl", "lock"} {
			t.Run(name+"/"+file, func(t *testing.T) {
				f := newFixture(t)
				f.populate()
				outside := f.plant(filepath.Join(f.room.Dir(), file), thing)
				content := f.read(outside)
				_, _, updateErr := f.room.Update(context.Background(), say("b", "hello"))
				lockedErr := f.room.Locked(context.Background(), func(*snapshot) error { return nil })
				if code.Of(updateErr) != code.CorruptRoom || code.Of(lockedErr) != code.CorruptRoom {
					t.Errorf("Update: %v; Locked: %v", updateErr, lockedErr)
				}
				var coded *code.Error
				if errors.As(updateErr, &coded); strings.Contains(coded.Hint, "--repair") || !strings.Contains(coded.Hint, "move it away") {
					t.Errorf("hint %q", coded.Hint) // it is not mended by itself
				}
				if file == "journal.jsonl" {
					f.unreadable()
				}
				if now := f.read(outside); string(now) != string(content) {
					t.Errorf("something was written outside: %s", now)
				}
				f.expect("not a regular file")
			})
		}
	}
}

func (f *fixture) unreadable() {
	f.t.Helper()
	_, viewErr := f.room.View()
	_, eventsErr := f.room.Events(context.Background(), 0, func(*event.Event) error { return nil })
	_, followErr := f.room.Follow(context.Background(), 0, func(*event.Event) error { return nil }, nil)
	for name, err := range map[string]error{"View": viewErr, "Events": eventsErr, "Follow": followErr} {
		if code.Of(err) != code.CorruptRoom {
			f.t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPlantedTemporaries: a directory for temporary files that is none, or
// elsewhere, costs the projection and nothing else.
func TestPlantedTemporaries(t *testing.T) {
	t.Parallel()
	for name, thing := range planted() {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.do(join("a"))
			outside := f.plant(filepath.Join(f.room.Dir(), "tmp"), thing)
			f.must(os.WriteFile(filepath.Join(outside, "precious"), nil, 0o600))
			f.do(say("a", "hello"))
			if entries, _ := os.ReadDir(outside); len(entries) != 1 {
				t.Errorf("outside: %v", entries)
			}
			if got := f.view(); got.State.Last != "hello" {
				t.Errorf("%+v", got.State)
			}
			if name != "directory" {
				f.expect("which nothing of ours is")
			}
		})
	}
}

// TestPlantedFormat: what is no file does not make Open wait.
func TestPlantedFormat(t *testing.T) {
	t.Parallel()
	for name, thing := range planted() {
		f := newFixture(t)
		f.do(join("a"))
		f.plant(filepath.Join(f.dir, "format"), thing)
		if _, err := fsroom.Open(f.dir, fsroom.Options{}); code.Of(err) != code.DataDirUnusable {
			t.Errorf("%s: %v", name, err)
		}
		f.must(os.RemoveAll(filepath.Join(f.dir, "format")))
	}
}
