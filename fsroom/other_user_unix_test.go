package fsroom_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stranger is a user without rights of its own, for whom file modes count.
const stranger = 54321

// asStranger runs a part in the data directory as a user for whom file modes count.
func (f *fixture) asStranger(part string) []string {
	f.t.Helper()
	cmd := exec.Command("/proc/self/exe", f.dir)
	if _, err := os.Stat(cmd.Path); err != nil {
		cmd.Path = os.Args[0]
	}
	if os.Getuid() == 0 {
		f.owned(stranger)
		f.t.Cleanup(func() { f.owned(0) })
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	}
	p := startAs(f.t, part, cmd)
	lines := p.rest()
	p.done()
	return lines
}

// owned gives the data directory, and the way to it, to a user.
func (f *fixture) owned(uid int) {
	f.t.Helper()
	f.must(filepath.WalkDir(filepath.Dir(f.dir), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	}))
}

// chmod sets the mode of all files and directories.
func (f *fixture) chmod(file, dir fs.FileMode) {
	f.t.Helper()
	f.must(filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, dir|0o100)
		}
		return os.Chmod(path, file)
	}))
}

// TestReadOnlyDataDirectory can be read; who wants to change it is told why not.
func TestReadOnlyDataDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	before := f.files()
	f.chmod(0o400, 0o500)
	got := f.asStranger("use")
	f.chmod(0o600, 0o700)
	want := []string{"exists true", "view 13", "await ", "event 13", "events ", "update data_dir_unusable", "dir it cannot be written to: permission denied"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if after := f.files(); len(after) != len(before) {
		t.Errorf("%v became %v", before, after)
	}
	f.do(say("b", "hello"))
}

// TestUnreadableState counts as missing: the room is read from its journal, and the
// next change replaces it.
func TestUnreadableState(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	f.must(os.Chmod(f.statePath(), 0))
	got := f.asStranger("use")
	want := []string{"exists true", "view 13", "await ", "event 13", "events ", "update "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if info, err := os.Stat(f.statePath()); err != nil || info.Mode() != 0o600 {
		t.Errorf("state.json afterwards: %v, %v", info.Mode(), err)
	}
}

// TestRootInTheDirectoryOfAnother leaves nothing that this user could not use; what
// is there already is found, and root gives it back.
func TestRootInTheDirectoryOfAnother(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can do that")
	}
	f := newFixture(t)
	f.must(os.Mkdir(f.dir, 0o700))
	f.owned(stranger)
	t.Cleanup(func() { f.owned(0) })
	f.populate()
	a := f.room.Agent("a")
	f.must(a.Mark("seen", time.Now()))
	release, err := a.Hold("waiting")
	f.must(err)
	release()
	f.must(a.Write("note.json", &memo{Text: "hello"}))
	unlock, err := f.room.Store().LockFolder(t.Context(), "rooms")
	f.must(err)
	f.must(unlock())
	f.must(filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Sys().(*syscall.Stat_t).Uid != stranger {
			t.Errorf("%s is root's", path)
		}
		return err
	}))
	f.must(os.Lchown(f.room.Agent("a").Path(""), 0, 0))
	if found := strings.Join(f.problems(), "\n"); !strings.Contains(found, "it belongs to user 0, and the directory to user 54321") {
		t.Errorf("Check finds %q", found)
	}
	f.repair()
}

// TestRoomsAreFoundWithoutAList: a lookup is by name, so it costs the same
// however many rooms there are; it even works where no list can be had.
func TestRoomsAreFoundWithoutAList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	f.must(os.Chmod(filepath.Join(f.dir, "rooms"), 0o300))
	got := f.asStranger("use")
	f.must(os.Chmod(filepath.Join(f.dir, "rooms"), 0o700))
	want := []string{"exists true", "view 13", "await ", "event 13", "events ", "update "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
