package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/talking-stick/tt/fsroom/engine"
)

// Info implements [engine.Engine].
func (e *Engine) Info(ctx context.Context) (engine.Info, error) {
	if _, err := e.connection(ctx); err != nil {
		return engine.Info{}, e.explain(err)
	}
	durable := make(chan bool, 1)
	go func() { durable <- e.isDurable(ctx) }()
	var v streamInfo
	if err := e.streamInfo(ctx, "", &v); err != nil {
		return engine.Info{}, err
	}
	id := v.Config.Metadata[metaID]
	if id == "" {
		id = v.Created.UTC().Format(time.RFC3339Nano)
	}
	return engine.Info{ID: id, Now: v.Time.UTC(), Durable: <-durable,
		Restored: v.Config.Metadata[metaRestored] != "", MaxEntry: maxEntrySize}, nil
}

// metaID is where the metadata of the stream name the engine.
const metaID = "tt-id"

// isDurable asks tt-natsd, since JetStream tells clients nothing of it. Where no tt-natsd
// runs, nobody knows.
func (e *Engine) isDurable(ctx context.Context) bool {
	answer, err := e.request(ctx, nats.NewMsg("ttserver"))
	if err != nil {
		return false
	}
	var v struct{ Durable bool }
	return json.Unmarshal(answer.Data, &v) == nil && v.Durable
}

type streamInfo struct {
	Time    time.Time `json:"ts"`
	Created time.Time
	Config  struct {
		Replicas int `json:"num_replicas"`
		Metadata map[string]string
	}
	State struct{ Subjects map[string]uint64 }
	Total int // of the subjects
}

func (e *Engine) streamInfo(ctx context.Context, query string, v *streamInfo) error {
	m := nats.NewMsg("$JS.API.STREAM.INFO." + stream)
	m.Data = []byte(query)
	answer, err := e.request(ctx, m)
	if err != nil {
		return e.explain(err)
	}
	return decodeAnswer(answer, v)
}

// Rooms implements [engine.Engine]. The server tells up to 100 000 subjects at once.
func (e *Engine) Rooms(ctx context.Context, prefix string) (map[string]int, error) {
	all := "ttlog." + e.ns + "."
	filter := all + wildcard(prefix)
	rooms := make(map[string]int)
	for offset := 0; ; {
		var v streamInfo
		if err := e.streamInfo(ctx, fmt.Sprintf(`{"subjects_filter":%q,"offset":%d}`, filter, offset), &v); err != nil {
			return nil, err
		}
		for subject, entries := range v.State.Subjects {
			if name := strings.TrimPrefix(subject, all); strings.HasPrefix(name, prefix) {
				rooms[name] = int(entries)
			}
		}
		offset += len(v.State.Subjects)
		if len(v.State.Subjects) == 0 || offset >= v.Total {
			return rooms, nil
		}
	}
}

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
	return e.subscribe(ctx, e.subject("ttchanged", room), handle, func() { notify(nil) })
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

// republished returns the entry in a message that the server has republished, nil if it is
// without what was stored, as that of an older tt-natsd, or a client has written headers of the server.
func republished(m *nats.Msg) *engine.Next {
	var numbers [2]uint64
	for i, name := range []string{headerSequence, headerLast} {
		n, err := strconv.ParseUint(m.Header.Get(name), 10, 64)
		if numbers[i] = n; err != nil || len(m.Header.Values(name)) != 1 {
			return nil
		}
	}
	at, err := time.Parse(time.RFC3339Nano, m.Header.Get(headerTime))
	if err != nil || len(m.Header.Values(headerTime)) != 1 || len(m.Data) == 0 {
		return nil
	}
	return &engine.Next{After: engine.Revision(numbers[1]), Entry: newEntry(numbers[0], at, m.Header, m.Data)}
}

// Publish implements [engine.Engine].
func (e *Engine) Publish(ctx context.Context, room, agent string, record []byte, keep time.Duration) error {
	m := nats.NewMsg(e.subject("ttagent", room, agent))
	m.Header.Set(headerTTL, ttl(keep))
	m.Data = record
	answer, err := e.request(ctx, m)
	if err != nil {
		return e.explain(err)
	}
	return decodeAnswer(answer, &struct{}{})
}

// Records implements [engine.Engine].
func (e *Engine) Records(ctx context.Context, room string, names ...string) (map[string]engine.Record, error) {
	prefix := e.subject("ttagent", room) + "."
	if len(names) == 0 {
		names = []string{">"}
	}
	var query struct {
		Subjects []string `json:"multi_last"`
	}
	for _, name := range names {
		query.Subjects = append(query.Subjects, prefix+name)
	}
	b, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	next, done, err := e.ask(ctx, "$JS.API.DIRECT.GET."+agents, b)
	if err != nil {
		return nil, err
	}
	defer done()
	records := make(map[string]engine.Record)
	_, err = scanBatch(next, 0, func(_ uint64, at time.Time, m *nats.Msg) error {
		records[strings.TrimPrefix(m.Header.Get(headerSubject), prefix)] = engine.Record{At: at, Body: m.Data}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// AllRecords implements [engine.Engine]. The stream keeps one message for each agent.
func (e *Engine) AllRecords(ctx context.Context, prefix string) (map[string]map[string]engine.Record, error) {
	all := "ttagent." + e.ns + "."
	rooms := make(map[string]map[string]engine.Record)
	err := e.scan(ctx, agents, all+wildcard(prefix), 1, func(_ uint64, at time.Time, m *nats.Msg) error {
		name := strings.TrimPrefix(m.Header.Get(headerSubject), all)
		dot := strings.LastIndexByte(name, '.')
		if !strings.HasPrefix(name, prefix) || dot < 0 {
			return nil
		}
		room, agent := name[:dot], name[dot+1:]
		if rooms[room] == nil {
			rooms[room] = make(map[string]engine.Record)
		}
		rooms[room][agent] = engine.Record{At: at, Body: m.Data}
		return nil
	})
	return rooms, err
}

// Announce implements [engine.Engine]: a subscription ends with its process. When it is
// withdrawn, who has asked already is answered.
func (e *Engine) Announce(ctx context.Context, room, agent, what string, again func()) (withdraw func(), err error) {
	sub, forget, err := e.subscription(ctx, e.subject("ttpresent", room, agent, what), func(m *nats.Msg) { _ = m.Respond(nil) }, again)
	if err != nil {
		return nil, err
	}
	return func() {
		forget()
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
	ctx, cancel := context.WithTimeout(ctx, e.presencePatience())
	defer cancel()
	// It is the other process that answers. If it is stopped, that says nothing of the server.
	_, err := e.requestOnce(ctx, nats.NewMsg(e.subject("ttpresent", room, agent, what)), func(context.Context, time.Time, error) {})
	if err == nil || errors.Is(err, nats.ErrNoResponders) {
		return err == nil, nil
	}
	return false, e.explain(err)
}

// Notify implements [engine.Engine].
func (e *Engine) Notify(room string, agents ...string) {
	conn, err := e.connection(e.over)
	if err != nil {
		return
	}
	for _, agent := range agents {
		_ = conn.Publish(e.subject("ttnotify", room), []byte(agent))
	}
	_ = e.flush(conn)
}

// Notified implements [engine.Engine].
func (e *Engine) Notified(ctx context.Context, room string, fn func(agent string)) (stop func(), err error) {
	return e.subscribe(ctx, e.subject("ttnotify", room), func(m *nats.Msg) { fn(string(m.Data)) }, func() { fn("") })
}
