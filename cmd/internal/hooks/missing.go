package hooks

import (
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills"
)

// NoticeOldSession tells an agent, once, that its session began before the hooks of its
// harness were installed, so that it hears of nothing while it is idle. A hook at the beginning
// of a session that is in no room may leave no record, but the one after its first command does:
// so the second command without one is told.
func NoticeOldSession(env *cli.Env, client *member.Client, notice func(string)) {
	h := harness.Find(client.Self.Harness)
	if h == nil || client.Hearing().Listener().Session != "" {
		return
	}
	if !(skills.Environment{Home: env.Home, Getenv: env.Lookup}).Runs(h.ID, harness.KindContext) {
		return
	}
	if placed, _ := filepath.Glob(filepath.Join(client.Store.Dir(), placesDir, "*", client.Self.ID)); placed != nil {
		return
	}
	call := payload.Call{Harness: h.ID, SessionID: client.Self.ID}
	if first, _ := told(client.Store.Dir()).First(call, "command"); first {
		return
	}
	if first, remembered := told(client.Store.Dir()).First(call, "restart"); first && remembered {
		notice("this session is older than the hooks of " + h.Program + ": restart it to be notified")
	}
}
