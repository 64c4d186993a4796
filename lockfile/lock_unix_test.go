package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestKilledHolderFreesTheLock(t *testing.T) {
	path := inTemp(t, "lock")
	holder := start(t, "lock", path)
	busy(t, path)
	holder.kill(t)
	free(t, path)
}

// What stands where a lock file should be, and is refused by every function.
var impostors = []struct {
	name string
	mode fs.FileMode
	make func(path string) error
}{
	{"link", fs.ModeSymlink, func(path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "target"), path) }},
	{"FIFO", fs.ModeNamedPipe, func(path string) error { return syscall.Mkfifo(path, 0o600) }},
	{"directory", fs.ModeDir, func(path string) error { return os.Mkdir(path, 0o700) }},
}

func TestOtherThanFilesAreRefused(t *testing.T) {
	calls := map[string]func(string) error{
		"Lock": func(path string) error { _, err := Lock(t.Context(), path); return err },
		"Hold": func(path string) error { _, err := Hold(path); return err },
		"Held": func(path string) error { _, err := Held(path); return err },
	}
	for _, imp := range impostors {
		for name, call := range calls {
			t.Run(name+"/"+imp.name, func(t *testing.T) {
				path := inTemp(t, "lock")
				check(t, imp.make(path))
				var refused *NotRegularError
				if err := call(path); !errors.As(err, &refused) || refused.Mode != imp.mode || refused.Path != path {
					t.Errorf("got %v", err)
				}
				if _, err := os.Stat(filepath.Join(filepath.Dir(path), "target")); err == nil {
					t.Error("created the target of a link")
				}
			})
		}
	}
}

func TestLinkToAFileIsRefused(t *testing.T) {
	target, path := inTemp(t, "target"), inTemp(t, "lock")
	check(t, os.WriteFile(target, nil, 0o600))
	check(t, os.Symlink(target, path))
	var refused *NotRegularError
	if _, err := Lock(t.Context(), path); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

func TestLockedFIFOIsNotWaitedFor(t *testing.T) {
	path := inTemp(t, "lock")
	check(t, syscall.Mkfifo(path, 0o600))
	h := openFlock(path)
	if locked, err := h.TryLock(); !locked {
		t.Fatal(err)
	}
	defer func() { _ = h.Unlock() }()
	var refused *NotRegularError
	if _, err := Lock(t.Context(), path); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

func TestModeIsPrivateUnderAnyUmask(t *testing.T) {
	for _, replace := range []func(string, []byte, string) error{Replace, ReplaceUnsynced, prepareAndReplace} {
		for _, umask := range []int{0, 0o077, 0o277, 0o777} {
			path := inTemp(t, "file")
			old := syscall.Umask(umask)
			err := replace(path, []byte("x"), filepath.Dir(path))
			syscall.Umask(old)
			check(t, err)
			wantMode(t, path)
		}
	}
}

func prepareAndReplace(path string, data []byte, tempDir string) error {
	d, err := Prepare(path, data, tempDir)
	if err != nil {
		return err
	}
	return d.Replace()
}

func wantMode(t *testing.T, path string) {
	t.Helper()
	info, err := os.Lstat(path)
	check(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
}

func TestReplaceReplacesALink(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(dir, "target"), filepath.Join(dir, "file")
	check(t, os.WriteFile(target, []byte("kept"), 0o644))
	check(t, os.Symlink(target, path))
	check(t, Replace(path, []byte("new"), dir))
	wantMode(t, path)
	wantContent(t, path, "new")
	wantContent(t, target, "kept")
}
