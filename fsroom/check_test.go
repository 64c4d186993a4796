package fsroom_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/doctor"
)

// TestCheckFinds one problem each, and the next change mends what it can.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		harm func(*fixture) error
		want string
	}{
		"a file for all to read": {
			func(f *fixture) error { return os.Chmod(f.room.JournalPath(), 0o644) }, "journal.jsonl:0: others have access to it (mode 0644)",
		},
		"a directory for all": {
			func(f *fixture) error { return os.Chmod(f.room.Dir(), 0o755) }, "demo:0: others have access to it (mode 0755)",
		},
		"a temporary file": {
			func(f *fixture) error { return os.WriteFile(filepath.Join(f.room.Dir(), "tmp", "x"), nil, 0o600) }, "tmp:0: 1 file left",
		},
		"a torn tail":     {func(f *fixture) error { f.tear(); return nil }, "journal.jsonl:0: 47 bytes of an unfinished change"},
		"a damaged state": {func(f *fixture) error { return os.Truncate(f.statePath(), 20) }, "state.json:0: it is damaged"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.populate()
			f.must(test.harm(f))
			if got := f.problems(); len(got) != 1 || !strings.Contains(got[0], test.want) {
				t.Errorf("Check finds %q", got)
			}
			f.do(say("b", "goes on")) // which puts it in order
		})
	}
}

// TestCheckFindsStoryThatDiffers: a state.json with all its sums right that is
// not what the journal folds to, as a bug in the rules would leave it.
func TestCheckFindsStoryThatDiffers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	other := *tallyRules
	other.Clone = func(s *tally) *tally {
		c := tallyRules.Clone(s)
		c.Last = "forgotten"
		c.In = append(c.In, "nobody")
		return c
	}
	change(t, fsroom.At(openStore(t, f.dir, fsroom.Options{}), &other, "demo"), say("b", "hello"))
	f.expect("it is not what the journal folds to")
}

// TestCheckLetsStateBeBehind: it is a cache, and every reader folds the rest.
func TestCheckLetsStateBeBehind(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	f.dying(fsroom.StepReplace, say("a", "hello"))
	if got := f.problems(); len(got) != 0 {
		t.Errorf("Check finds %q", got)
	}
	f.do(nothing)
}

// TestCheckOfNoRoom: a room that never was has no problem.
func TestCheckOfNoRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if got := doctor.Check(f.room); len(got) != 0 {
		t.Errorf("Check finds %v", got)
	}
}

// TestCheckOfRoomAtWork finds nothing, at whichever step of a change it looks.
func TestCheckOfRoomAtWork(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]decision{"in one life": join("a"), "life after life": nothing} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.do(before)
			writer := start(t, "churn", f.dir, "b")
			writer.line() // it is at work
			for range 40 {
				for _, p := range doctor.Check(f.room) {
					t.Errorf("Check finds %+v", p)
				}
			}
			writer.kill()
			f.do(join("a"))
		})
	}
}

// TestTemporaryDirectoryComesBack with the next change.
func TestTemporaryDirectoryComesBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	f.must(os.RemoveAll(filepath.Join(f.room.Dir(), "tmp")))
	f.do(say("a", "hello")) // the fixture sees whether state.json is up to date
}

// TestCheckChangesNothing.
func TestCheckChangesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	f.tear()
	f.must(os.Remove(f.statePath()))
	before := f.files()
	f.problems()
	if after := f.files(); len(after) != len(before) {
		t.Errorf("%v became %v", before, after)
	}
	f.do(nothing)
}
