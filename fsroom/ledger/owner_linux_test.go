package ledger

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestRootGivesStoreAway: what root stores for the tree of a user, that user can go on with.
func TestRootGivesStoreAway(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	const user = 54321
	f := newFixture(t)
	if err := os.Chown(filepath.Dir(f.root), user, user); err != nil {
		t.Fatal(err)
	}
	f.git("init", "-q")
	f.write("committed.txt", "a")
	f.git("add", "-A")
	f.git("commit", "-qm", "c")
	f.write("new.txt", "b")
	f.take("claim", 1)
	f.MayPrune(time.Hour)
	err := filepath.WalkDir(filepath.Join(filepath.Dir(f.root), "store"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if st := info.Sys().(*syscall.Stat_t); st.Uid != user && st.Nlink == 1 || d.IsDir() && st.Uid != user {
			t.Errorf("%s belongs to %d", path, st.Uid)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
