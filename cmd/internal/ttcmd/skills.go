package ttcmd

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/viewers"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/skills/stamp"
)

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
		syncSkills(ctx, c)
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

// syncSkills lets the second program update the installed copies of the skill. It reads one
// small file if all are up to date.
func syncSkills(ctx context.Context, c *cli.Invocation) {
	dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	if err == nil && !stamp.Settled(stamp.For{Home: c.Env.Home, DataDir: dir, Version: c.Program.BuildVersion(), Getenv: c.Env.Lookup}) {
		_ = runSecond(ctx, c, "sync-skills")
	}
}

// runSecond runs a command of the second program that prints nothing.
func runSecond(ctx context.Context, c *cli.Invocation, args ...string) error {
	program, _, err := findViewer(c.Env)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), viewers.VersionVariable+"="+c.Program.BuildVersion())
	return cmd.Run()
}
