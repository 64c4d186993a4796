package jetstream_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
)

const presentRoom = "rooms.api-1"

// A process that is stopped delays nobody who asks for it by more than a moment.
func TestStoppedProcessIsUnknownSoon(t *testing.T) {
	server := natstest.Start(t)
	e := open(t, server.Namespace(t))
	if is, err := e.Announced(t.Context(), presentRoom, "a", "waiting"); err != nil || is {
		t.Fatalf("%v, %v", is, err)
	}
	conn, err := nats.Connect(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Subscribe("ttpresent.>", func(*nats.Msg) {}); err != nil || conn.Flush() != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if is, err := e.Announced(t.Context(), presentRoom, "a", "waiting"); err == nil || is {
		t.Errorf("%v, %v", is, err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// Who is asked for while it withdraws answers, or is not there.
func TestWithdrawnWhileAsked(t *testing.T) {
	server := natstest.Start(t)
	address := server.Namespace(t)
	there, here := open(t, address), open(t, address)
	const times = 200
	unknown := 0
	for range times {
		withdraw, err := there.Announce(t.Context(), presentRoom, "a", "waiting", func() {})
		if err != nil {
			t.Fatal(err)
		}
		asking, asked := make(chan struct{}), make(chan error)
		go func() {
			close(asking)
			_, err := here.Announced(t.Context(), presentRoom, "a", "waiting")
			asked <- err
		}()
		<-asking
		withdraw()
		if err := <-asked; err != nil {
			unknown++
		}
	}
	if unknown > 2 { // a machine may stand still for a moment
		t.Errorf("nobody answered %d of %d times", unknown, times)
	}
}
