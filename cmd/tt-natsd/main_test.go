package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const patience = 2 * time.Minute

// A running is a server that runs in this process.
type running struct {
	url    string
	stop   func() error // ends it, and returns what it returned
	stderr *output
}

// An output may be written and read at the same time.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// start starts a server. It ends with the test.
func start(t *testing.T, o options) *running {
	t.Helper()
	r, line := begin(t, o)
	select {
	case text, ok := <-line:
		if url, found := strings.CutPrefix(text, "listening "); ok && found {
			r.url = url
			return r
		}
		t.Fatalf("it printed %q: %v\n%s", text, r.stop(), r.stderr)
	case <-time.After(2 * patience):
		t.Fatalf("it is not ready\n%s", r.stderr)
	}
	return nil
}

// begin starts a server and returns before it is ready. Its first line comes by the
// channel, which is closed if there is none.
func begin(t *testing.T, o options) (*running, <-chan string) {
	t.Helper()
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(o.store); err != nil { // the first start of a test
		o.create = true
	}
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	r := &running{stderr: new(output)}
	result := make(chan error, 1)
	go func() {
		err := serve(ctx, o, in, r.stderr)
		in.Close()
		result <- err
	}()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-result
	})
	t.Cleanup(func() { _ = r.stop() })
	line := make(chan string, 1)
	go func() {
		defer close(line)
		b := bufio.NewReader(out)
		if text, err := b.ReadString('\n'); err == nil {
			line <- strings.TrimSpace(text)
		}
		rest, _ := io.ReadAll(b)
		if len(rest) > 0 {
			t.Errorf("it also printed %q", rest)
		}
	}()
	return r, line
}

func connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// ask asks the API of JetStream and returns the answer.
func ask(t *testing.T, conn *nats.Conn, subject string, body any) (v struct {
	Error  *server.ApiError
	Config map[string]any
	Seq    uint64
}) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	m, err := conn.Request(subject, b, patience)
	if err == nil {
		err = json.Unmarshal(m.Data, &v)
	}
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	return v
}

func metadata(t *testing.T, conn *nats.Conn) map[string]any {
	t.Helper()
	return ask(t, conn, "$JS.API.STREAM.INFO."+entries, nil).Config["metadata"].(map[string]any)
}

func local(t *testing.T) options {
	return options{listen: "127.0.0.1:0", store: filepath.Join(t.TempDir(), "store")}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tt.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFlags(t *testing.T) {
	for _, test := range []struct {
		args   string
		status int
		says   string
	}{
		{"--help", 0, "--monitor"},
		{"--version", 0, "tt-natsd dev"},
		{"", 2, "--listen and --store are missing"},
		{"--listen 127.0.0.1:0", 2, "missing"},
		{"--listen 127.0.0.1 --store x", 2, "write HOST:PORT"},
		{"--listen :4222 --store x", 2, "write HOST:PORT"},
		{"--listen 127.0.0.1:70000 --store x", 2, "write HOST:PORT"},
		{"--listen 127.0.0.1:0 --store x --monitor 1", 2, "write HOST:PORT"},
		{"--listen 127.0.0.1:0 --store x more", 2, `"more"`},
		{"--store x --listem 1", 2, "unknown flag"},
	} {
		var stdout, stderr bytes.Buffer
		status := run(strings.Fields(test.args), &stdout, &stderr)
		if all := stdout.String() + stderr.String(); status != test.status || !strings.Contains(all, test.says) {
			t.Errorf("%q: status %d, %q", test.args, status, all)
		}
		if status != 0 && stdout.Len() > 0 {
			t.Errorf("%q prints %q on standard output", test.args, stdout.String())
		}
	}
}

func TestNewKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alex.nk")
	var stdout, stderr bytes.Buffer
	if status := run([]string{"--new-key", path}, &stdout, &stderr); status != 0 || !regexp.MustCompile(`^U[A-Z0-9]{55}\n$`).MatchString(stdout.String()) {
		t.Fatalf("status %d, %q, %q", status, stdout.String(), stderr.String())
	}
	b, err := os.ReadFile(path)
	if info, _ := os.Stat(path); err != nil || !strings.HasPrefix(string(b), "SU") || info.Mode().Perm() != 0o600 {
		t.Errorf("%q, %v, %v", b, err, info.Mode())
	}
	if status := run([]string{"--new-key", path}, &stdout, &stderr); status != 1 || !strings.Contains(stderr.String(), "exists") {
		t.Errorf("a second time: status %d, %q", status, stderr.String())
	}
}

func TestWhatIsWrongIsToldAtOnce(t *testing.T) {
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	file := write(t, "")
	for name, test := range map[string]struct {
		change func(*options)
		says   string
	}{
		"no config":       {func(o *options) { o.config = "/nowhere/tt.conf" }, "/nowhere/tt.conf"},
		"directory":       {func(o *options) { o.config = t.TempDir() }, "is a directory"},
		"syntax":          {func(o *options) { o.config = write(t, "accounts {\n A: {\n") }, `tt.conf: .*line 3`},
		"unknown setting": {func(o *options) { o.config = write(t, "\nport_: 1\n") }, `tt.conf:2:.*port_`},
		"no certificate":  {func(o *options) { o.config = write(t, "tls { cert_file: none.pem, key_file: none.key }") }, "none.pem"},
		"file as store":   {func(o *options) { o.store = file }, "not a directory"},
		"no store":        {func(o *options) { o.store = "/proc/nowhere" }, "/proc/nowhere"},
		"port in use":     {func(o *options) { o.listen = used.Addr().String() }, "in use"},
		"no such host":    {func(o *options) { o.listen = "999.1.1.1:0" }, "999.1.1.1"},
		"monitor in use":  {func(o *options) { o.monitor = used.Addr().String() }, "in use"},
		"no jetstream":    {func(o *options) { o.config = write(t, "accounts { A: { users: [{user: a, password: b}] } }") }, "jetstream: enabled"},
	} {
		t.Run(name, func(t *testing.T) {
			o := local(t)
			test.change(&o)
			begun := time.Now()
			r, line := begin(t, o)
			select {
			case text, ok := <-line:
				if ok {
					t.Fatalf("it printed %q", text)
				}
			case <-time.After(patience):
				t.Fatalf("it still runs\n%s", r.stderr)
			}
			if err := r.stop(); err == nil || !regexp.MustCompile(test.says).MatchString(strings.ReplaceAll(err.Error(), "\n", " ")) {
				t.Errorf("after %v: %v, want %q", time.Since(begun), err, test.says)
			}
		})
	}
}

func TestAddressIsThatOfTheFlag(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "[::1]"} {
		o := local(t)
		o.listen = host + ":0"
		if host == "[::1]" {
			l, err := net.Listen("tcp", o.listen)
			if err != nil {
				t.Log("there is no IPv6 here")
				continue
			}
			l.Close()
		}
		r := start(t, o)
		if !regexp.MustCompile(`^nats://` + regexp.QuoteMeta(host) + `:[1-9]\d*$`).MatchString(r.url) {
			t.Errorf("%s: %s", o.listen, r.url)
		}
		if told := strings.Contains(r.stderr.String(), "without TLS"); told != (host == "0.0.0.0") {
			t.Errorf("%s: stderr is %q", host, r.stderr)
		}
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	}
}

func TestOneServerForAStore(t *testing.T) {
	o := local(t)
	r := start(t, o)
	other, line := begin(t, o)
	if text, ok := <-line; ok {
		t.Fatalf("a second server prints %q", text)
	}
	if err := other.stop(); err == nil || !strings.Contains(err.Error(), "another tt-natsd") {
		t.Errorf("a second server: %v", err)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	start(t, o)
}

func TestRestartKeepsEverything(t *testing.T) {
	o := local(t)
	r := start(t, o)
	conn := connect(t, r.url)
	id := metadata(t, conn)[metaID]
	if got := ask(t, conn, "ttlog.ns.rooms.a", "x"); got.Error != nil || got.Seq != 1 {
		t.Fatalf("%+v", got)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	conn = connect(t, start(t, o).url)
	if again := metadata(t, conn)[metaID]; id == "" || again != id {
		t.Errorf("the id is %v after %v", again, id)
	}
	if got := ask(t, conn, "ttlog.ns.rooms.a", "y"); got.Seq != 2 {
		t.Errorf("%+v", got)
	}
}

func TestConfigDoesNotWeakenDurability(t *testing.T) {
	o := local(t)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	o.config = write(t, fmt.Sprintf("listen: 127.0.0.1:1\njetstream { sync_interval: 10s, store_dir: %q }", elsewhere))
	o.monitor = "127.0.0.1:0"
	r := start(t, o)
	url := regexp.MustCompile(`http://\S+`).FindString(r.stderr.String())
	for page, want := range map[string]string{"/healthz": `"ok"`, "/jsz": `"sync_always": true`} {
		answer, err := http.Get(url + page)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if b, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v, %s", page, err, b)
		}
	}
	if _, err := os.Stat(elsewhere); err == nil {
		t.Error("the store of the configuration was made")
	}
	if m, err := connect(t, r.url).Request(subjectServer, nil, patience); err != nil || !strings.Contains(string(m.Data), `"durable":true`) {
		t.Errorf("it does not say that it is durable: %v", err)
	}
}

// plain starts a nats-server with JetStream as it is by default.
func plain(t *testing.T, opts *server.Options) *server.Server {
	t.Helper()
	opts.Host, opts.JetStream, opts.NoSigs, opts.NoLog = "127.0.0.1", true, true, true
	if opts.Port == 0 {
		opts.Port = server.RANDOM_PORT
	}
	s, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		t.Fatal("it is not ready")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

func TestStreamsOfOthersAreChangedOrRefused(t *testing.T) {
	for name, test := range map[string]struct {
		config  map[string]any
		refused bool
	}{
		"forgetful": {map[string]any{"storage": "file", "discard": "old", "max_msgs": 100, "max_age": int64(time.Hour), "retention": "limits",
			"republish": map[string]any{"src": changes, "dest": "ttchanged.>"}}, false},
		"in memory": {map[string]any{"storage": "memory"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := local(t)
			s := plain(t, &server.Options{StoreDir: o.store})
			conn := connect(t, s.ClientURL())
			test.config["name"], test.config["subjects"] = entries, []string{"ttlog.>"}
			if got := ask(t, conn, "$JS.API.STREAM.CREATE."+entries, test.config); got.Error != nil {
				t.Fatal(got.Error)
			}
			conn.Close()
			if test.refused { // a stream in memory is there while its server is
				setup := &setup{replicas: 1, warn: t.Logf}
				err := setup.ensure(t.Context(), &user{conn: connect(t, s.ClientURL())}, setup.entries())
				if err == nil || !strings.Contains(err.Error(), "not fit for tt") || !strings.Contains(err.Error(), "storage type") {
					t.Errorf("%v", err)
				}
				return
			}
			s.Shutdown()
			s.WaitForShutdown()
			o.restored = true // a stream from elsewhere
			r := start(t, o)
			o.restored = false
			got := ask(t, connect(t, r.url), "$JS.API.STREAM.INFO."+entries, nil).Config
			for key, want := range map[string]any{"max_msgs": -1.0, "max_age": 0.0, "discard": "new", "deny_delete": true, "deny_purge": true, "allow_msg_ttl": true, "max_msg_size": float64(maxEntry)} {
				if got[key] != want {
					t.Errorf("%s is %v, want %v", key, got[key], want)
				}
			}
			if republish, _ := got["republish"].(map[string]any); republish["headers_only"] != true {
				t.Errorf("entries are told as %v", republish)
			}
			if err := r.stderr.String(); !strings.Contains(err, "stream TT is changed") {
				t.Errorf("it tells %q", err)
			}
			if err := r.stop(); err != nil {
				t.Error(err)
			}
			if r := start(t, o); strings.Contains(r.stderr.String(), "changed") {
				t.Errorf("it changes the stream again: %s", r.stderr)
			}
		})
	}
}
