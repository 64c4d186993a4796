//go:build unix

package jetstream_test

import (
	"testing"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream"
	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest"
)

func TestConformance(t *testing.T) {
	server := natstest.Start(t)
	enginetest.Run(t, func(t *testing.T) func() engine.Engine {
		address := server.Namespace(t)
		return func() engine.Engine {
			e, err := jetstream.Open(address, jetstream.Credentials{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			return e
		}
	})
}
