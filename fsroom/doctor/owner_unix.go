package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/talking-stick/tt/lockfile"
)

// foreign reports a file that does not belong to the owner of the directory dir.
func foreign(path string, info fs.FileInfo, dir string) (Problem, bool) {
	above, err := os.Stat(dir)
	if err != nil {
		return Problem{}, false
	}
	st, ok1 := info.Sys().(*syscall.Stat_t)
	owner, ok2 := above.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || st.Uid == owner.Uid {
		return Problem{}, false
	}
	return Problem{
		File:    path,
		Problem: fmt.Sprintf("it belongs to user %d, and the directory to user %d", st.Uid, owner.Uid),
		Repair:  giveAway,
	}, true
}

// writable returns nil if files can be created in the directory, and written.
func writable(dir string) error {
	var disk unix.Statfs_t
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil || unix.Statfs(dir, &disk) != nil || disk.Bavail > 0 || disk.Blocks == 0 {
		return err
	}
	return unix.ENOSPC
}

// giveBack gives a file to the owner of the directory dir, which only root can do.
func giveBack(path, dir string) bool {
	lockfile.AdoptLike(path, dir)
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	_, is := foreign(path, info, dir)
	return !is
}
