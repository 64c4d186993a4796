package lockfile

import (
	"errors"
	"os"
	"path/filepath"
)

// open returns nil: a file that is open cannot be replaced here.
func open(string) *os.File { return nil }

// renameio does not exist here: its authors know of no atomic rename on Windows.
// os.Rename replaces an existing file, which is as close as it gets.
func replace(path string, data []byte, tempDir string, ready readyFunc) error {
	file, err := os.CreateTemp(tempDir, "."+filepath.Base(path))
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil && ready != nil {
		err = ready(file)
	}
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
