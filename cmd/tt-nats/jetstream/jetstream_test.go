package jetstream_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream"
	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest"
)

func open(t *testing.T, address string) engine.Engine {
	t.Helper()
	e, err := jetstream.Open(address, jetstream.Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func TestConformance(t *testing.T) {
	server := natstest.Start(t)
	enginetest.Run(t, func(t *testing.T) func() engine.Engine {
		address := server.Namespace(t)
		return func() engine.Engine { return open(t, address) }
	})
}

// inCluster skips a test that takes half a minute, unless TT_TEST_CLUSTER or CI is set.
func inCluster(t *testing.T) []*natstest.Server {
	t.Helper()
	if os.Getenv("TT_TEST_CLUSTER") == "" && os.Getenv("CI") != "true" {
		t.Skip("set TT_TEST_CLUSTER=1 to run it over three servers")
	}
	return natstest.StartCluster(t, 3)
}

// The connections of a test are to any of the servers: most are not to the one that leads.
func TestConformanceOfCluster(t *testing.T) {
	servers := inCluster(t)
	enginetest.Run(t, func(t *testing.T) func() engine.Engine {
		address := servers[0].Namespace(t)
		return func() engine.Engine { return open(t, address) }
	})
}

// Writers append while one server after the other is killed. Every entry names the one
// that it expected to follow: nothing that was acknowledged is lost, and nothing is there
// twice.
func TestChainInCluster(t *testing.T) {
	servers := inCluster(t)
	address := servers[0].Namespace(t)
	const room, writers = "rooms.chain", 8
	var done atomic.Bool
	var acknowledged sync.Map // body -> revision
	var total atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		e := open(t, address)
		wg.Go(func() {
			last := engine.Revision(0)
			for n := 0; !done.Load(); n++ {
				if e.Read(t.Context(), room, last, func(entry engine.Entry) error { last = entry.Revision; return nil }) != nil {
					continue // no leader
				}
				body := fmt.Sprintf("%d %d.%d", last, w, n)
				if entry, err := e.Append(t.Context(), room, last, engine.Entry{Lines: []byte(body + "\n")}, 0); err == nil {
					acknowledged.Store(body, entry.Revision)
					total.Add(1)
				}
			}
		})
	}
	more := func() {
		t.Helper()
		want := total.Load() + 40
		for deadline := time.Now().Add(time.Minute); total.Load() < want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				done.Store(true)
				t.Fatal("no entries any more")
			}
		}
	}
	more()
	for _, s := range servers {
		s.Kill()
		more()
		s.Restart(t)
		more()
	}
	done.Store(true)
	wg.Wait()
	found := make(map[string]engine.Revision)
	before := engine.Revision(0)
	err := open(t, address).Read(t.Context(), room, 0, func(entry engine.Entry) error {
		body := strings.TrimSpace(string(entry.Lines))
		if expected, _, _ := strings.Cut(body, " "); expected != fmt.Sprint(before) {
			t.Errorf("an entry that expected %s follows %d", expected, before)
		}
		if _, twice := found[body]; twice {
			t.Errorf("%q is there twice", body)
		}
		before, found[body] = entry.Revision, entry.Revision
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	acknowledged.Range(func(body, revision any) bool {
		if found[body.(string)] != revision {
			t.Errorf("%q was acknowledged at %d and is at %d", body, revision, found[body.(string)])
		}
		return true
	})
	t.Logf("%d entries, %d acknowledged", len(found), total.Load())
}

// One writer of twenty wins on three servers, also right after the one that led was killed.
func TestOneWinnerInCluster(t *testing.T) {
	servers := inCluster(t)
	address := servers[0].Namespace(t)
	first := open(t, address)
	last := engine.Revision(0)
	for round := range 30 {
		if round == 10 {
			servers[0].Kill()
		}
		var won atomic.Int64
		var wg sync.WaitGroup
		for i := range 20 {
			e := first
			if i%2 == 0 {
				e = open(t, address)
			}
			wg.Go(func() {
				_, err := e.Append(t.Context(), "rooms.race", last, engine.Entry{Lines: fmt.Appendf(nil, "%d.%d\n", round, i)}, 0)
				if err == nil {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		n := 0
		for deadline := time.Now().Add(time.Minute); ; {
			n = 0
			err := first.Read(t.Context(), "rooms.race", last, func(entry engine.Entry) error {
				if entry.Revision != last {
					n++
					last = entry.Revision
				}
				return nil
			})
			if err == nil || time.Now().After(deadline) {
				break
			}
		}
		if won.Load() > 1 || n > 1 || int64(n) < won.Load() {
			t.Fatalf("round %d: %d won, %d entries", round, won.Load(), n)
		}
	}
}

// A server that is behind answers a batch with less than there is. Here somebody answers
// besides the server, and has nothing.
func TestBatchOfServerThatIsBehind(t *testing.T) {
	server := natstest.Start(t)
	e := open(t, server.Namespace(t))
	const entries = 60
	last := engine.Revision(0)
	for n := range entries {
		entry, err := e.Append(t.Context(), "rooms.r", last, engine.Entry{Lines: fmt.Appendf(nil, "%d\n", n)}, 0)
		if err != nil {
			t.Fatal(err)
		}
		last = entry.Revision
	}
	conn, err := nats.Connect(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	var asked atomic.Int64
	none := &nats.Msg{Header: nats.Header{"Status": {"404"}}}
	if _, err := conn.Subscribe("$JS.API.DIRECT.GET.TT", func(m *nats.Msg) { asked.Add(1); _ = m.RespondMsg(none) }); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		n := 0
		err := e.Read(t.Context(), "rooms.r", 0, func(entry engine.Entry) error {
			if want := fmt.Sprintf("%d\n", n); string(entry.Lines) != want {
				t.Fatalf("entry %d is %q", n, entry.Lines)
			}
			n++
			return nil
		})
		if err != nil || n != entries {
			t.Fatalf("%d of %d entries, %v", n, entries, err)
		}
	}
	if asked.Load() == 0 {
		t.Error("no batch was asked for")
	}
}

// Every kind of connection that breaks while an entry is on its way: the entry is there
// once.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t)
	p := startProxy(t, strings.TrimPrefix(server.URL, "nats://"))
	address := server.Namespace(t)
	e := open(t, "nats://"+p.address+address[strings.LastIndexByte(address, '/'):])
	last := engine.Revision(0)
	const entries = 5
	for n := range entries {
		switch n % 3 {
		case 1:
			p.next.Store(loseAnswer)
		case 2:
			p.next.Store(loseRequest)
		}
		entry, err := e.Append(t.Context(), "rooms.r", last, engine.Entry{Lines: fmt.Appendf(nil, "%d\n", n)}, 0)
		if err != nil {
			t.Fatalf("entry %d: %v", n, err)
		}
		if p.next.Load() != 0 {
			t.Fatalf("entry %d: nothing was lost", n)
		}
		last = entry.Revision
	}
	var got []string
	err := open(t, address).Read(t.Context(), "rooms.r", 0, func(entry engine.Entry) error {
		got = append(got, strings.TrimSpace(string(entry.Lines)))
		return nil
	})
	if want := "0 1 2 3 4"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	// Somebody else is first, and the answer that says so is lost.
	if _, err := open(t, address).Append(t.Context(), "rooms.r", last, engine.Entry{Lines: []byte("other\n")}, 0); err != nil {
		t.Fatal(err)
	}
	p.next.Store(loseAnswer)
	if _, err := e.Append(t.Context(), "rooms.r", last, engine.Entry{Lines: []byte("own\n")}, 0); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("after another entry: %v, want ErrConflict", err)
	}
}
