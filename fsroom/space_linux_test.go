package fsroom_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/doctor"
)

// tinyDisk mounts a file system of 64 KiB, or skips where that is not allowed.
func tinyDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tiny", dir, "tmpfs", 0, "size=64k,mode=700"); err != nil {
		t.Skipf("NOT TESTED, needs the right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDisk: what is refused has not happened, what was acknowledged is
// there, and as soon as there is space everything goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := tinyDisk(t)
	f := fixtureIn(t, filepath.Join(disk, "data"))
	f.do(join("a"))
	ballast := filepath.Join(disk, "ballast")
	fill(t, ballast)
	if found := doctor.CheckDir(f.room.Store(), false); len(found) != 1 || !strings.Contains(found[0].Problem, "no space left") {
		t.Errorf("doctor: %+v", found)
	}
	acknowledged := f.history()
	for i := 0; ; i++ { // the last page of the journal may still have room
		_, events, err := f.room.Update(context.Background(), say("a", strings.Repeat("x", 500)))
		if code.Of(err) == code.DiskFull {
			break
		}
		if err != nil || i > 10 {
			t.Fatalf("change %d on a full disk: %v", i, err)
		}
		acknowledged = append(acknowledged, line(events[0]))
	}
	if got := f.history(); !slices.Equal(got, acknowledged) {
		t.Errorf("%q, acknowledged %q", got, acknowledged)
	}
	f.view()
	other := fsroom.At(openStore(t, f.dir, fsroom.Options{}), tallyRules, "other")
	if _, _, err := other.Update(context.Background(), join("a")); code.Of(err) != code.DiskFull || other.Exists() {
		t.Errorf("a new room on a full disk: %v, exists: %v", err, other.Exists())
	}
	f.must(os.Remove(ballast))
	f.do(say("a", "goes on"))
	change(t, other, join("a"))
	if got := f.history(); !slices.Equal(got[:len(acknowledged)], acknowledged) {
		t.Errorf("%q, acknowledged %q", got, acknowledged)
	}
}

func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 1024))
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
}

// TestReadOnlyFileSystem can be read; who wants to change it is told why not.
func TestReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	disk := tinyDisk(t)
	f := fixtureIn(t, filepath.Join(disk, "data"))
	before := f.populate()
	remount := func(flags uintptr) {
		if err := unix.Mount("tiny", disk, "", unix.MS_REMOUNT|flags, ""); err != nil {
			t.Skipf("NOT TESTED, cannot mount again: %v", err)
		}
	}
	remount(unix.MS_RDONLY)
	if got := f.view(); fmt.Sprint(got.State) != fmt.Sprint(before.State) {
		t.Errorf("%+v", got.State)
	}
	if _, _, err := f.room.Update(context.Background(), say("b", "hello")); code.Of(err) != code.DataDirUnusable {
		t.Errorf("Update: %v", err)
	}
	remount(0)
	f.do(say("b", "hello"))
}
