package ttcmd

import (
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/hook"
	"github.com/talking-stick/tt/skills/probe"
)

// noticeOldSession tells an agent, once, that its session began before the hooks of its
// harness were installed, so that it hears of nothing while it is idle. Where a hook has
// run, it costs one small file.
func noticeOldSession(c *cli.Invocation, client *member.Client) {
	h := harness.Find(client.Self.Harness)
	if h == nil || client.Listener().Session != "" {
		return
	}
	if !probe.Notifies(probe.For{Home: c.Env.Home, Getenv: c.Env.Lookup}, h.ID) {
		return
	}
	memory := hook.SeenStore{Dir: filepath.Join(client.Store.Dir(), "told")}
	call := hook.Call{Harness: h.ID, SessionID: client.Self.ID}
	if first, remembered := memory.First(call, "restart"); first && remembered {
		c.Notice("this session is older than the hooks of " + h.Program + ": restart it to be notified")
	}
}
