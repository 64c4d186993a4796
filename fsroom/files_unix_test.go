package fsroom_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// everything tells all that is below a directory: names, modes, times and content.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		content := ""
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(raw)
		}
		b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + " " + content + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPlantedDirectories: no command reads or writes outside of the data directory if one of its
// directories is replaced by a link.
func TestPlantedDirectories(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"rooms", "rooms/demo", "rooms/demo/agents", "rooms/demo/agents/AGENT", "rooms/demo/agents/AGENT/tmp", "archive", "archive/demo"} {
		t.Run(strings.ReplaceAll(dir, "/", " "), func(t *testing.T) {
			f := newFixture(t)
			f.do(join("a"), leave("a"), join("a"))
			a := f.room.Agent("a")
			f.must(a.Mark("seen", time.Now()))
			f.must(a.Write("cursor.json", &memo{"one"}))
			path := filepath.Join(f.dir, strings.ReplaceAll(dir, "AGENT", filepath.Base(a.Path(""))))
			outside := f.plant(path, func(path, outside string) error { return os.Symlink(outside, path) })
			old := time.Unix(1e9, 0)
			f.must(os.WriteFile(filepath.Join(outside, "precious"), []byte("mine"), 0o644))
			f.must(os.Chtimes(filepath.Join(outside, "precious"), old, old))
			before := everything(t, outside)
			f.useAll()
			if after := everything(t, outside); after != before {
				t.Errorf("outside there was\n%sand is\n%s", before, after)
			}
			f.must(os.Remove(path))
			f.must(os.Remove(filepath.Join(outside, "precious")))
			f.must(os.Rename(outside, path))
			f.do(join("a"), say("a", "all is well again"))
		})
	}
}

func (f *fixture) useAll() {
	ctx := context.Background()
	r := f.at(fsroom.Options{})
	_, viewErr := r.View()
	_, _, updateErr := r.Update(ctx, say("a", "hello"))
	_, _, endErr := r.Update(ctx, leave("a"))
	_, _, againErr := r.Update(ctx, join("a"))
	_ = r.Locked(ctx, func(*snapshot) error { return nil })
	_, _ = r.Events(ctx, 0, func(*event.Event) error { return nil })
	a := r.Agent("a")
	_ = a.Mark("seen", time.Now())
	_ = a.EnsureWakeFile()
	a.Notify()
	if release, err := a.Hold("waiting"); err == nil {
		release()
	}
	_ = a.Held("waiting")
	_ = a.Write("cursor.json", &memo{"two"})
	_ = a.Remove("cursor.json")
	for _, err := range []error{viewErr, updateErr, endErr, againErr} {
		if c := code.Of(err); err != nil && c != code.CorruptRoom {
			f.t.Errorf("%v", err)
		}
	}
}

// TestSharedJournal: a journal with a second name outside is not written to; the
// room goes on with one of its own, even if what was planted is empty.
func TestSharedJournal(t *testing.T) {
	t.Parallel()
	for _, empty := range []bool{false, true} {
		f := newFixture(t)
		f.do(join("a"), say("a", "one"))
		outside := filepath.Join(tempDir(t), "outside")
		if empty {
			f.do(leave("a"))
			f.must(os.WriteFile(outside, nil, 0o600))
			f.must(os.Link(outside, f.room.JournalPath()))
		} else {
			f.must(os.Link(f.room.JournalPath(), outside))
		}
		before := f.read(outside)
		f.do(join("a"), say("a", "two"), turnOn("a"))
		if after := f.read(outside); string(after) != string(before) {
			t.Errorf("empty %v: outside there was %q and is %q", empty, before, after)
		}
		if got := f.view().State; got.Last != "two" || got.Turn == 0 {
			t.Errorf("empty %v: %+v", empty, got)
		}
	}
}

// TestSharedMark: nor is the time of a file outside set.
func TestSharedMark(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	a, old := f.room.Agent("a"), time.Unix(1e9, 0)
	f.must(a.Mark("seen", time.Now()))
	outside := filepath.Join(tempDir(t), "outside")
	f.must(os.WriteFile(outside, nil, 0o600))
	f.must(os.Chtimes(outside, old, old))
	for name, plant := range map[string]func(old, new string) error{"link": os.Symlink, "hard link": os.Link} {
		f.must(os.Remove(a.Path("seen")))
		f.must(plant(outside, a.Path("seen")))
		now := time.Now().Truncate(time.Second)
		f.must(a.Mark("seen", now))
		if info, err := os.Stat(outside); err != nil || !info.ModTime().Equal(old) {
			t.Errorf("%s: %v, %v", name, info.ModTime(), err)
		}
		if got := a.Marked("seen"); !got.Equal(now) {
			t.Errorf("%s: marked %v, want %v", name, got, now)
		}
	}
}

// TestModesAreMended, with one line about it however many they are; who only
// examines leaves them.
func TestModesAreMended(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	paths := []string{filepath.Dir(f.room.Dir()), f.room.Dir(), f.room.JournalPath()}
	for _, path := range paths {
		f.must(os.Chmod(path, 0o777))
	}
	if len(f.problems()) == 0 {
		t.Error("Check finds nothing")
	}
	var lines []string
	change(t, f.at(fsroom.Options{Warn: func(line string) { lines = append(lines, line) }}), say("a", "hello"))
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if len(lines) != 1 || !strings.Contains(lines[0], paths[0]+" (mode 0777)") {
		t.Errorf("%q", lines)
	}
}
