package lockfile

import "os"

// SyncDir checks that dir exists. Windows has no way to sync a directory.
func SyncDir(dir string) error {
	_, err := os.Stat(dir)
	return err
}
