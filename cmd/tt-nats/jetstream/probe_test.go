package jetstream_test

import (
	"testing"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
)

// An engine whose store was copied back takes nothing, but it is there.
func TestProbeOfARestoredStore(t *testing.T) {
	server := natstest.Start(t)
	address := server.Namespace(t)
	e := open(t, address)
	if _, err := e.Append(t.Context(), "rooms.r", 0, engine.Entry{Lines: []byte("1\n")}, 0); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	server.Save(t)
	server.PutBack(t)
	server.Restart(t, "--restored")
	if err := open(t, address).Probe(t.Context()); code.Of(err) != code.EngineRestored {
		t.Errorf("got %v", err)
	}
}
