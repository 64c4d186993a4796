package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	maxPayload    = 8 << 20 // a change may be long
	pingInterval  = 10 * time.Second
	maxPings      = 2 // a host that vanished is noticed after half a minute
	startPatience = 30 * time.Second
	restartPause  = time.Second
	// routeReports is at which tries it is told again that a server of the cluster is away: there is one every second.
	routeReports = 60
)

// errWrite means that a write to the store failed, after which the server does not write any
// more. It is started again.
var errWrite = errors.New("a write to the store failed")

// errNotOurs means that the streams cannot be closed: where operators sign the accounts, nobody here
// is a user of them.
var errNotOurs = errors.New("the accounts of --config come from operators, so tt-natsd cannot close their streams " +
	`until hosts have given back what is lost: see "Accounts of operators" in docs/hosts.md`)

// serve runs the server until ctx ends.
func serve(ctx context.Context, o options, stdout, stderr io.Writer) error {
	store, err := openStore(o)
	if err != nil {
		return err
	}
	defer store.Close()
	if o.restored {
		if err := shutStore(ctx, o, store, stderr); err != nil || ctx.Err() != nil {
			return err
		}
	}
	host, _, _ := splitAddress(o.listen)
	var said sync.Once
	ready := func(port int) {
		said.Do(func() { fmt.Fprintf(stdout, "listening nats://%s\n", net.JoinHostPort(host, strconv.Itoa(port))) })
	}
	for {
		if err := serveOnce(ctx, &o, store, stderr, ready); !errors.Is(err, errWrite) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(restartPause):
		}
	}
}

// shutStore closes the streams of a store that lacks something, before a client can connect: it
// would change what hosts are to give back first.
func shutStore(ctx context.Context, o options, store *store, stderr io.Writer) error {
	o.closing, o.monitor = true, ""
	if err := serveOnce(ctx, &o, store, stderr, func(int) {}); err != nil || ctx.Err() != nil {
		return err
	}
	return store.write(record{Ready: true})
}

// serveOnce runs the server until ctx ends or a write fails. It calls ready when the streams
// are there, and keeps the port in o. While it closes the streams of a restored store it
// ends as soon as they are closed.
func serveOnce(ctx context.Context, o *options, store *store, stderr io.Writer, ready func(port int)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	opts, clustered, err := o.server()
	if err != nil {
		return err
	}
	var monitor net.Listener
	if o.monitor != "" {
		if monitor, err = net.Listen("tcp", o.monitor); err != nil {
			return err
		}
		defer monitor.Close()
	}
	there := streamsIn(o.store)
	if err := fits(o.store, clustered, len(there) > 0); err != nil {
		return err
	}
	setup, err := newSetup(opts, clustered)
	if err != nil {
		return err
	}
	if o.closing && setup.operators {
		return errNotOurs
	}
	setup.restored = o.closing
	s, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	log := &logger{out: stderr, failed: make(chan error, 1)}
	s.SetLoggerV2(log, false, false, false)
	var background sync.WaitGroup
	defer func() {
		cancel()
		background.Wait()
		s.Shutdown()
		s.WaitForShutdown()
	}()
	s.Start()
	if err := waitReady(ctx, s, log.failed); err != nil {
		return ended(ctx, err)
	}
	if config := s.JetStreamConfig(); config == nil || !config.SyncAlways {
		return errors.New("JetStream does not sync always")
	}
	port := o.port(s, opts)
	if !isLoopback(opts.Host) && opts.TLSConfig == nil {
		log.Warnf("%s can be reached by others, without TLS: give certificates in --config", opts.Host)
	}
	if monitor != nil {
		pages := setup.health.serveMonitor(monitor, s.HTTPHandler(), func() { setup.lookAtAll(ctx) })
		defer pages.Close()
		log.print("info:", "monitoring at http://%s", []any{monitor.Addr()})
	}
	if !o.closing {
		background.Go(func() { watchStore(ctx, s, store, setup, log) })
	}
	setup.warn = log.Warnf
	for _, u := range setup.users {
		u.had = !clustered && slices.Contains(there, u.accountName())
	}
	made := make(chan error, 1)
	background.Go(func() { made <- setup.run(ctx, s) })
	for {
		select {
		case err := <-made:
			if err != nil {
				return ended(ctx, err)
			}
			if o.closing {
				return nil
			}
			if err := store.ready(); err != nil {
				return err
			}
			if setup.health.closed.Load() {
				log.Warnf("the store was restored, or has lost something: changes are refused until a host has given back what it has, and says: tt doctor --repair --open")
			}
			ready(port)
			made = nil
		case err := <-log.failed:
			return ended(ctx, err)
		case <-ctx.Done():
			return nil
		}
	}
}

// port returns the port of a server that runs, and keeps it in the options for the next one.
func (o *options) port(s *server.Server, opts *server.Options) int {
	port := s.Addr().(*net.TCPAddr).Port
	o.listen = net.JoinHostPort(opts.Host, strconv.Itoa(port))
	return port
}

// ended returns nil if the server was told to end, which no error of it means then.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// waitReady waits until clients can connect.
func waitReady(ctx context.Context, s *server.Server, failed <-chan error) error {
	deadline := time.After(startPatience)
	for {
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("not ready after %v", startPatience)
		default:
		}
		if s.ReadyForConnections(10 * time.Millisecond) {
			return nil
		}
	}
}

// streamsIn returns which accounts have a stream of entries in the store.
func streamsIn(store string) []string {
	found, _ := filepath.Glob(filepath.Join(store, "jetstream", "*", "streams", entries))
	for i, path := range found {
		found[i] = filepath.Base(filepath.Dir(filepath.Dir(path)))
	}
	return found
}

// fits returns an error if a store was made by a single server and now gets others, or the
// other way. A cluster knows its streams by a log of its own: it would not find those of
// a single server, and mix their messages with those of new ones.
func fits(store string, clustered, hasStreams bool) error {
	logs, _ := filepath.Glob(filepath.Join(store, "jetstream", "*", "_js_")) // in the system account
	ofCluster := len(logs) > 0
	switch {
	case clustered && hasStreams && !ofCluster:
		return fmt.Errorf("the store %s has the streams of a single server: a cluster begins with empty stores, and hosts give it what they have by tt doctor --repair", store)
	case !clustered && ofCluster:
		return fmt.Errorf("the store %s belongs to a cluster: --config does not name it", store)
	}
	return nil
}

// server returns the options of nats-server. What durability needs wins over the
// configuration.
func (o options) server() (opts *server.Options, clustered bool, err error) {
	opts = &server.Options{}
	if o.config != "" {
		if opts, err = server.ProcessConfigFile(o.config); err != nil {
			var path *os.PathError
			if text := strings.TrimSpace(err.Error()); !errors.As(err, &path) && !strings.HasPrefix(text, o.config) {
				err = fmt.Errorf("%s: %s", o.config, text)
			}
			return nil, false, err
		}
	}
	opts.Host, opts.Port, _ = splitAddress(o.listen)
	if opts.Port == 0 {
		opts.Port = server.RANDOM_PORT
	}
	if o.monitor != "" { // its pages are served by health
		opts.HTTPHost, opts.HTTPPort = "127.0.0.1", server.RANDOM_PORT
	}
	clustered = opts.Cluster.Port != 0 || len(opts.Routes) > 0
	if o.closing { // at an address that nobody knows: a cluster waits for that of its clients
		opts.Host, opts.Port = "127.0.0.1", server.RANDOM_PORT
		opts.LeafNode.Port, opts.LeafNode.Remotes, opts.Websocket.Port, opts.MQTT.Port = 0, nil, 0, 0
	}
	opts.JetStream, opts.StoreDir, opts.SyncAlways, opts.NoSigs = true, o.store, true, true
	if opts.JetStreamMaxStore <= 0 { // the default is three quarters of what is free at the start, see watchSpace
		opts.JetStreamMaxStore = math.MaxInt64 / 4
	}
	opts.MaxPayload = max(opts.MaxPayload, maxPayload)
	opts.ReconnectErrorReports = cmp.Or(opts.ReconnectErrorReports, routeReports)
	if opts.PingInterval == 0 {
		opts.PingInterval, opts.MaxPingsOut = pingInterval, maxPings
	}
	return opts, clustered, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// A logger prints what an operator has to know: warnings and errors. What the server cannot
// go on after is sent to failed.
type logger struct {
	out    io.Writer
	failed chan error
}

func (l *logger) print(kind, format string, args []any) {
	fmt.Fprintf(l.out, "%s %s %s\n", time.Now().UTC().Format(time.RFC3339), kind, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

func (l *logger) fail(err error) {
	select {
	case l.failed <- err:
	default:
	}
}

func (l *logger) Noticef(string, ...any)           {}
func (l *logger) Debugf(string, ...any)            {}
func (l *logger) Tracef(string, ...any)            {}
func (l *logger) Warnf(format string, args ...any) { l.print("warning:", format, args) }
func (l *logger) Fatalf(format string, args ...any) {
	l.fail(fmt.Errorf(format, args...))
}

func (l *logger) Errorf(format string, args ...any) {
	l.print("error:", format, args)
	if strings.Contains(format, "critical write error") || strings.Contains(format, "will be DISABLED") {
		l.fail(errWrite)
	}
}
