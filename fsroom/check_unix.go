//go:build !windows

package fsroom

import (
	"io/fs"
	"syscall"
)

// privateModes: file modes say who may read.
const privateModes = true

func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
