package setup

import (
	"os/exec"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/skills"
)

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
		Now:      c.Env.Now,
	}, err
}
