package second

import (
	"errors"
	"syscall"
)

// Exec makes this process the program, which keeps what is held; held may be nil. It returns
// only if that failed. A file that is no program is run by the shell, as shells do.
func Exec(path string, argv, env []string, held Held) error {
	var err error
	if held != nil {
		err = held.Inherit()
	}
	if err == nil {
		err = syscall.Exec(path, argv, env)
	}
	if errors.Is(err, syscall.ENOEXEC) {
		err = syscall.Exec("/bin/sh", append([]string{"/bin/sh", path}, argv[1:]...), env)
	}
	if held != nil {
		held.Release()
	}
	return cannotRun(path, err)
}
