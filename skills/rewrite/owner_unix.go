//go:build unix

package rewrite

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner tries to give temp the owner of the file info describes. Only a
// privileged user may, and for anybody else the file is already his own.
func keepOwner(temp *os.File, info fs.FileInfo) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = temp.Chown(int(stat.Uid), int(stat.Gid))
	}
}
