package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// refused fails unless the server ends before it is ready and says a text.
func refused(t *testing.T, o options, says string) {
	t.Helper()
	r, line := begin(t, o)
	if text, ok := <-line; ok {
		t.Fatalf("it prints %q", text)
	}
	if err := r.stop(); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want %q", err, says)
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestWhichStoreIsOpened(t *testing.T) {
	o := local(t)
	if err := os.Mkdir(o.store, 0o700); err != nil {
		t.Fatal(err)
	}
	refused(t, o, "make it with --new")
	o.restored = true
	refused(t, o, "nothing was restored")
	o.create, o.restored = true, false
	if err := start(t, o).stop(); err != nil {
		t.Fatal(err)
	}
	refused(t, o, "is a store already")
	o.create = false
	if err := start(t, o).stop(); err != nil {
		t.Fatalf("known: %v", err)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	copyTree(t, o.store, backup)
	again := o
	again.store = backup
	refused(t, again, "not the store that was in use")
	moved := o
	moved.store = filepath.Join(filepath.Dir(o.store), "moved")
	if err := os.Rename(o.store, moved.store); err != nil {
		t.Fatal(err)
	}
	if err := start(t, moved).stop(); err != nil {
		t.Errorf("moved: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(moved.store, "jetstream")); err != nil {
		t.Fatal(err)
	}
	refused(t, moved, "has lost its streams")
}

func append1(t *testing.T, conn *nats.Conn, subject, body string, after string) (seq uint64, problem string) {
	t.Helper()
	m := nats.NewMsg(subject)
	m.Data = []byte(body)
	m.Header.Set("Nats-Expected-Last-Subject-Sequence", after)
	answer, err := conn.RequestMsg(m, patience)
	if err != nil {
		return 0, err.Error()
	}
	var v struct {
		Error *server.ApiError
		Seq   uint64
	}
	if err := json.Unmarshal(answer.Data, &v); err != nil {
		t.Fatal(err)
	}
	if v.Error != nil {
		return 0, v.Error.Error()
	}
	return v.Seq, ""
}

// A store that was copied back refuses changes, takes what hosts give back under the condition
// under which it was appended first, and goes on when a host says so.
func TestRestoredStore(t *testing.T) {
	o := local(t)
	r := start(t, o)
	conn := connect(t, r.url)
	if seq, problem := append1(t, conn, "ttlog.ns.rooms.a", "one", "0"); problem != "" || seq != 1 {
		t.Fatal(seq, problem)
	}
	epochBefore := metadata(t, conn)[metaEpoch]
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	copyTree(t, o.store, backup)
	r = start(t, o)
	if _, problem := append1(t, connect(t, r.url), "ttlog.ns.rooms.a", "two", "1"); problem != "" {
		t.Fatal(problem)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}

	o.store, o.restored = backup, true
	r = start(t, o)
	if !strings.Contains(r.stderr.String(), "tt doctor --repair --open") {
		t.Errorf("it says %q", r.stderr)
	}
	conn = connect(t, r.url)
	closed := metadata(t, conn)
	if closed[metaRestored] != "true" || closed[metaEpoch].(string) <= epochBefore.(string) {
		t.Errorf("before %v, restored %v", epochBefore, closed)
	}
	if _, problem := append1(t, conn, "ttlog.ns.rooms.a", "other", "1"); problem == "" {
		t.Error("a change is accepted")
	}
	if _, problem := append1(t, conn, "ttconfirm.ns.rooms.a", "", "0"); problem == "" {
		t.Error("a turn is confirmed")
	}
	if _, problem := append1(t, conn, "ttrepair.ns.rooms.a", "two", "0"); !strings.Contains(problem, "wrong last sequence") {
		t.Errorf("a repair in the wrong place: %s", problem)
	}
	if _, problem := append1(t, conn, "ttrepair.ns.rooms.a", "two", "1"); problem != "" {
		t.Errorf("a repair: %s", problem)
	}
	var v struct {
		Message struct {
			Subject string
			Data    []byte
		}
	}
	m, err := conn.Request("$JS.API.STREAM.MSG.GET."+entries, []byte(`{"last_by_subj":"ttlog.ns.rooms.a"}`), patience)
	if err != nil || json.Unmarshal(m.Data, &v) != nil || v.Message.Subject != "ttlog.ns.rooms.a" || string(v.Message.Data) != "two" {
		t.Errorf("what was given back: %+v, %v", v, err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}

	// It stays closed, with the same epoch, also if the flag is given again.
	for _, o.restored = range []bool{true, false} {
		r = start(t, o)
		if again := metadata(t, connect(t, r.url)); again[metaRestored] != "true" || again[metaEpoch] != closed[metaEpoch] {
			t.Errorf("restored %v: %v, want %v", o.restored, again, closed)
		}
		if o.restored {
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
		}
	}
	conn = connect(t, r.url)
	for range 2 { // two hosts may say so
		if m, err := conn.Request(subjectOpen, nil, patience); err != nil || string(m.Data) != "{}" {
			t.Fatalf("%v", err)
		}
	}
	if _, problem := append1(t, conn, "ttlog.ns.rooms.a", "three", "2"); problem != "" {
		t.Errorf("open again: %s", problem)
	}
	if _, problem := append1(t, conn, "ttrepair.ns.rooms.a", "four", "3"); problem == "" {
		t.Error("open, and it takes repairs")
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if open := metadata(t, connect(t, start(t, o).url)); open[metaRestored] != nil || open[metaEpoch] != closed[metaEpoch] {
		t.Errorf("after the next start: %v", open)
	}
}

func TestEmptyStoreInPlaceOfALostOne(t *testing.T) {
	o := local(t)
	o.restored = true
	if err := os.Mkdir(o.store, 0o700); err != nil {
		t.Fatal(err)
	}
	o.create = true
	conn := connect(t, start(t, o).url)
	if _, problem := append1(t, conn, "ttlog.ns.rooms.a", "one", "0"); problem == "" {
		t.Error("a change is accepted")
	}
	if _, problem := append1(t, conn, "ttrepair.ns.rooms.a", "one", "0"); problem != "" {
		t.Error(problem)
	}
}

// What was given up once closes the store no more; what it loses of what was made since does.
func TestWhatIsGivenUpStaysSo(t *testing.T) {
	conn := connect(t, start(t, local(t)).url)
	tell := func(w word) (closed bool) {
		t.Helper()
		b, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := conn.Request(subjectOpen, b, patience); err != nil || string(m.Data) != "{}" {
			t.Fatalf("%v", err)
		}
		return metadata(t, conn)[metaRestored] != nil
	}
	before := time.Now()
	if !tell(word{Lacks: "a", Last: before}) || tell(word{}) {
		t.Error("it is to be closed, and opened again")
	}
	for _, host := range []string{"a", "b"} {
		if tell(word{Lacks: host, Last: before}) {
			t.Errorf("host %s closes it for what was given up", host)
		}
	}
	if !tell(word{Lacks: "a", Last: time.Now().Add(time.Minute)}) || tell(word{Has: "a"}) || !tell(word{Lacks: "b"}) {
		t.Error("it is to be closed for what is later, and where it is not known when that was made")
	}
}

// A store that is removed while the server runs would lose what is acknowledged from then on.
func TestStoreThatVanishes(t *testing.T) {
	o := local(t)
	r := start(t, o)
	if err := os.RemoveAll(o.store); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, r.url)
	until(t, "no acknowledgement", func() bool {
		_, err := conn.Request("ttlog.ns.rooms.a", []byte("x"), time.Second)
		return err != nil
	})
	if err := r.stop(); err == nil || !strings.Contains(err.Error(), errGone.Error()) {
		t.Errorf("it ended with %v", err)
	}
}

// The server syncs no stream whose writes are asynchronous, whatever sync_interval says.
func TestAsynchronousStreamIsRefused(t *testing.T) {
	o := local(t)
	r := start(t, o)
	makeAsynchronous(t, connect(t, r.url))
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	refused(t, o, "persist mode")
}

// makeAsynchronous replaces the stream of entries by one whose writes are asynchronous.
func makeAsynchronous(t *testing.T, conn *nats.Conn) {
	t.Helper()
	config := ask(t, conn, "$JS.API.STREAM.INFO."+entries, nil).Config
	config["deny_delete"], config["deny_purge"], config["persist_mode"] = nil, nil, "async"
	if m, err := conn.Request("$JS.API.STREAM.DELETE."+entries, nil, patience); err != nil || strings.Contains(string(m.Data), "error") {
		t.Fatalf("%s, %v", m.Data, err)
	}
	if got := ask(t, conn, "$JS.API.STREAM.CREATE."+entries, config); got.Error != nil {
		t.Fatal(got.Error)
	}
}

// What hosts say of agents is not synced, and a stream that is, as older servers have made it, is
// made anew; a restart loses nothing of it.
func TestAgentsAreNotSynced(t *testing.T) {
	o := local(t)
	r := start(t, o)
	conn := connect(t, r.url)
	mode := func() any { return ask(t, conn, "$JS.API.STREAM.INFO."+agents, nil).Config["persist_mode"] }
	if got := mode(); got != "async" {
		t.Errorf("a new store: %v", got)
	}
	config := ask(t, conn, "$JS.API.STREAM.INFO."+agents, nil).Config
	delete(config, "persist_mode")
	if m, err := conn.Request("$JS.API.STREAM.DELETE."+agents, nil, patience); err != nil || strings.Contains(string(m.Data), "error") {
		t.Fatalf("%s, %v", m.Data, err)
	}
	if got := ask(t, conn, "$JS.API.STREAM.CREATE."+agents, config); got.Error != nil {
		t.Fatal(got.Error)
	}
	for _, want := range []string{"first", "second"} {
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		r = start(t, o)
		conn = connect(t, r.url)
		if got := mode(); got != "async" {
			t.Errorf("the %s start: %v", want, got)
		}
		if got := ask(t, conn, "$JS.API.STREAM.MSG.GET."+agents, map[string]any{"last_by_subj": "ttagent.tt.rooms.x.a"}); want == "first" == (got.Error == nil) {
			t.Errorf("the %s start: %v", want, got.Error)
		}
		if got := ask(t, conn, "ttagent.tt.rooms.x.a", "record"); got.Error != nil || got.Seq == 0 {
			t.Errorf("%+v", got)
		}
	}
}

// Settings that a client changes while the server runs are set right, or told.
func TestStreamsAreLookedAtAgain(t *testing.T) {
	o := local(t)
	o.monitor = "127.0.0.1:0"
	r := start(t, o)
	conn := connect(t, r.url)
	setup := &setup{replicas: 1, warn: t.Logf}
	u := &user{conn: conn}
	if !setup.look(t.Context(), u) {
		t.Error("the streams are as the server has made them, and do not count as durable")
	}
	config := ask(t, conn, "$JS.API.STREAM.INFO."+agents, nil).Config
	config["max_age"] = int64(time.Hour)
	if got := ask(t, conn, "$JS.API.STREAM.UPDATE."+agents, config); got.Error != nil {
		t.Fatal(got.Error)
	}
	setup.look(t.Context(), u)
	if got := ask(t, conn, "$JS.API.STREAM.INFO."+agents, nil).Config["max_age"]; got != 0.0 {
		t.Errorf("max_age is %v", got)
	}
	makeAsynchronous(t, conn)
	if setup.look(t.Context(), u) || !setup.health.unfit.Load() {
		t.Error("a stream that is not synced counts as durable")
	}
}

func TestHealth(t *testing.T) {
	o := local(t)
	o.monitor = "127.0.0.1:0"
	if err := os.Mkdir(o.store, 0o700); err != nil {
		t.Fatal(err)
	}
	o.create, o.restored = true, true
	r := start(t, o)
	url := regexp.MustCompile(`http://\S+`).FindString(r.stderr.String())
	status := func() int {
		answer, err := http.Get(url + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if got := status(); got != http.StatusServiceUnavailable {
		t.Errorf("closed: %d", got)
	}
	if _, err := connect(t, r.url).Request(subjectOpen, nil, patience); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != http.StatusOK {
		t.Errorf("open: %d", got)
	}
}

// While the streams are being closed, nobody is let in by any listener of the configuration.
func TestNobodyIsLetInWhileStreamsAreClosed(t *testing.T) {
	o := local(t)
	o.config = filepath.Join(t.TempDir(), "conf")
	config := "leafnodes { listen: \"127.0.0.1:-1\" }\nwebsocket { listen: \"127.0.0.1:-1\", no_tls: true }\n"
	if err := os.WriteFile(o.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	known := o
	known.listen = "127.0.0.2:4222"
	for _, known.closing = range []bool{false, true} {
		opts, _, err := known.server()
		if err != nil {
			t.Fatal(err)
		}
		open := opts.LeafNode.Port != 0 && opts.Websocket.Port != 0
		hidden := opts.Host == "127.0.0.1" && opts.Port == server.RANDOM_PORT
		if open == known.closing || hidden != known.closing {
			t.Errorf("closing %v: %s:%d, %d, %d", known.closing, opts.Host, opts.Port, opts.LeafNode.Port, opts.Websocket.Port)
		}
	}
	o.closing, o.create, o.restored = false, true, true
	if got := metadata(t, connect(t, start(t, o).url)); got[metaRestored] != "true" {
		t.Errorf("%v", got)
	}
}

// operatorToken returns what stands for an operator in --config.
func operatorToken(t *testing.T) string {
	t.Helper()
	pair, err := nkeys.CreateOperator()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	token := encode([]byte(`{"typ":"JWT","alg":"ed25519-nkey"}`)) + "." +
		encode(fmt.Appendf(nil, `{"iat":1,"iss":%q,"name":"O","sub":%q,"nats":{"type":"operator","version":2}}`, public, public))
	signature, err := pair.Sign([]byte(token))
	if err != nil {
		t.Fatal(err)
	}
	return token + "." + encode(signature)
}

// The streams of accounts that operators sign cannot be closed: the store is not taken for one whose streams are closed.
func TestStreamsThatCannotBeClosed(t *testing.T) {
	o := local(t)
	o.create = true
	s, err := openStore(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	o.config = filepath.Join(t.TempDir(), "conf")
	if err := os.WriteFile(o.config, []byte("operator: "+operatorToken(t)+"\nresolver: MEMORY\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := shutStore(t.Context(), o, s, new(output)); !errors.Is(err, errNotOurs) {
		t.Errorf("%v", err)
	}
	if s.Ready {
		t.Error("the store is ready")
	}
}
