package jetstream

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
)

// The calls that are not tried, after one that waited in vain, say what that one said.
func TestSilentCallsSayWhy(t *testing.T) {
	e := &Engine{servers: "tls://a:1"}
	denied := code.New(code.EngineDenied, "no")
	e.reach.failed(time.Now().Add(-time.Second), errors.New("raw"))
	e.reach.last = denied
	if err := e.connect(t.Context()); !errors.Is(err, denied) {
		t.Errorf("got %v", err)
	}
	var away *engine.UnreachableError
	e.reach.last = errors.New("raw")
	if err := e.connect(t.Context()); !errors.As(err, &away) || away.Since.IsZero() {
		t.Errorf("got %v", err)
	}
	e.reach.answered()
	if err := e.reach.silent(); err != nil {
		t.Errorf("got %v", err)
	}
}

// A change that its caller has cancelled says nothing of the servers.
func TestCancelledAppendIsNotInVain(t *testing.T) {
	e, err := Open(natstest.Start(t).Namespace(t), Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = e.Append(ctx, "rooms.r", 0, engine.Entry{Lines: []byte("1\n")}, 0)
	if code.Of(err) != code.InDoubt || !e.reach.since.IsZero() {
		t.Errorf("%v; the servers are taken to be silent since %v", err, e.reach.since)
	}
}
