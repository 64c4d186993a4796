package fsroom_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRepairPlanted: what stands in the place of a file of ours is moved aside
// and what it points to stays as it is; but not in the place of the journal.
func TestRepairPlanted(t *testing.T) {
	t.Parallel()
	for name, thing := range planted() {
		for _, file := range []string{"state.json", "lock", "tmp", "agents", "journal.jsonl"} {
			t.Run(name+"/"+file, func(t *testing.T) {
				if name == "directory" && (file == "tmp" || file == "agents") {
					t.Skip("that is what it is")
				}
				f := newFixture(t)
				f.populate()
				outside := f.plant(filepath.Join(f.room.Dir(), file), thing)
				before, _ := os.Stat(outside)
				got := f.repair()
				if len(got) == 0 || got[0].Repaired != (file != "journal.jsonl") {
					t.Errorf("Repair: %+v", got)
				}
				if after, err := os.Stat(outside); err != nil || after.ModTime() != before.ModTime() || after.Mode() != before.Mode() {
					t.Errorf("outside: %v, was %v (%v)", after, before, err)
				}
				if file == "journal.jsonl" {
					f.expect("not a regular file")
					return
				}
				f.do(say("b", "goes on"))
				aside, _ := filepath.Glob(filepath.Join(f.room.Dir(), "*.aside-*"))
				if len(aside) != 1 {
					t.Fatalf("moved aside: %q", aside)
				}
				f.must(os.RemoveAll(aside[0]))
			})
		}
	}
}

// TestRepairHardLinks: the room gets files of its own.
func TestRepairHardLinks(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"state.json", "lock", "journal.jsonl"} {
		f := newFixture(t)
		f.populate()
		path := filepath.Join(f.room.Dir(), file)
		outside := f.plant(path, func(path, outside string) error { return os.Link(outside, path) })
		content := string(f.read(outside))
		if got := f.repair(); len(got) != 1 || !got[0].Repaired {
			t.Errorf("Repair: %+v", got)
		}
		f.do(say("b", "goes on"))
		if now := string(f.read(outside)); now != content {
			t.Errorf("%s: something was written outside", file)
		}
	}
}

// TestRepairGivesToRoot: as root, a file of another user goes to the owner of the directory, also if
// that is root.
func TestRepairGivesToRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	f := newFixture(t)
	f.populate()
	if err := os.Chown(f.statePath(), 4321, 4321); err != nil {
		t.Skip(err)
	}
	if got := f.repair(); len(got) != 1 || !got[0].Repaired {
		t.Errorf("Repair: %+v", got)
	}
}
