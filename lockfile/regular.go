package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A NotRegularError says that something else stands where a lock file should be.
type NotRegularError struct {
	Path string
	Mode fs.FileMode // the type bits alone
}

func (e *NotRegularError) Error() string {
	return fmt.Sprintf("%s is %s, not a regular file", e.Path, kind(e.Mode))
}

func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeDir != 0:
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// checkRegular returns a *NotRegularError if something that is no regular file
// stands at path, and nil for a file, for nothing and for what cannot be seen.
func checkRegular(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil
	}
	return &NotRegularError{Path: path, Mode: info.Mode().Type()}
}

// explain gives err, which may be nil, the operation and the path if it lacks
// them. If what stands at path is no regular file, that is the error.
func explain(path, op string, err error) error {
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		if notRegular := checkRegular(path); notRegular != nil {
			return notRegular
		}
	}
	if pathError := (*fs.PathError)(nil); errors.As(err, &pathError) {
		return err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
