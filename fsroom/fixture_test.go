package fsroom_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/fsroomtest"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// patience is for locks that are only held for a moment, on a machine that may
// be very busy.
const patience = time.Minute

// A fixture is a data directory with one room. When the test is over, everything
// in it must be in order, but for what the test expects.
type fixture struct {
	t        *testing.T
	dir      string
	room     *room
	expected []string
	gap      bool // events were lost on purpose
	odd      bool // events are there twice, on purpose
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return fixtureIn(t, filepath.Join(tempDir(t), "data"))
}

// tempDir is in memory where there is such a thing: how long a sync takes on a
// disk that others use as well is not what is tested. TMPDIR overrides it.
func tempDir(t testing.TB) string {
	t.Helper()
	base := "/dev/shm"
	if _, err := os.Stat(base); err != nil || os.Getenv("TMPDIR") != "" {
		base = os.TempDir()
	}
	dir, err := os.MkdirTemp(base, "fsroom-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func fixtureIn(t *testing.T, dir string) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: dir}
	f.room = f.at(fsroom.Options{})
	t.Cleanup(f.verify)
	return f
}

// at is the fixture's room in a store with other options.
func (f *fixture) at(o fsroom.Options) *room {
	f.t.Helper()
	return fsroom.At(openStore(f.t, f.dir, o), tallyRules, "demo")
}

// openStore opens a store that polls unless it says otherwise with a BlindPoll:
// there are not watchers enough for a store per test.
func openStore(t testing.TB, dir string, o fsroom.Options) *fsroom.Store {
	t.Helper()
	if o.Patience == 0 {
		o.Patience = patience
	}
	if o.BlindPoll == 0 {
		o.NoWatch = true
	}
	s, err := fsroom.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// expect declares what Check finds at the end: every problem has one of the
// parts in it, and every part is found.
func (f *fixture) expect(parts ...string) { f.expected = append(f.expected, parts...) }

func (f *fixture) verify() {
	f.t.Helper()
	seen := map[string]bool{}
	for _, p := range f.problems() {
		i := slices.IndexFunc(f.expected, func(part string) bool { return strings.Contains(p, part) })
		if i < 0 {
			f.t.Errorf("Check: %s", p)
			continue
		}
		seen[f.expected[i]] = true
	}
	for _, part := range f.expected {
		if !seen[part] {
			f.t.Errorf("Check does not find %q", part)
		}
	}
	if len(f.expected) > 0 || f.odd {
		return
	}
	for _, p := range fsroomtest.Problems(f.dir, tallyRules) {
		if !f.gap || !strings.Contains(p, "is due") {
			f.t.Error(p)
		}
	}
}

// problems is what Check finds in all rooms, as lines.
func (f *fixture) problems() []string {
	store := openStore(f.t, f.dir, fsroom.Options{})
	entries, _ := os.ReadDir(filepath.Join(f.dir, tallyRules.Folder))
	var lines []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		for _, p := range doctor.Check(fsroom.At(store, tallyRules, e.Name())) {
			lines = append(lines, fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Problem))
		}
	}
	return lines
}

// do changes the room, which must work.
func (f *fixture) do(decisions ...decision) *snapshot {
	f.t.Helper()
	return change(f.t, f.room, decisions...)
}

func change(t testing.TB, r *room, decisions ...decision) *snapshot {
	t.Helper()
	var last *snapshot
	for _, decide := range decisions {
		snap, _, err := r.Update(context.Background(), decide)
		if err != nil {
			t.Fatal(err)
		}
		last = snap
	}
	return last
}

// view is the room as a store that was never used before reads it.
func (f *fixture) view() *snapshot {
	f.t.Helper()
	snap, err := f.at(fsroom.Options{}).View()
	if err != nil {
		f.t.Fatal(err)
	}
	return snap
}

// populate makes a room with a bit of everything, in its second life.
func (f *fixture) populate() *snapshot {
	f.t.Helper()
	return f.do(join("a"), turnOn("a"), say("a", "one"), leave("a"),
		join("b"), join("c"), turnOn("b"), say("b", "Grüße"), say("c", strings.Repeat("x", 300)), turnOn("c"))
}

// history is every committed event of all lives, oldest first, in a form to compare.
func (f *fixture) history() []string {
	f.t.Helper()
	paths, err := f.room.Archived()
	if err != nil {
		f.t.Fatal(err)
	}
	var lines []string
	for _, path := range append(paths, f.room.JournalPath()) {
		if _, err := os.Stat(path); err == nil {
			lines = append(lines, eventsIn(f.t, path)...)
		}
	}
	return lines
}

func eventsIn(t testing.TB, path string) []string {
	t.Helper()
	log, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var lines []string
	_, _, err = log.Scan(journal.Position{}, func(e *event.Event, _ int64) error {
		lines = append(lines, line(*e))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func line(e event.Event) string {
	return fmt.Sprintf("%d %s turn %d by %s: %s (%s)", e.Seq, e.Type, e.Turn, e.From, e.Payload, e.ID)
}

// files is the content of every file that holds history, and of all others the
// name: what a refusal must leave as it was.
func (f *fixture) files() map[string]string {
	f.t.Helper()
	content := map[string]string{}
	err := filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == f.dir {
			return nil
		}
		if err != nil || d.IsDir() || d.Name() == "lock" || d.Name() == "format" {
			return err
		}
		b, err := os.ReadFile(path)
		if len(b) > 0 { // a journal that nothing was ever written to is none
			content[strings.TrimPrefix(path, f.dir)] = string(b)
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return content
}

func (f *fixture) statePath() string { return filepath.Join(f.room.Dir(), "state.json") }

func (f *fixture) read(path string) []byte {
	f.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

func (f *fixture) write(path string, b []byte) {
	f.t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}
