package jetstream

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/nats-io/nats.go"

	"github.com/talking-stick/tt/fsroom/code"
)

// metaRestored is in the metadata of a stream that takes repairs alone, see tt-natsd.
const metaRestored = "tt-restored"

func errRestored() error {
	return code.New(code.EngineRestored, "the store of the engine was copied back, and takes no change until hosts have given back what they have").
		WithHint(`nothing was changed; run "tt doctor --repair" on every host, and then once "tt doctor --repair --open"`)
}

// isRestored reports whether the engine says that it takes repairs alone.
func (e *Engine) isRestored(ctx context.Context) bool {
	var v streamInfo
	return e.streamInfo(ctx, "", &v) == nil && v.Config.Metadata[metaRestored] != ""
}

// Repair implements [engine.Engine].
func (e *Engine) Repair() { e.repairing.Store(true) }

// Reopen implements [engine.Engine].
func (e *Engine) Reopen(ctx context.Context) error {
	answer, err := e.request(ctx, nats.NewMsg("ttserver.open"))
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
