package jetstream_test

import (
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
)

// A server that is killed and started again finds those who were announced, and they hear of it.
func TestAnnouncedToAServerThatWasKilled(t *testing.T) {
	server := natstest.Start(t)
	address := server.Namespace(t)
	there, here := open(t, address), open(t, address)
	again := make(chan struct{}, 10)
	withdraw, err := there.Announce(t.Context(), presentRoom, "a", "waiting", func() { again <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	defer withdraw()
	server.Kill()
	server.Restart(t)
	<-again
	for limit := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		is, err := here.Announced(t.Context(), presentRoom, "a", "waiting")
		if is {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("it is %v, %v", is, err)
		}
	}
}
