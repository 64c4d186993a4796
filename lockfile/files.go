package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A NotRegularError means that a path names something other than a regular file.
type NotRegularError struct {
	Path string
	Mode fs.FileMode // the type bits alone
}

func (e *NotRegularError) Error() string {
	return fmt.Sprintf("%s is %s, not a regular file", e.Path, TypeName(e.Mode))
}

// TypeName returns the name of a file's type with its article: "a symbolic link".
func TypeName(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// checkRegular returns a *NotRegularError if path names something other than a
// regular file, and nil if it names one, names nothing, or cannot be looked up.
func checkRegular(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil
	}
	return &NotRegularError{Path: path, Mode: info.Mode().Type()}
}

// explain adds the operation and the path to err if they are missing. If path does
// not name a regular file, it returns a *NotRegularError instead: what the system
// calls report then is less clear and differs between systems. err may be nil.
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
