package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Replace gives the file at path the content data and the mode 0600, whatever
// umask and the old file's mode are. A reader sees the old content or the new,
// never a mix and never nothing. A symbolic link at path is itself replaced.
//
// The content is written to a new file in tempDir, which must exist on the same
// file system, and is synced before the file gets its name. The directory is not
// synced: after a power cut path may name the old content again, and the caller
// must be able to cope with that.
//
// On an error path is unchanged. A process that is killed inside Replace leaves a
// file in tempDir, which [Sweep] removes.
func Replace(path string, data []byte, tempDir string) error {
	return ReplaceWhen(nil, path, data, tempDir)
}

// ReplaceWhen is [Replace] with a function that is called when the new file has its
// content and the mode 0600, and may set another mode and owner. If ready returns an
// error, path is unchanged. ready may be nil.
func ReplaceWhen(ready func(file *os.File) error, path string, data []byte, tempDir string) error {
	if tempDir == "" {
		// renameio would look for one by creating probe files.
		return errors.New("no directory given for temporary files")
	}
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

// ReplaceUnsynced is [Replace] without the sync: readers see the old content or the
// new, but after a power cut the file may be empty. It is for content that can be
// produced again.
func ReplaceUnsynced(path string, data []byte, tempDir string) error {
	d, err := draft(path, data, tempDir, func(*os.File) error { return nil })
	if err != nil {
		return err
	}
	return d.Replace()
}

// A Draft is a new content for a file, see [Prepare].
type Draft struct{ path, temp string }

// Prepare is the part of [Replace] that takes time: the content is in tempDir, and synced.
// What is left is [Draft.Replace] or [Draft.Remove].
func Prepare(path string, data []byte, tempDir string) (*Draft, error) {
	return draft(path, data, tempDir, (*os.File).Sync)
}

func draft(path string, data []byte, tempDir string, sync func(*os.File) error) (*Draft, error) {
	f, err := os.CreateTemp(tempDir, ".new-*")
	if err != nil {
		return nil, err
	}
	d := &Draft{path: path, temp: f.Name()}
	AdoptLike(d.temp, filepath.Dir(path))
	err = f.Chmod(0o600) // the mode given at creation is cut by the umask
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = sync(f)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		d.Remove()
		return nil, err
	}
	return d, nil
}

// Replace gives the content its name. On an error the file is unchanged, and the draft gone.
func (d *Draft) Replace() error {
	err := os.Rename(d.temp, d.path)
	if err != nil {
		d.Remove()
	}
	return err
}

// Remove removes what was not used.
func (d *Draft) Remove() { _ = os.Remove(d.temp) }

// Sweep removes the regular files and the symbolic links (never what they point
// to) from tempDir and leaves everything else. It returns how many it removed, also
// together with an error; it goes on after one. A missing tempDir is empty; a
// tempDir that is not a directory, or is a link to one, is an error.
//
// The caller holds the lock under which every [Replace] with this tempDir happens,
// so that no file in it is still being written.
func Sweep(tempDir string) (removed int, err error) {
	info, err := os.Lstat(tempDir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !info.IsDir() { // through a link another directory would be emptied
		return 0, &fs.PathError{Op: "sweep", Path: tempDir, Err: errors.New("not a directory")}
	}
	entries, err := os.ReadDir(tempDir)
	for _, entry := range entries {
		if mode := entry.Type(); !mode.IsRegular() && mode != fs.ModeSymlink {
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
