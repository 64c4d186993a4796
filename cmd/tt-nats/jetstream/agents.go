package jetstream

import (
	"context"
	"strconv"
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
func (e *Engine) Watch(ctx context.Context, room string, notify func(*engine.Next)) (stop func(), err error) {
	handle := sinceReconnection(e.reconnections, func(m *nats.Msg, same bool) {
		if same {
			notify(republished(m))
		} else {
			notify(nil)
		}
	})
	return e.listen(ctx, e.subject("ttchanged", room), handle, func() { notify(nil) })
}

// sinceReconnection returns a handler that tells handle whether there was no reconnection since the
// message before: a server that comes back may have lost what it told, before anybody hears that it is back.
func sinceReconnection(count func() uint64, handle func(m *nats.Msg, same bool)) nats.MsgHandler {
	seen := count()
	return func(m *nats.Msg) {
		before := seen
		seen = count()
		handle(m, seen == before)
	}
}

// reconnections returns how often the connection was made again.
func (e *Engine) reconnections() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conn == nil {
		return 0
	}
	return e.conn.Stats().Reconnects
}

// headerLast is where a message that is republished names the one before it on its subject.
const headerLast = "Nats-Last-Sequence"

// republished returns the entry in a message that the server has republished, nil if it is
// without what was stored, as that of an older tt-natsd, or a client has written headers of the server.
func republished(m *nats.Msg) *engine.Next {
	var numbers [2]uint64
	for i, name := range []string{jetstream.SequenceHeader, headerLast} {
		n, err := strconv.ParseUint(m.Header.Get(name), 10, 64)
		if numbers[i] = n; err != nil || len(m.Header.Values(name)) != 1 {
			return nil
		}
	}
	at, err := time.Parse(time.RFC3339Nano, m.Header.Get(jetstream.TimeStampHeaer))
	if err != nil || len(m.Header.Values(jetstream.TimeStampHeaer)) != 1 || len(m.Data) == 0 {
		return nil
	}
	return &engine.Next{After: engine.Revision(numbers[1]),
		Entry: newEntry(&jetstream.RawStreamMsg{Sequence: numbers[0], Time: at, Header: m.Header, Data: m.Data})}
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
