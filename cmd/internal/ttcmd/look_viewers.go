package ttcmd

import (
	"context"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/second"
	"github.com/talking-stick/tt/cmd/internal/viewers"
	"github.com/talking-stick/tt/fsroom/code"
)

var (
	consoleCommand = viewers.Console(runViewer)
	reportCommand  = viewers.Report(runViewer)
)

// runViewer becomes tt-console, with the same command line.
func runViewer(_ context.Context, c *cli.Invocation) error {
	program, err := second.Find(c.Env, second.Console)
	if err == nil {
		if err = second.Become(c, program, second.Console); code.Of(err) != code.Usage {
			return err
		}
	}
	own, _ := c.Env.Executable()
	return code.New(code.ConsoleNotInstalled, "%s is in the program %s, which is not beside tt and not in PATH, or cannot be run",
		c.Cmd.Name, second.Console).
		WithHint(`run "make install" in a checkout, take it from the release archive of tt, or: CGO_ENABLED=0 GOBIN=%s go install github.com/talking-stick/tt/cmd/%s@latest`,
			code.ShellWord(filepath.Dir(own)), second.Console)
}
