package memory

import (
	"bytes"
	"context"
	"maps"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"
)

// Publish implements [engine.Engine].
func (e *Engine) Publish(ctx context.Context, name, agent string, record []byte, _ time.Duration) error {
	return e.do(ctx, func() error {
		e.room(name).records[agent] = engine.Record{At: e.now(), Body: bytes.Clone(record)}
		return nil
	})
}

// Records implements [engine.Engine].
func (e *Engine) Records(ctx context.Context, name string) (map[string]engine.Record, error) {
	return ask(ctx, e, func() (map[string]engine.Record, error) { return maps.Clone(e.room(name).records), nil })
}

// An announcement is what an agent says of itself on a connection, and how to have it said again.
type announcement struct {
	agent, what string
	again       func()
}

// Announce implements [engine.Engine].
func (e *Engine) Announce(ctx context.Context, name, agent, what string, again func()) (withdraw func(), err error) {
	return subscribe(ctx, e, name, func(r *room) map[int]announcement { return r.announced }, announcement{agent, what, again})
}

// Announced implements [engine.Engine].
func (e *Engine) Announced(ctx context.Context, name, agent, what string) (bool, error) {
	return ask(ctx, e, func() (is bool, err error) {
		for _, a := range e.room(name).announced {
			is = is || a.agent == agent && a.what == what
		}
		return is, nil
	})
}

// Notify implements [engine.Engine].
func (e *Engine) Notify(name string, agents ...string) {
	_ = e.do(context.Background(), func() error {
		for _, fn := range e.room(name).notified {
			for _, agent := range agents {
				e.tell(func() { fn(agent) })
			}
		}
		return nil
	})
}

// Notified implements [engine.Engine].
func (e *Engine) Notified(ctx context.Context, name string, fn func(agent string)) (stop func(), err error) {
	return subscribe(ctx, e, name, func(r *room) map[int]func(string) { return r.notified }, fn)
}
