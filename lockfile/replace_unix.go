//go:build unix

package lockfile

import (
	"errors"
	"path/filepath"

	"github.com/google/renameio/v2"
)

func replace(path string, data []byte, tempDir string, ready readyFunc) error {
	// Static permissions, because the mode given at creation is cut by the umask.
	file, err := renameio.NewPendingFile(path, renameio.WithTempDir(tempDir), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	AdoptLike(file.Name(), filepath.Dir(path))
	_, err = file.Write(data)
	if err == nil && ready != nil {
		err = ready(file.File)
	}
	if err == nil {
		err = file.CloseAtomicallyReplace()
	}
	if err != nil {
		return errors.Join(err, file.Cleanup())
	}
	return nil
}
