package ttcmd

import (
	"context"
	"runtime/debug"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/second"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/cmd/internal/setup"
)

func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
}

// before comes before each command. It says that the program that has started this one is of
// another version, and updates installed skills before a command that a person runs. The
// update prints nothing, and leaves errors to "tt install".
func before(ctx context.Context, c *cli.Invocation) {
	skew := second.Skew(c.Program, programName())
	if skew != "" && !c.Cmd.Traits.Silent && !forPrompt(c) {
		c.Notice(skew)
	}
	becomeEngineBeforeInput(c)
	if !c.Cmd.Traits.NoSync && !forPrompt(c) && c.Env.Lookup("TT_HARNESS_EXPORT") == "" && !session.InHarness(c.Env) {
		setup.Sync(ctx, c)
	}
}

// programName returns the name of this program: tt, or that of the one with engines.
func programName() string {
	if build.Sharing != nil {
		return second.Engines
	}
	return second.TT
}
