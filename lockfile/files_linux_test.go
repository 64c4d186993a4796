package lockfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/talking-stick/tt/lockfile"
)

// TestRootGivesFilesAway: a file that root creates in the directory of a user can be used by
// that user, in the directory itself and through temporary files elsewhere.
func TestRootGivesFilesAway(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir, temp := t.TempDir(), t.TempDir()
	const user, group = 54321, 54322
	if err := os.Chown(dir, user, group); err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, create := range map[string]func(path string) error{
		"replaced": func(p string) error { return lockfile.Replace(p, nil, temp) },
		"unsynced": func(p string) error { return lockfile.ReplaceUnsynced(p, nil, temp) },
		"held": func(p string) error {
			release, err := lockfile.Hold(p)
			if err == nil {
				release()
			}
			return err
		},
		"locked": func(p string) error {
			unlock, err := lockfile.Lock(t.Context(), p)
			if err == nil {
				err = unlock()
			}
			return err
		},
		"adopted": func(p string) error {
			err := os.Mkdir(p, 0o700)
			lockfile.Adopt(p)
			return err
		},
	} {
		if err := create(path(name)); err != nil {
			t.Fatal(name, err)
		}
		info, err := os.Stat(path(name))
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != user || st.Gid != group {
			t.Errorf("%s belongs to %d:%d", name, st.Uid, st.Gid)
		}
	}
}
