package jetstream_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream"
	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
	"github.com/talking-stick/tt/fsroom/engine"
)

// While leaders change, a server that believes to lead refuses what the one that leads
// stores. A refusal is not believed.
func TestAppendWithTwoLeaders(t *testing.T) {
	server := natstest.Start(t)
	for _, refusal := range []string{
		`{"code":400,"err_code":10071,"description":"wrong last sequence: 0"}`,
		`{"code":400,"err_code":10164,"description":"in flight"}`,
		`{"code":503,"err_code":10008,"description":"JetStream system temporarily unavailable"}`,
	} {
		address := server.Namespace(t)
		namespace := address[strings.LastIndexByte(address, '/')+1:]
		conn, err := nats.Connect(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		if _, err := conn.Subscribe("ttlog."+namespace+".>", func(m *nats.Msg) { _ = m.Respond([]byte(`{"error":` + refusal + `}`)) }); err != nil {
			t.Fatal(err)
		}
		if err := conn.Flush(); err != nil {
			t.Fatal(err)
		}
		e, err := jetstream.Open(address, jetstream.Credentials{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		last := engine.Revision(0)
		const entries = 30
		for n := range entries {
			entry, err := e.Append(t.Context(), "rooms.r", last, engine.Entry{Lines: fmt.Appendf(nil, "%d\n", n)}, 0)
			if err != nil {
				t.Fatalf("entry %d, refused with %s: %v", n, refusal, err)
			}
			last = entry.Revision
		}
		n := 0
		err = e.Read(t.Context(), "rooms.r", 0, func(entry engine.Entry) error {
			if want := fmt.Sprintf("%d\n", n); string(entry.Lines) != want {
				t.Errorf("entry %d is %q, want %q", n, entry.Lines, want)
			}
			n++
			return nil
		})
		if err != nil || n != entries {
			t.Errorf("%d entries, %v", n, err)
		}
	}
}

// To confirm writes nothing where one server has it all: it works while the disk is full.
func TestConfirmOfOneServerIsARead(t *testing.T) {
	server := natstest.Start(t)
	e := open(t, server.Namespace(t))
	conn, err := nats.Connect(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	last := func() (v struct {
		State struct {
			Last uint64 `json:"last_seq"`
		}
	}) {
		m, err := conn.Request("$JS.API.STREAM.INFO.TT", nil, 30*time.Second)
		if err == nil {
			err = json.Unmarshal(m.Data, &v)
		}
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	change, err := e.Append(t.Context(), "rooms.r", 0, engine.Entry{Lines: []byte("1\n")}, 0)
	if err != nil {
		t.Fatal(err)
	}
	before := last()
	if err := e.Confirm(t.Context(), "rooms.r", change.Revision); err != nil {
		t.Error(err)
	}
	if err := e.Confirm(t.Context(), "rooms.r", 0); err != engine.ErrConflict {
		t.Errorf("of an old revision: %v", err)
	}
	if after := last(); before.State.Last == 0 || after != before {
		t.Errorf("before %v, after %v", before, after)
	}
}

// The entry that is expected may be a note that is not there any more.
func TestAppendAfterExpiredNote(t *testing.T) {
	e, err := jetstream.Open(natstest.Start(t).Namespace(t), jetstream.Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	change, err := e.Append(t.Context(), "rooms.r", 0, engine.Entry{Lines: []byte("1\n")}, 0)
	if err != nil {
		t.Fatal(err)
	}
	note, err := e.Append(t.Context(), "rooms.r", change.Revision, engine.Entry{Note: []byte("note")}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	gone := func() bool {
		n := 0
		if err := e.Read(t.Context(), "rooms.r", change.Revision, func(engine.Entry) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n == 1
	}
	for deadline := time.Now().Add(2 * time.Minute); !gone(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the note does not expire")
		}
	}
	if _, err := e.Append(t.Context(), "rooms.r", note.Revision, engine.Entry{Lines: []byte("2\n")}, 0); err != engine.ErrConflict {
		t.Errorf("after a note that has expired: %v", err)
	}
	if _, err := e.Append(t.Context(), "rooms.r", change.Revision, engine.Entry{Lines: []byte("2\n")}, 0); err != nil {
		t.Error(err)
	}
}
