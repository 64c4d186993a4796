package main

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// freePorts returns ports of the loopback that nobody used a moment ago.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func clusterConfig(i int, ports []int) string {
	var routes []string
	for _, port := range ports {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	return fmt.Sprintf("server_name: n%d\ncluster { name: c, listen: \"127.0.0.1:%d\", routes: [%s] }\n", i, ports[i], strings.Join(routes, ", "))
}

// Three servers make the streams once, on three servers. Each that is a tt-natsd says that it is durable.
func TestCluster(t *testing.T) {
	ports := freePorts(t, 3)
	dir := t.TempDir()
	var servers [3]*running
	var wg sync.WaitGroup
	for i := range servers {
		o := options{listen: "127.0.0.1:0", store: filepath.Join(dir, fmt.Sprint(i)), config: write(t, clusterConfig(i, ports))}
		wg.Go(func() {
			r, line := begin(t, o)
			r.url = strings.TrimPrefix(<-line, "listening ")
			servers[i] = r
		})
	}
	wg.Wait()
	ids := make(map[any]bool)
	for i, r := range servers {
		conn := connect(t, r.url)
		config := ask(t, conn, "$JS.API.STREAM.INFO."+entries, nil).Config
		if config["num_replicas"] != 3.0 {
			t.Errorf("%v replicas", config["num_replicas"])
		}
		ids[metadata(t, conn)[metaID]] = true
		until(t, fmt.Sprintf("durable by the word of server %d", i), func() bool {
			m, err := conn.Request(subjectServer, nil, patience)
			return err == nil && strings.Contains(string(m.Data), `"durable":true`)
		})
	}
	if len(ids) != 1 {
		t.Errorf("ids %v", ids)
	}

	if err := servers[2].stop(); err != nil {
		t.Error(err)
	}
	opts, err := server.ProcessConfigFile(write(t, clusterConfig(2, ports)))
	if err != nil {
		t.Fatal(err)
	}
	opts.StoreDir = filepath.Join(dir, "2")
	plain(t, opts)
	conn := connect(t, servers[0].url)
	answers, err := conn.SubscribeSync(conn.NewInbox())
	if err == nil {
		err = conn.PublishRequest(subjectServer, answers.Subject, nil)
	}
	for n := 0; err == nil; n++ {
		var m *nats.Msg
		if m, err = answers.NextMsg(time.Second); err == nil && (n == 2 || strings.Contains(string(m.Data), `"n2"`)) {
			t.Errorf("it answers, too: %s", m.Data)
		}
	}
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); {
		if time.Now().After(deadline) {
			t.Fatalf("not %s after %v", what, patience)
		}
		time.Sleep(10 * time.Millisecond) // what is waited for happens once in some seconds
	}
}

// Three servers that take the place of lost ones close the streams before they let anybody in.
func TestClusterBegunAnew(t *testing.T) {
	ports, dir := freePorts(t, 3), t.TempDir()
	var lines []<-chan string
	for i := range ports {
		_, line := begin(t, options{listen: "127.0.0.1:0", store: filepath.Join(dir, fmt.Sprint(i)),
			config: write(t, clusterConfig(i, ports)), restored: true})
		lines = append(lines, line)
	}
	for i, line := range lines {
		url, ok := strings.CutPrefix(<-line, "listening ")
		if !ok {
			t.Fatalf("server %d has ended", i)
		}
		conn := connect(t, url)
		until(t, fmt.Sprintf("closed by the word of server %d", i), func() bool {
			info, err := streamInfo(t.Context(), conn, entries)
			return err == nil && info.Config.Metadata[metaRestored] == "true"
		})
	}
}
