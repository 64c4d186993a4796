package ttcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/viewers"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/skills/probe"
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
	becomeEngineBeforeInput(c)
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
	if err == nil && !probe.Settled(probe.For{Home: c.Env.Home, DataDir: dir, Version: c.Program.BuildVersion(), Getenv: c.Env.Lookup}) {
		_, _ = runSecond(ctx, c, "sync-skills")
	}
}

// hookHealth asks the second program whether the hooks of the harnesses can run; nil if it
// is not there.
func hookHealth(ctx context.Context, c *cli.Invocation) (all []probe.HookHealth) {
	answer, err := runSecond(ctx, c, "hook-health", "--json")
	var list hookHealthList
	if err != nil || wire.Decode(answer, &list) != nil {
		return nil
	}
	for _, h := range list {
		all = append(all, probe.HookHealth(h))
	}
	return all
}

type (
	hookHealthList   []hookHealthFields
	hookHealthFields probe.HookHealth
)

// Fields implements [wire.Fields].
func (l *hookHealthList) Fields(c *wire.Codec) { wire.List(c, "hooks", (*[]hookHealthFields)(l)) }

// Fields implements [wire.Fields]. It reads only.
func (h *hookHealthFields) Fields(c *wire.Codec) {
	c.Text("harness", (*string)(&h.Harness))
	c.Text("file", &h.File)
	c.Num("wanted", &h.Wanted)
	c.Num("installed", &h.Installed)
	var approved json.RawMessage
	if c.OptRaw("approved", &approved); approved != nil {
		yes := string(approved) == "true"
		h.Approved = &yes
	}
	c.OptText("hint", &h.Hint)
}

// runSecond runs a command of the second program and returns its output.
func runSecond(ctx context.Context, c *cli.Invocation, args ...string) ([]byte, error) {
	program, _, err := findViewer(c.Env)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), viewers.VersionVariable+"="+c.Program.BuildVersion())
	return cmd.Output()
}
