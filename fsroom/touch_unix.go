//go:build !windows

package fsroom

import (
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// touch sets the time of a file, or of a link planted in its place: that of what
// the link points to is nobody's business here.
func touch(path string, at time.Time) error {
	ts, err := unix.TimeToTimespec(at)
	if err == nil {
		err = unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return &fs.PathError{Op: "touch", Path: path, Err: err}
	}
	return nil
}
