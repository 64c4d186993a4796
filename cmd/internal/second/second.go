// Package second finds the other programs of Talking Stick, starts them and becomes them. A
// program that another one has started says so where their versions differ.
package second

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/fsroom/code"
)

// The programs that look for each other.
const (
	TT      = "tt"
	Console = "tt-console"
	Engines = "tt-nats"
	Bus     = "agent-bus"
)

// Others returns the names of all but tt.
func Others() []string { return []string{Console, Engines, Bus} }

// versionVariable is the environment variable in which a program tells its version to the one
// that it starts or becomes.
const versionVariable = "TT_VERSION"

// Find returns the path of a program: beside this one, which may be a link, else in PATH.
func Find(env *cli.Env, name string) (string, error) {
	if own, err := env.Executable(); err == nil {
		for _, at := range []string{own, resolved(own)} {
			if path, err := exec.LookPath(filepath.Join(filepath.Dir(at), name)); err == nil {
				return path, nil
			}
		}
	}
	return exec.LookPath(name)
}

// resolved returns the path without symbolic links, the path itself if that fails.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// Become makes this process the program at path, with the command line of this one and argv0
// as its name. It returns only if that failed.
func Become(c *cli.Invocation, path, argv0 string) error {
	c.Out.TellNotices()
	return Exec(path, append([]string{argv0}, c.Env.Args...), environ(c.Program), nil)
}

// Command returns the command that runs the program at path.
func Command(ctx context.Context, p *cli.Program, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = environ(p)
	return cmd
}

// environ returns the environment for another program.
func environ(p *cli.Program) []string {
	return jobs.Environ(versionVariable + "=" + p.BuildVersion())
}

// Caller returns the version of the program that has started or become this one, "" for
// none. What this one starts does not inherit it.
func Caller() string {
	calledBy.once.Do(func() {
		if calledBy.version = os.Getenv(versionVariable); calledBy.version != "" {
			_ = os.Unsetenv(versionVariable)
		}
	})
	return calledBy.version
}

var calledBy struct {
	once    sync.Once
	version string
}

// Skew says that the program that has started this one, whose name is own, is of another
// version; "" if it is of the same, or if there is none.
func Skew(p *cli.Program, own string) string {
	caller := TT
	if own == TT {
		caller = Console
	}
	of := Caller()
	if of == "" || of == p.BuildVersion() {
		return ""
	}
	return own + " is " + p.BuildVersion() + ", but " + caller + " is " + of
}

// StatusCannotRun is the exit status of a shell for a file that cannot be run.
const StatusCannotRun = 126

// A Held is what this process holds and the program that it becomes goes on holding.
type Held interface {
	Inherit() error // lets the program have it
	Release()       // gives it up
}

func cannotRun(path string, err error) error {
	return cli.Fail(StatusCannotRun, code.New(code.Usage, "%s cannot be run: %v", path, err).Because(err))
}
