package main

import (
	"path/filepath"
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
	refused(t, member, "has the streams of a single server")
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
	refused(t, options{listen: "127.0.0.1:0", store: member.store}, "belongs to a cluster")
}
