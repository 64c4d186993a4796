package ttcmd

import (
	"context"
	"os/exec"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/viewers"
	"github.com/talking-stick/tt/fsroom/code"
)

var (
	consoleCommand = viewers.Console(runViewer)
	reportCommand  = viewers.Report(runViewer)

	installCommand   = viewers.Install(runViewer)
	uninstallCommand = viewers.Uninstall(runViewer)
	migrateCommand   = viewers.Migrate(runViewer)
)

// runViewer becomes the second program, with the same command line.
func runViewer(_ context.Context, c *cli.Invocation) error {
	program, dir, err := findViewer(c.Env)
	if err == nil {
		argv := append([]string{viewers.Program}, c.Env.Args...)
		err = become(program, argv, environWith(viewers.VersionVariable, c.Program.BuildVersion()), nil)
		if code.Of(err) != code.Usage {
			return err
		}
	}
	return code.New(viewers.NotInstalled, "%s is in the program %s, which is not beside tt and not in PATH, or cannot be run", c.Cmd.Name, viewers.Program).
		WithHint(`run "make install" in a checkout, take it from the release archive of tt, or: GOBIN=%s go install github.com/talking-stick/tt/cmd/%s@latest`,
			shellWord(dir), viewers.Program)
}

// findViewer returns the path of the second program: beside tt, else in PATH. The
// directory is that of tt.
func findViewer(env *cli.Env) (path, dir string, err error) {
	if own, err := env.Executable(); err == nil {
		dir = filepath.Dir(own)
		for _, at := range []string{own, resolved(own)} {
			if path, err := exec.LookPath(filepath.Join(filepath.Dir(at), viewers.Program)); err == nil {
				return path, dir, nil
			}
		}
	}
	path, err = findProgram(viewers.Program)
	return path, dir, err
}

// resolved returns the path without symbolic links, the path itself if that fails.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
