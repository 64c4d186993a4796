package fsroom_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/doctor"
)

// TestLeftoversOfTheDirectory: temporary files are removed when no process can be writing
// them any more.
func TestLeftoversOfTheDirectory(t *testing.T) {
	t.Parallel()
	f := fixtureIn(t, filepath.Join(tempDir(t), "data [1]"))
	f.do(join("a"))
	young, old := filepath.Join(f.dir, ".format1"), filepath.Join(f.dir, ".format2")
	f.write(young, nil)
	f.write(old, nil)
	f.must(os.Chtimes(old, time.Now(), time.Now().Add(-time.Hour)))
	change(t, fsroom.At(openStore(t, f.dir, fsroom.Options{}), tallyRules, "another"), join("a"))
	if _, err := os.Lstat(old); err == nil {
		t.Error("the old one is still there")
	}
	if _, err := os.Lstat(young); err != nil {
		t.Errorf("the young one: %v", err)
	}
	f.must(os.Remove(young))
}

// TestCheckDir finds what others may read, mends it when asked, and finds what
// is among the rooms and is none.
func TestCheckDir(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	store := openStore(t, f.dir, fsroom.Options{})
	if got := doctor.CheckDir(store, false); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	archive := filepath.Join(f.dir, "archive")
	f.must(os.Chmod(archive, 0o755))
	if got := doctor.CheckDir(store, false); len(got) != 1 || got[0].File != archive || got[0].Repaired {
		t.Errorf("%+v", got)
	}
	if got := doctor.CheckDir(store, true); len(got) != 1 || !got[0].Repaired {
		t.Errorf("%+v", got)
	}
	stranger := filepath.Join(f.dir, "rooms", "stranger")
	f.must(os.Symlink(archive, stranger))
	if got := doctor.CheckDir(store, true); len(got) != 1 || !strings.Contains(got[0].Problem, "symbolic link and no room") {
		t.Errorf("%+v", got)
	}
	f.must(os.Remove(stranger))
}
