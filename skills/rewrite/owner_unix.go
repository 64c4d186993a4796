package rewrite

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner tries to give temp the owner in info. Only a privileged process can; for
// any other process the file already has the right owner.
func keepOwner(temp *os.File, info fs.FileInfo) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = temp.Chown(int(stat.Uid), int(stat.Gid))
	}
}
