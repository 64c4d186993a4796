//go:build unix

package lockfile

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir puts the names in dir on the disk: files created in it, renamed into
// it or removed from it before the call stay so after a power cut. It returns
// nil where the file system cannot sync a directory.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}
