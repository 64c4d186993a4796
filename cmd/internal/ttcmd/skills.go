package ttcmd

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/skills"
)

// programPatience bounds the time of a harness's own program. A program in JavaScript
// takes seconds to start on a busy machine.
const programPatience = time.Minute

// skillsEnvironment describes this machine to package skills.
func skillsEnvironment(env *cli.Env) (skills.Environment, error) {
	dir, err := workspace.DataDir(env.Lookup, env.Home)
	program, _ := os.Executable() // "" is beside nothing
	return skills.Environment{
		Home:     env.Home,
		DataDir:  dir,
		Version:  buildVersion(),
		Program:  program,
		Getenv:   env.Lookup,
		LookPath: exec.LookPath,
		Run:      runProgram,
		Now:      env.Now,
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

// buildVersion returns the version from the linker, or the one that the Go tool
// recorded.
func buildVersion() string { return cmp.Or(build.Version, moduleVersion(), "(devel)") }

func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
}

// syncBefore updates installed skills before a daily command that a person runs.
// It prints nothing, and leaves errors to "tt install". A command that runs under a lock is
// not kept waiting.
func syncBefore(ctx context.Context, c *cli.Invocation) {
	if !c.Cmd.Hidden && c.Cmd != lockRunCommand && slices.Contains(daily, c.Cmd) && mayTakeLonger(c) {
		syncSkills(ctx, c.Env)
	}
}

// mayTakeLonger reports whether a person calls, and not for a shell prompt.
func mayTakeLonger(c *cli.Invocation) bool {
	if forPrompt(c) || c.Env.Lookup("TT_HARNESS_EXPORT") != "" {
		return false
	}
	_, harness := identity.HarnessByEnvironment(identity.Env{Lookup: c.Env.Lookup})
	return !harness
}

// syncSkills updates the installed copies of the skill. It opens one file that does not
// exist if nothing is installed, and reads one small file if all copies are up to date.
func syncSkills(ctx context.Context, env *cli.Env) {
	if machine, err := skillsEnvironment(env); err == nil {
		machine.Sync(ctx)
	}
}
