//go:build unix

package lockfile

import (
	"os"
	"path/filepath"
	"syscall"
)

// Adopt gives a file or directory that root has just made to the owner of the
// directory it is in, whose own programs could not use it else. It does nothing for
// other users and where it cannot.
func Adopt(path string) { AdoptLike(path, filepath.Dir(path)) }

// AdoptLike is [Adopt] with the owner of another directory.
func AdoptLike(path, dir string) {
	if os.Geteuid() != 0 {
		return
	}
	info, err := os.Stat(dir)
	if err != nil {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
		_ = os.Lchown(path, int(st.Uid), int(st.Gid))
	}
}
