//go:build unix && torture_nostatesync

package lockfile

import "os"

// replace forgets the sync. This build is wrong on purpose, to show that the
// torture tests notice.
func replace(path string, data []byte, tempDir string) error {
	f, err := os.CreateTemp(tempDir, "state")
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
