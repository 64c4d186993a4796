package jetstream_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
	"github.com/talking-stick/tt/fsroom/engine"
)

// throughProxy returns an engine that is connected through a proxy, and the proxy.
func throughProxy(t *testing.T) (engine.Engine, *proxy) {
	t.Helper()
	server := natstest.Start(t)
	address := server.Namespace(t)
	_, host, _ := strings.Cut(address, "://")
	host, ns, _ := strings.Cut(host, "/")
	p := startProxy(t, host)
	return open(t, "nats://"+p.address+"/"+ns), p
}

// An interrupt ends all that waits for a server that does not answer, also what begins after it:
// before there is a connection, and with one.
func TestInterrupt(t *testing.T) {
	engine.Slack = time.Minute
	defer func() { engine.Slack = 0 }()
	for _, connected := range []bool{false, true} {
		i, p := throughProxy(t)
		ctx := t.Context()
		if connected {
			if _, err := i.Info(ctx); err != nil {
				t.Fatal(err)
			}
		}
		p.silent.Store(true)
		errOf := func(_ any, err error) error { return err }
		calls := map[string]func() error{
			"Info":      func() error { return errOf(i.Info(ctx)) },
			"Read":      func() error { return i.Read(ctx, "r", 0, nil) },
			"Confirm":   func() error { return i.Confirm(ctx, "r", 0) },
			"Rooms":     func() error { return errOf(i.Rooms(ctx, "rooms.")) },
			"Publish":   func() error { return i.Publish(ctx, "r", "a", nil, 0) },
			"Records":   func() error { return errOf(i.Records(ctx, "r")) },
			"Announced": func() error { return errOf(i.Announced(ctx, "r", "a", "w")) },
			"Announce":  func() error { return errOf(i.Announce(ctx, "r", "a", "w", func() {})) },
			"Watch":     func() error { return errOf(i.Watch(ctx, "r", nil)) },
			"Notified":  func() error { return errOf(i.Notified(ctx, "r", nil)) },
			"Probe":     func() error { return i.Probe(ctx) },
			"Notify":    func() error { i.Notify("r", "a"); return context.Canceled },
		}
		began, ended := make(chan string), make(chan error)
		for name, call := range calls {
			go func() { began <- name; ended <- call() }()
		}
		for range calls {
			<-began
		}
		i.Interrupt()
		i.Interrupt()
		for range calls {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("connected %v: %v", connected, err)
			}
		}
		for name, call := range calls {
			if err := call(); !errors.Is(err, context.Canceled) {
				t.Errorf("connected %v: %s afterwards: %v", connected, name, err)
			}
		}
	}
}

// What has become of a change is found out after an interrupt, too.
func TestInterruptLeavesChangesAlone(t *testing.T) {
	e, p := throughProxy(t)
	if _, err := e.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.Interrupt()
	p.next.Store(loseAnswer)
	entry, err := e.Append(t.Context(), "rooms.r", 0, engine.Entry{Lines: []byte("x\n")}, 0)
	if err != nil || entry.Revision == 0 {
		t.Errorf("%+v, %v", entry, err)
	}
}
