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
// The streams are made by tt-natsd, see [StreamConfig].
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

	mu      sync.Mutex
	conn    *nats.Conn
	reach   reach
	refused error // why the connection was refused, until it is made again
	pending []*pending
	again   map[int]func()
	next    int
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
	if !validNamespace(ns) {
		return nil, code.New(code.Usage, "%q is no namespace", ns).WithHint("write nats://HOST:PORT/NAMESPACE; a namespace has letters, digits, - and _")
	}
	hosts := strings.Split(u.Host, ",")
	var servers []string
	for _, host := range hosts {
		servers = append(servers, u.Scheme+"://"+host)
	}
	e := &Engine{servers: strings.Join(servers, ","), ns: ns, secure: slices.ContainsFunc(hosts, needsTLS),
		creds: creds, again: make(map[int]func())}
	e.over, e.interrupt = context.WithCancel(context.Background())
	return e, nil
}

// Interrupt implements [engine.Engine].
func (e *Engine) Interrupt() { e.interrupt() }

// change is the key of contexts in which what has become of a change is waited for: also after an interrupt, and
// though a call was in vain.
type change struct{}

func validNamespace(ns string) bool {
	return ns != "" && len(ns) <= 64 && strings.Trim(ns, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

func (e *Engine) subject(kind, room string, tokens ...string) string {
	return strings.Join(append([]string{kind, e.ns, room}, tokens...), ".")
}

// connection connects if that was not done, or did not work. It fails at once if a call was in vain a moment ago.
func (e *Engine) connection(ctx context.Context) (*nats.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.silent(); err != nil && ctx.Value(change{}) == nil {
		return nil, err
	}
	if e.conn != nil && e.conn.Status() == nats.RECONNECTING && e.refused == nil {
		return nil, e.unreachable(nats.ErrDisconnected)
	}
	if e.conn != nil {
		return e.conn, nil
	}
	options, err := e.creds.options()
	if err != nil {
		return nil, err
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
				e.inVain(time.Now(), err)
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
		return nil, context.Canceled
	}
	if err != nil {
		e.reach.failed(began, err)
		e.reach.last = e.explainConnect(err)
		return nil, e.reach.last
	}
	e.conn, e.reach = conn, reach{}
	e.rtt.Store(int64(time.Since(began) / connectRoundTrips))
	return conn, nil
}

// explain returns the error of a request that got no answer, or was refused.
func (e *Engine) explain(err error) error {
	var coded *code.Error
	if errors.As(err, &coded) {
		return err
	}
	switch refusal(err) {
	case accountFull, serverFull:
		return code.New(code.DiskFull, "the disk of the engine is full").
			WithHint("nothing was changed; free space where tt-natsd keeps its store").Because(err)
	case noStream:
		err = errors.New("it has no streams for rooms; is it a tt-natsd?")
	}
	if away := (*engine.UnreachableError)(nil); errors.As(err, &away) {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unreachable(err)
}

// reconnected tells all who listen that they may have missed something.
func (e *Engine) reconnected() {
	e.answered()
	e.mu.Lock()
	e.refused = nil
	var all []func()
	for _, fn := range e.again {
		all = append(all, fn)
	}
	e.mu.Unlock()
	for _, fn := range all {
		fn()
	}
}

func (e *Engine) subscribe(ctx context.Context, subject string, handle nats.MsgHandler, missed func()) (stop func(), err error) {
	sub, forget, err := e.subscription(ctx, subject, handle, missed)
	if err != nil {
		return nil, err
	}
	return func() {
		_ = sub.Unsubscribe()
		forget()
	}, nil
}

// subscription subscribes to a subject, and calls missed after each reconnection until forget
// is called. When it returns, the server has the subscription.
func (e *Engine) subscription(ctx context.Context, subject string, handle nats.MsgHandler,
	missed func()) (sub *nats.Subscription, forget func(), err error) {
	conn, err := e.connection(ctx)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout+engine.Slack)
	defer cancel()
	ctx, done, err := e.permitted(ctx, subject)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	sub, err = conn.Subscribe(subject, handle)
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	err = conn.FlushWithContext(ctx)
	if e.judge(ctx, began, err); err == nil {
		err = deniedLast(conn, subject)
	}
	if err != nil {
		_ = sub.Unsubscribe()
		return nil, nil, e.explain(cause(ctx, err))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next++
	id := e.next
	e.again[id] = missed
	return sub, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.again, id)
	}, nil
}

// roundTrip is how long a message to the server and the answer take.
func (e *Engine) roundTrip() time.Duration { return time.Duration(e.rtt.Load()) }

// patience is how long the answer to one request is waited for. It may be late by what is usual
// on the way to the server.
func (e *Engine) patience() time.Duration {
	return min(requestTimeout+4*e.roundTrip(), requestMost) + engine.Slack
}

// request sends a request and returns the answer.
func (e *Engine) request(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	return e.requestOnce(ctx, m, e.judge)
}

func (e *Engine) requestOnce(ctx context.Context, m *nats.Msg,
	judge func(ctx context.Context, began time.Time, err error)) (*nats.Msg, error) {
	conn, err := e.connection(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.patience())
	defer cancel()
	ctx, done, err := e.permitted(ctx, m.Subject)
	if err != nil {
		return nil, err
	}
	defer done()
	began := time.Now()
	answer, err := conn.RequestMsgWithContext(ctx, m)
	judge(ctx, began, err)
	if took := time.Since(began); err == nil && took < e.roundTrip() {
		e.rtt.Store(int64(took))
	}
	return answer, cause(ctx, err)
}

// ask sends a request that is answered by several messages, which next returns one by one.
func (e *Engine) ask(ctx context.Context, subject string, query []byte) (next func() (*nats.Msg, error), done func(), err error) {
	conn, err := e.connection(ctx)
	if err != nil {
		return nil, nil, err
	}
	ctx, over, err := e.permitted(ctx, subject)
	if err != nil {
		return nil, nil, err
	}
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		over()
		return nil, nil, e.explain(err)
	}
	done = func() {
		_ = sub.Unsubscribe()
		over()
	}
	if err := conn.PublishRequest(subject, inbox, query); err != nil {
		done()
		return nil, nil, e.explain(err)
	}
	return func() (*nats.Msg, error) {
		ctx, cancel := context.WithTimeout(ctx, e.patience())
		defer cancel()
		began := time.Now()
		m, err := sub.NextMsgWithContext(ctx)
		if e.judge(ctx, began, err); err != nil {
			return nil, e.explain(cause(ctx, err))
		}
		return m, nil
	}, done, nil
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
