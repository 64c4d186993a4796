//go:build unix

package ttcmd

import (
	"errors"
	"syscall"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/lockfile/queue"
)

// become makes this process the program, which keeps the lock of hold; hold may be nil.
// It returns only if that failed. A file that is no program is run by the shell, as
// shells do.
func become(path string, argv, env []string, hold *queue.Hold) error {
	var err error
	if hold != nil {
		err = hold.Inherit()
	}
	if err == nil {
		err = syscall.Exec(path, argv, env)
	}
	if errors.Is(err, syscall.ENOEXEC) {
		err = syscall.Exec("/bin/sh", append([]string{"/bin/sh", path}, argv[1:]...), env)
	}
	if hold != nil {
		hold.Release()
	}
	return cli.Fail(statusCannotRun, code.New(code.Usage, "%s cannot be run: %v", path, err).Because(err))
}
