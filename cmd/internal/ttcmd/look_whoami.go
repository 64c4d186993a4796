package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
)

var whoamiCommand = &cli.Command{
	Name:   "whoami",
	Hidden: true,
	Reads:  true,
	Short:  "show which agent tt takes you for, and why",
	Flags: func(f *cli.Flags) {
		f.Bool("explain", "also say which signals were seen and which decided")
	},
	Errors: []code.Code{code.InvalidAgentID},
	Run:    runWhoami,
}

func runWhoami(_ context.Context, c *cli.Invocation) error {
	if _, err := openStore(c); err != nil { // it says what this host is called
		c.Warn("%v", err)
	}
	me, err := caller(c, processes(c))
	if err != nil {
		return err
	}
	return c.Out.Result(identity.WhoamiJSON(me), func(t *cli.Text) {
		if !c.Bool("explain") {
			t.Line("%s", me.ID)
			return
		}
		for _, line := range identity.Explain(me) {
			t.Line("%s", line)
		}
		if dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home); err == nil {
			t.Line("data directory %s: agents with another one do not see each other", dir)
		}
	})
}
