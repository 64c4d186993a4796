package jetstream

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"

	"github.com/talking-stick/tt/fsroom/engine"
)

// Watch implements [engine.Engine]. The server republishes an entry once it is stored; a
// subscription to the entries themselves would hear of them before that, and of those that
// were refused.
func (e *Engine) Watch(ctx context.Context, room string, notify func()) (stop func(), err error) {
	return e.listen(ctx, e.subject("ttchanged", room), func(*nats.Msg) { notify() }, notify)
}

// Publish implements [engine.Engine].
func (e *Engine) Publish(ctx context.Context, room, agent string, record []byte, keep time.Duration) error {
	m := nats.NewMsg(e.subject("ttagent", room, agent))
	m.Data = record
	_, _, err := e.publish(ctx, m, keptFor(keep))
	return err
}

// Records implements [engine.Engine].
func (e *Engine) Records(ctx context.Context, room string) (map[string]engine.Record, error) {
	prefix := e.subject("ttagent", room) + "."
	records := make(map[string]engine.Record)
	err := e.batch(ctx, agents, func(ctx context.Context) (messages, error) {
		return jetstreamext.GetLastMsgsFor(ctx, e.js, agents, []string{prefix + ">"})
	}, func(m *jetstream.RawStreamMsg) bool {
		records[strings.TrimPrefix(m.Subject, prefix)] = engine.Record{At: m.Time.UTC(), Body: m.Data}
		return true
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// Announce implements [engine.Engine]: a subscription ends with its process. When it is
// withdrawn, who has asked already is answered.
func (e *Engine) Announce(ctx context.Context, room, agent, what string, again func()) (withdraw func(), err error) {
	sub, err := e.subscribe(ctx, e.subject("ttpresent", room, agent, what), func(m *nats.Msg) { _ = m.Respond(nil) }, again)
	if err != nil {
		return nil, err
	}
	return func() {
		e.forget(sub)
		drained := make(chan struct{})
		sub.SetClosedHandler(func(string) { close(drained) })
		if sub.Drain() != nil {
			return // the connection is away
		}
		select {
		case <-drained:
		case <-time.After(e.presencePatience()):
		}
	}, nil
}

// presencePatience is how long a process that has announced itself has to answer. Scripts stop some,
// which they wait for on purpose, so there is an end to the slack.
func (e *Engine) presencePatience() time.Duration {
	const usual, mostSlack = 150 * time.Millisecond, 10 * time.Second
	return usual + 2*e.roundTrip() + min(engine.Slack, mostSlack)
}

// Announced implements [engine.Engine].
func (e *Engine) Announced(ctx context.Context, room, agent, what string) (bool, error) {
	subject, present := e.subject("ttpresent", room, agent, what), false
	// It is the other process that answers. If it is stopped, that says nothing of the server.
	err := e.try(ctx, subject, e.presencePatience(), func(ctx context.Context) error {
		_, err := e.conn.RequestWithContext(ctx, subject, nil)
		if present = err == nil; isNobody(err) {
			err = nil
		}
		return err
	})
	return present, err
}

// Notify implements [engine.Engine].
func (e *Engine) Notify(room string, agents ...string) {
	if e.connect(e.over) != nil {
		return
	}
	for _, agent := range agents {
		_ = e.conn.Publish(e.subject("ttnotify", room), []byte(agent))
	}
	_ = e.flush(e.conn)
}

// Notified implements [engine.Engine].
func (e *Engine) Notified(ctx context.Context, room string, fn func(agent string)) (stop func(), err error) {
	return e.listen(ctx, e.subject("ttnotify", room), func(m *nats.Msg) { fn(string(m.Data)) }, func() { fn("") })
}
