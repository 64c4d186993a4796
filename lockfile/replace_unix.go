package lockfile

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// open opens a file that is to be replaced, nil if it cannot.
func open(path string) *os.File {
	f, _ := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	return f
}

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
