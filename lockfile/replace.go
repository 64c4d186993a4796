package lockfile

import (
	"errors"
	"os"
)

// Replace gives the file at path the content data and the mode 0600, whatever
// umask and the old file's mode are. A reader sees the old content or the new,
// never a mix and never nothing. A symbolic link at path is itself replaced.
//
// The content is written to a new file in tempDir, which must exist on the same
// file system, and is on the disk before it gets its name. The directory is not
// synced: after a power cut path may name the old content again, which the owner
// of the data must be able to bring forward.
//
// On an error path is as it was. A process that dies on the way leaves a file
// in tempDir for [Sweep].
func Replace(path string, data []byte, tempDir string) error {
	return ReplaceWhen(nil, path, data, tempDir)
}

// A readyFunc prepares a file that is about to take the place of another.
type readyFunc = func(file *os.File) error

// ReplaceWhen is Replace, and calls ready, if it is not nil, when the new file has
// its content and the mode 0600. The function may set another mode and owner.
// When it returns an error, path stays as it is.
func ReplaceWhen(ready func(file *os.File) error, path string, data []byte, tempDir string) error {
	if tempDir == "" {
		// renameio would go looking for one, creating probe files as it goes.
		return errors.New("no directory given for temporary files")
	}
	return replace(path, data, tempDir, ready)
}
