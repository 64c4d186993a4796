package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	maxPayload    = 8 << 20 // a change may be long
	pingInterval  = 10 * time.Second
	maxPings      = 2 // a host that vanished is noticed after half a minute
	startPatience = 30 * time.Second
)

// serve runs the server until ctx ends.
func serve(ctx context.Context, o options, stdout, stderr io.Writer) error {
	opts, clustered, err := o.server()
	if err != nil {
		return err
	}
	setup := newSetup(opts, o.replicas, clustered)
	s, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	s.SetLoggerV2(&logger{out: stderr}, false, false, false)
	s.Start()
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	if !s.ReadyForConnections(startPatience) {
		return fmt.Errorf("not ready after %v; is %s in use?", startPatience, o.listen)
	}
	if config := s.JetStreamConfig(); config == nil || !config.SyncAlways {
		return errors.New("JetStream does not sync always")
	}
	if !isLoopback(opts.Host) && opts.TLSConfig == nil {
		fmt.Fprintf(stderr, "tt-natsd: %s can be reached by others, without TLS: give certificates in --config\n", opts.Host)
	}
	if err := setup.run(ctx, s); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "listening nats://%s\n", s.Addr())
	<-ctx.Done()
	return nil
}

// server returns the options of nats-server. What durability needs wins over the
// configuration.
func (o options) server() (opts *server.Options, clustered bool, err error) {
	opts = &server.Options{}
	if o.config != "" {
		if opts, err = server.ProcessConfigFile(o.config); err != nil {
			return nil, false, err
		}
	}
	opts.Host, opts.Port, _ = splitAddress(o.listen)
	if opts.Port == 0 {
		opts.Port = server.RANDOM_PORT
	}
	if o.monitor != "" {
		opts.HTTPHost, opts.HTTPPort, _ = splitAddress(o.monitor)
	}
	if err := os.MkdirAll(o.store, 0o700); err != nil {
		return nil, false, err
	}
	opts.JetStream, opts.StoreDir, opts.SyncAlways, opts.NoSigs = true, o.store, true, true
	opts.MaxPayload = max(opts.MaxPayload, maxPayload)
	if opts.PingInterval == 0 {
		opts.PingInterval, opts.MaxPingsOut = pingInterval, maxPings
	}
	return opts, opts.Cluster.Port != 0 || len(opts.Routes) > 0, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// randomID returns 64 random bits in hexadecimal.
func randomID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// A logger prints what an operator has to know: warnings and errors.
type logger struct{ out io.Writer }

func (l *logger) print(kind, format string, args []any) {
	fmt.Fprintf(l.out, "%s %s "+format+"\n", append([]any{time.Now().UTC().Format(time.RFC3339), kind}, args...)...)
}

func (l *logger) Noticef(string, ...any)            {}
func (l *logger) Debugf(string, ...any)             {}
func (l *logger) Tracef(string, ...any)             {}
func (l *logger) Warnf(format string, args ...any)  { l.print("warning:", format, args) }
func (l *logger) Errorf(format string, args ...any) { l.print("error:", format, args) }
func (l *logger) Fatalf(format string, args ...any) { l.print("fatal:", format, args) }
