package lockfile

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// networkFS returns the name of the network file system that dir is on or would be
// created on, and "" for a local or unknown one.
func networkFS(dir string) string {
	for {
		var st unix.Statfs_t
		err := retry(func() error { return unix.Statfs(dir, &st) })
		if err == nil {
			return networkName(dir, &st)
		}
		parent := filepath.Dir(dir)
		if (err != unix.ENOENT && err != unix.ENOTDIR) || parent == dir {
			return ""
		}
		dir = parent
	}
}
