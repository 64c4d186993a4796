package second

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// Exec runs the program and ends with its exit status: a process cannot become another
// program on Windows.
func Exec(path string, argv, env []string, held Held) error {
	if held != nil {
		defer held.Release()
	}
	signal.Ignore(os.Interrupt) // the program has it too, and decides
	cmd := exec.Command(path, argv[1:]...)
	cmd.Args[0], cmd.Env = argv[0], env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return cli.Exit(ended.ExitCode())
	}
	if err != nil {
		return cannotRun(path, err)
	}
	return nil
}
