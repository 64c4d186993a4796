package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/talking-stick/tt/fsroom/code"
)

// metaRestored is in the metadata of a stream that takes repairs alone, see tt-natsd.
const metaRestored = "tt-restored"

func errRestored() error {
	return code.New(code.EngineRestored, "the store of the engine was copied back or begun anew, and takes no change until hosts have given it what they have").
		WithHint(`nothing was changed; run "tt doctor --repair" on every host, and then once "tt doctor --repair --open"`)
}

// isRestored reports whether the engine says that it takes repairs alone.
func (e *Engine) isRestored(ctx context.Context) bool {
	var v streamInfo
	return e.streamInfo(ctx, "", &v) == nil && v.Config.Metadata[metaRestored] != ""
}

// Repair implements [engine.Engine].
func (e *Engine) Repair() { e.repairing.Store(true) }

// Shut implements [engine.Engine].
func (e *Engine) Shut(ctx context.Context, host string) error { return e.tell(ctx, "lacks", host) }

// Reopen implements [engine.Engine].
func (e *Engine) Reopen(ctx context.Context, host string) error { return e.tell(ctx, "has", host) }

// tell tells the server what becomes of what a host has.
func (e *Engine) tell(ctx context.Context, what, host string) error {
	m := nats.NewMsg("ttserver.open")
	if host != "" {
		m.Data = fmt.Appendf(nil, "{%q:%q}", what, host)
	}
	answer, err := e.request(ctx, m)
	if err != nil {
		return e.explain(err)
	}
	var v struct{ Error string }
	if err := json.Unmarshal(answer.Data, &v); err != nil {
		return e.explain(err)
	}
	if v.Error != "" {
		return e.explain(errors.New(v.Error))
	}
	return nil
}
