package jetstream

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
)

// What is acknowledged survives a power cut if all servers that keep the stream say so. One that is no tt-natsd
// does not answer.
func TestAllServersHaveToBeDurable(t *testing.T) {
	e, err := Open(natstest.Start(t).Namespace(t), Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	v, err := e.info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	this := v.Cluster.Leader
	for name, test := range map[string]struct {
		replicas []*jetstream.PeerInfo
		want     bool
	}{
		"it":                        {nil, true},
		"and one that is down":      {[]*jetstream.PeerInfo{{Name: "other", Offline: true}}, true},
		"and one that says nothing": {[]*jetstream.PeerInfo{{Name: "other"}}, false},
	} {
		answers, err := e.conn.SubscribeSync(e.conn.NewInbox())
		if err == nil {
			err = e.conn.PublishRequest("ttserver", answers.Subject, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := e.isDurable(t.Context(), answers, &jetstream.ClusterInfo{Leader: this, Replicas: test.replicas}); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
