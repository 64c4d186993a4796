package main

import (
	"os"
	"syscall"
)

func tryLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// fileID returns what tells a file from every other one that is there at the same time.
func fileID(info os.FileInfo) (device, inode uint64) {
	if v, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(v.Dev), uint64(v.Ino)
	}
	return 0, 0
}

// freeSpace returns how many bytes of the file system of dir are free for this user, and
// how many it has.
func freeSpace(dir string) (free, size uint64, err error) {
	var v syscall.Statfs_t
	if err := syscall.Statfs(dir, &v); err != nil {
		return 0, 0, err
	}
	return uint64(v.Bavail) * uint64(v.Bsize), v.Blocks * uint64(v.Bsize), nil
}
