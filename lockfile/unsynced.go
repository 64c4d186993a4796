package lockfile

import (
	"os"
	"path/filepath"
)

// ReplaceUnsynced is [Replace] without the sync: a reader sees old or new, but
// after a power cut the file may be empty. It is for what can be made again.
func ReplaceUnsynced(path string, data []byte, tempDir string) error {
	f, err := os.CreateTemp(tempDir, ".new-*") // mode 0600
	if err != nil {
		return err
	}
	AdoptLike(f.Name(), filepath.Dir(path))
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
