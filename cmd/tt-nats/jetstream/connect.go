// Package jetstream is an engine on NATS JetStream: one stream, a subject for each room,
// one message for each entry.
//
//	ttlog.NS.ROOM             entries, in the stream TT
//	ttrepair.NS.ROOM          the same, while the store is one that was copied back and only repairs are taken
//	ttconfirm.NS.ROOM         what Confirm appends, in the same stream: see Confirm
//	ttchanged.NS.ROOM         entries of ttlog, republished by the server once they are stored
//	ttagent.NS.ROOM.AGENT     records, in the stream TTAGENTS
//	ttnotify.NS.ROOM          notifications, not stored
//	ttpresent.NS.ROOM.AGENT.WHAT  a process that has announced itself answers requests here
//
// NS is a namespace. ROOM has two tokens, such as rooms.api-1c6f….
//
// The streams are made by tt-natsd.
package jetstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
)

const (
	connectTimeout = 2 * time.Second
	requestTimeout = 1500 * time.Millisecond // of one request to a near server, see [Engine.patience]
	requestMost    = 3 * time.Second         // of one to a far server: what became of a change is asked after it
	callTimeout    = engine.Patience         // of one call of the engine's methods
	reconnectWait  = 100 * time.Millisecond
	reconnectMax   = 5 * time.Second
)

// connectRoundTrips is how often a message goes to the server and back, at least, until there
// is a connection.
const connectRoundTrips = 2

// An Engine is one namespace on one server or cluster. It connects when it is first used.
type Engine struct {
	servers string
	ns      string
	secure  bool // no connection without TLS
	creds   Credentials

	over      context.Context    // see Interrupt
	interrupt context.CancelFunc // ends over

	rtt       atomic.Int64 // the shortest time of a request and its answer that was seen
	repairing atomic.Bool  // entries are repairs while the engine takes no others
	reach     reach

	mu        sync.Mutex
	conn      *nats.Conn
	js        jetstream.JetStream // on conn
	refused   error               // why the connection was refused, until it is made again
	pending   []*pending
	listening map[*nats.Subscription]func() // what to call when messages may have been missed
}

// Open returns the engine at nats://HOST:PORT[,HOST:PORT…]/NAMESPACE, or tls:// alike.
func Open(address string, creds Credentials) (*Engine, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" || strings.ContainsAny(address, "?#") {
		return nil, code.New(code.Usage, "%q is no address of an engine", address).WithHint("write nats://HOST:PORT/NAMESPACE")
	}
	if u.User != nil {
		return nil, code.New(code.Usage, "the address of an engine has a password in it").
			WithHint(`put the path of a credentials file into engines.json; see "tt help hosts"`)
	}
	ns := strings.Trim(u.Path, "/")
	if ns == "" || len(ns) > 64 || strings.Trim(ns, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return nil, code.New(code.Usage, "%q is no namespace", ns).WithHint("write nats://HOST:PORT/NAMESPACE; a namespace has letters, digits, - and _")
	}
	hosts := strings.Split(u.Host, ",")
	var servers []string
	for _, host := range hosts {
		servers = append(servers, u.Scheme+"://"+host)
	}
	e := &Engine{servers: strings.Join(servers, ","), ns: ns, secure: slices.ContainsFunc(hosts, needsTLS),
		creds: creds, listening: make(map[*nats.Subscription]func())}
	e.over, e.interrupt = context.WithCancel(context.Background())
	return e, nil
}

// Interrupt implements [engine.Engine].
func (e *Engine) Interrupt() { e.interrupt() }

func (e *Engine) subject(kind, room string, tokens ...string) string {
	return strings.Join(append([]string{kind, e.ns, room}, tokens...), ".")
}

// connect connects if that was not done, or did not work. It fails at once if a call was in vain a moment ago.
func (e *Engine) connect(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.reach.silent(); err != nil && ctx.Value(change{}) == nil {
		return e.unreachable(err)
	}
	switch {
	case e.refused != nil:
		return e.refused
	case e.conn != nil && e.conn.Status() == nats.RECONNECTING:
		return e.unreachable(nats.ErrDisconnected)
	case e.conn != nil:
		return nil
	}
	options, err := e.creds.options()
	if err != nil {
		return err
	}
	if e.secure {
		options = append(options, nats.Secure())
	}
	options = append(options,
		nats.Name("tt "+strconv.Itoa(os.Getpid())),
		nats.Timeout(connectTimeout/time.Duration(1+strings.Count(e.servers, ","))+engine.Slack),
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay(func(tries int) time.Duration {
			d := min(reconnectWait<<min(tries, 10), reconnectMax)
			return d/2 + rand.N(d/2)
		}),
		nats.ReconnectBufSize(-1), // what could not be sent is not sent later
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				e.reach.failed(time.Now(), err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { e.reconnected() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { e.asynchronous(err) }),
	)
	began := time.Now()
	done := make(chan struct{})
	var conn *nats.Conn
	go func() { conn, err = nats.Connect(e.servers, options...); close(done) }()
	select {
	case <-done:
	case <-e.over.Done():
		return context.Canceled
	}
	if err == nil {
		e.js, err = jetstream.New(conn)
	}
	if err != nil {
		e.reach.failed(began, e.explainConnect(err))
		return e.unreachable(e.explainConnect(err))
	}
	e.conn = conn
	e.reach.answered()
	e.rtt.Store(int64(time.Since(began) / connectRoundTrips))
	return nil
}

// patience is how long the answer to one request is waited for. It may be late by what is usual
// on the way to the server.
func (e *Engine) patience() time.Duration {
	return min(requestTimeout+4*e.roundTrip(), requestMost) + engine.Slack
}

// roundTrip is how long a message to the server and the answer take.
func (e *Engine) roundTrip() time.Duration { return time.Duration(e.rtt.Load()) }

// call makes a request on a subject, and notes whether the servers answer. Its error is explained.
func (e *Engine) call(ctx context.Context, subject string, patience time.Duration, request func(ctx context.Context) error) error {
	return e.try(ctx, subject, patience, func(ctx context.Context) error {
		began := time.Now()
		err := request(ctx)
		switch {
		case hasAnswered(err):
			if e.reach.answered(); time.Since(began) < e.roundTrip() {
				e.rtt.Store(int64(time.Since(began)))
			}
		case !errors.Is(ctx.Err(), context.Canceled): // by the caller
			e.reach.failed(began, err)
		}
		return err
	})
}

// try makes a request. Its context ends after the patience, when the server denies the subject, and when the
// engine is interrupted.
func (e *Engine) try(ctx context.Context, subject string, patience time.Duration, request func(ctx context.Context) error) error {
	if err := e.connect(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, done := e.permitted(ctx, subject)
	defer done()
	err := request(ctx)
	if why := context.Cause(ctx); err != nil && isDenied(why) {
		return why
	}
	return e.explain(err)
}

// reconnected tells all who listen that they may have missed something.
func (e *Engine) reconnected() {
	e.reach.answered()
	e.mu.Lock()
	e.refused = nil
	var all []func()
	for _, missed := range e.listening {
		all = append(all, missed)
	}
	e.mu.Unlock()
	for _, missed := range all {
		missed()
	}
}

// subscribe subscribes to a subject, and calls missed after each reconnection, until forget. When it returns, the
// server has the subscription.
func (e *Engine) subscribe(ctx context.Context, subject string, handle nats.MsgHandler, missed func()) (sub *nats.Subscription, err error) {
	err = e.call(ctx, subject, callTimeout+engine.Slack, func(ctx context.Context) error {
		if sub, err = e.conn.Subscribe(subject, handle); err != nil {
			return err
		}
		if err = e.conn.FlushWithContext(ctx); err == nil {
			err = deniedLast(e.conn, subject)
		}
		if err != nil {
			_ = sub.Unsubscribe()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.listening[sub] = missed
	return sub, nil
}

func (e *Engine) forget(sub *nats.Subscription) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.listening, sub)
}

// listen is subscribe until stop is called.
func (e *Engine) listen(ctx context.Context, subject string, handle nats.MsgHandler, missed func()) (stop func(), err error) {
	sub, err := e.subscribe(ctx, subject, handle, missed)
	if err != nil {
		return nil, err
	}
	return func() {
		_ = sub.Unsubscribe()
		e.forget(sub)
	}, nil
}

// Close ends the connection, after everything was sent.
func (e *Engine) Close() error {
	e.mu.Lock()
	conn := e.conn
	e.mu.Unlock()
	if conn == nil {
		return nil
	}
	err := e.flush(conn)
	conn.Close()
	return err
}

// flush waits until the server has what was sent.
func (e *Engine) flush(conn *nats.Conn) error {
	ctx, cancel := context.WithTimeout(e.over, e.patience())
	defer cancel()
	return conn.FlushWithContext(ctx)
}
