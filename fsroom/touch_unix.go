//go:build !windows

package fsroom

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// touch sets the time of a file of ours. What else stands there, a link or a file
// with a second name outside, is taken away first, and then there is none.
func touch(path string, at time.Time) error {
	if info, err := os.Lstat(path); err == nil && (!info.Mode().IsRegular() || links(info) > 1) {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	ts, err := unix.TimeToTimespec(at)
	if err == nil {
		err = unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return &fs.PathError{Op: "touch", Path: path, Err: err}
	}
	return nil
}
