package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A cluster does not know the streams of a store that one server has made, and would mix
// them with its own; so it is with one server on a store of a cluster.
func TestStoreOfOneServerInCluster(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	alone := options{listen: "127.0.0.1:0", store: store}
	if err := start(t, alone).stop(); err != nil {
		t.Fatal(err)
	}
	ports := freePorts(t, 3)
	member := options{listen: "127.0.0.1:0", store: store, config: write(t, clusterConfig(0, ports))}
	refused := func(o options, says string) {
		t.Helper()
		r, line := begin(t, o)
		if text, ok := <-line; ok {
			t.Fatalf("it prints %q", text)
		}
		if err := r.stop(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	refused(member, "has the streams of a single server")
	start(t, alone)

	member.store = filepath.Join(t.TempDir(), "store")
	r, _ := begin(t, member)
	until(t, "started", func() bool {
		found, _ := filepath.Glob(filepath.Join(member.store, "jetstream", "*", "_js_"))
		return len(found) > 0
	})
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	refused(options{listen: "127.0.0.1:0", store: member.store}, "belongs to a cluster")
}
