package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Sweep removes the regular files and the symbolic links (never what they point
// to) from tempDir and leaves directories and everything else. It returns how
// many it removed, also together with an error; it goes on after one. A tempDir
// that does not exist holds nothing; one that is no directory, or a link to one,
// is an error.
//
// The caller holds the lock under which every [Replace] with this tempDir
// happens, so that no file in it belongs to a writer who is still at work.
func Sweep(tempDir string) (removed int, err error) {
	info, err := os.Lstat(tempDir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !info.IsDir() { // a link to a directory would have us empty that one
		return 0, &fs.PathError{Op: "sweep", Path: tempDir, Err: errors.New("not a directory")}
	}
	entries, err := os.ReadDir(tempDir)
	for _, entry := range entries {
		if !leftover(entry.Type()) {
			continue
		}
		switch e := os.Remove(filepath.Join(tempDir, entry.Name())); {
		case e == nil:
			removed++
		case !errors.Is(e, fs.ErrNotExist):
			err = errors.Join(err, e)
		}
	}
	return removed, err
}

func leftover(mode fs.FileMode) bool { return mode.IsRegular() || mode == fs.ModeSymlink }
