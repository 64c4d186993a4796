package setup

import (
	"context"
	"os/exec"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/skills"
)

// programPatience bounds the time of a harness's own program. A program in JavaScript
// takes seconds to start on a busy machine.
const programPatience = time.Minute

// environment describes this machine to package skills.
func environment(c *cli.Invocation) (skills.Environment, error) {
	dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	program, _ := c.Env.Executable() // "" is beside nothing
	return skills.Environment{
		Home:     c.Env.Home,
		DataDir:  dir,
		Version:  c.Program.BuildVersion(),
		Program:  program,
		Getenv:   c.Env.Lookup,
		LookPath: exec.LookPath,
		Run:      runProgram,
		Now:      c.Env.Now,
	}, err
}

// runProgram runs a harness's program with empty standard input and returns its output.
func runProgram(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, programPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second // a grandchild may keep the pipe
	return cmd.CombinedOutput()
}
