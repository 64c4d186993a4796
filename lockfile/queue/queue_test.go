package queue

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A table is the conditions of processes by their texts.
type table map[string]Condition

func (t table) Condition(process json.RawMessage) Condition { return t[string(process)] }

func (t table) Watch(json.RawMessage) (<-chan struct{}, func(), error) {
	return nil, nil, errors.New("not watched")
}

func newQueue(t *testing.T, processes table) *Queue {
	t.Helper()
	return &Queue{Dir: t.TempDir(), Processes: processes}
}

func mine() *Ticket {
	return &Ticket{Agent: "a:1", Mode: Exclusive, PID: os.Getpid(), Process: json.RawMessage(`"me"`), Command: []string{"make"}}
}

// atOnce takes the lock if it is free.
var atOnce = Options{Look: func(*Ticket, []*Entry) error { return nil }}

func plant(t *testing.T, q *Queue, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(q.Dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func ticketsOf(t *testing.T, q *Queue) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(q.Dir, "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestTicketIsWrittenAndReleased(t *testing.T) {
	t.Parallel()
	q := newQueue(t, table{`"me"`: Alive})
	h, err := q.Acquire(t.Context(), mine(), atOnce)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := q.List()
	if err != nil || len(entries) != 1 || entries[0].State != Held || entries[0].HeldAt == nil || entries[0].Nonce != h.Nonce {
		t.Errorf("%+v, %v", entries, err)
	}
	if e, found := q.Find(h.Number, h.Nonce); !found || e.Agent != "a:1" {
		t.Errorf("%+v, %v", e, found)
	}
	if _, found := q.Find(h.Number, "another"); found {
		t.Error("found by another nonce")
	}
	info, err := os.Stat(q.path(h.Number))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	h.Release()
	h.Release()
	if left := ticketsOf(t, q); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// The end of the context ends a wait by itself, and its place is free.
func TestEndOfContextEndsTheWait(t *testing.T) {
	t.Parallel()
	q := newQueue(t, table{`"me"`: Alive})
	held, err := q.Acquire(t.Context(), mine(), atOnce)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	h, err := q.Acquire(ctx, mine(), Options{
		Patience: -1, Again: time.Hour, // nothing else ends it
		Look: func(*Ticket, []*Entry) error { looks++; cancel(); return nil },
	})
	if h != nil || !errors.Is(err, context.Canceled) || looks != 1 {
		t.Errorf("%v, %v after %d looks", h, err, looks)
	}
	if left := ticketsOf(t, q); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

// A failure at any step leaves no ticket and no lock.
func TestFailureAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"mutex", "scan", "create", "lock", "write", "mark"} {
		q, broken := newQueue(t, table{`"me"`: Alive}), errors.New("broken")
		q.Fault = func(s string) error {
			if s == step {
				return broken
			}
			return nil
		}
		if h, err := q.Acquire(t.Context(), mine(), atOnce); !errors.Is(err, broken) || h != nil {
			t.Errorf("%s: %v, %v", step, h, err)
		}
		if left := ticketsOf(t, q); len(left) > 0 {
			t.Errorf("%s: left %v", step, left)
		}
		q.Fault = nil
		h, err := q.Acquire(t.Context(), mine(), atOnce)
		if err != nil {
			t.Errorf("%s: and then %v", step, err)
			continue
		}
		h.Release()
	}
}

func TestLeftTicketsAreRemovedByTheNextDraw(t *testing.T) {
	t.Parallel()
	q := newQueue(t, table{`"me"`: Alive, `"dead"`: Gone})
	plant(t, q, "000000000003.json", `{"ticket":3,"nonce":"x","mode":"exclusive","state":"held","process":"dead"}`)
	plant(t, q, "000000000004.json", `{"ticket":4,"nonce":"x","mode":"exclu`) // killed while it wrote
	plant(t, q, "000000000005.json", "")
	plant(t, q, "000000000006.json", `{"ticket":6,"nonce":"x","mode":"exclusive","state":"held","process":"elsewhere"}`)
	for _, other := range []string{"notes.json", "1.json", "0000000000001.json", "000000000009.json~", "00000000001x.json"} {
		plant(t, q, other, "somebody's")
	}
	if entries, err := q.List(); len(entries) > 0 || err != nil {
		t.Errorf("%v, %v", entries, err)
	}
	h, err := q.Acquire(t.Context(), mine(), atOnce)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	if h.Number != 7 {
		t.Errorf("number %d", h.Number)
	}
	if left := strings.Join(ticketsOf(t, q), " "); strings.Contains(left, "000000000003") || !strings.Contains(left, "notes.json") {
		t.Errorf("left %s", left)
	}
}

func TestLivingProcessKeepsAnUnlockedTicket(t *testing.T) {
	t.Parallel()
	q := newQueue(t, table{`"me"`: Alive, `"she"`: Alive})
	plant(t, q, "000000000003.json", `{"ticket":3,"nonce":"x","agent_id":"b:1","mode":"exclusive","state":"held","process":"she"}`)
	if _, err := q.Acquire(t.Context(), mine(), atOnce); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v", err)
	}
	if left := ticketsOf(t, q); len(left) != 1 {
		t.Errorf("left %v", left)
	}
	shared := mine()
	shared.Mode = Shared
	if _, err := q.Acquire(t.Context(), shared, atOnce); !errors.Is(err, ErrTimeout) {
		t.Errorf("shared: got %v", err)
	}
}

func TestStrangeTicketsAreRefused(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(path string) error{
		"link":      func(p string) error { return os.Symlink("/etc/passwd", p) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		q := newQueue(t, table{`"me"`: Alive})
		if err := make(q.path(3)); err != nil {
			t.Fatal(err)
		}
		if h, err := q.Acquire(t.Context(), mine(), atOnce); err == nil {
			h.Release()
			t.Errorf("%s: the lock was granted", name)
		}
	}
}

func TestHighestNumber(t *testing.T) {
	t.Parallel()
	q := newQueue(t, table{`"me"`: Alive, `"she"`: Alive})
	plant(t, q, "999999999999.json", `{"ticket":999999999999,"nonce":"x","mode":"exclusive","state":"held","process":"she"}`)
	if h, err := q.Acquire(t.Context(), mine(), atOnce); !errors.Is(err, ErrNoNumber) {
		t.Errorf("drew %v: %v", h, err)
	}
	plant(t, q, "999999999999.json", "{}")
	h, err := q.Acquire(t.Context(), mine(), atOnce)
	if err != nil || h.Number != 1 {
		t.Fatalf("drew %v: %v", h, err)
	}
	h.Release()
	if left := ticketsOf(t, q); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestRefusedByLook(t *testing.T) {
	t.Parallel()
	q, refused := newQueue(t, table{`"me"`: Alive, `"she"`: Alive}), errors.New("refused")
	plant(t, q, "000000000003.json", `{"ticket":3,"nonce":"x","mode":"exclusive","state":"held","process":"she"}`)
	o := atOnce
	o.Patience = -1
	o.Look = func(me *Ticket, others []*Entry) error {
		if me.Number != 4 || len(others) != 1 {
			t.Errorf("%+v, %+v", me, others)
		}
		return refused
	}
	if _, err := q.Acquire(t.Context(), mine(), o); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
}

func TestRemovedTicketIsNoticed(t *testing.T) {
	t.Parallel()
	q := newQueue(t, table{`"me"`: Alive, `"she"`: Alive})
	plant(t, q, "000000000003.json", `{"ticket":3,"nonce":"x","mode":"exclusive","state":"held","process":"she"}`)
	o := atOnce
	o.Patience, o.Again = time.Hour, time.Millisecond
	o.Look = func(me *Ticket, _ []*Entry) error { return os.Remove(q.path(me.Number)) }
	if _, err := q.Acquire(t.Context(), mine(), o); !errors.Is(err, ErrTicketLost) {
		t.Errorf("got %v", err)
	}
}

// The number of a lost ticket is drawn again. The loser does not take the ticket of its
// successor for its own, and leaves it where it is.
func TestLostTicketWithASuccessorIsNoticed(t *testing.T) {
	t.Parallel()
	q := newQueue(t, table{`"me"`: Alive, `"she"`: Alive, `"next"`: Alive})
	plant(t, q, "000000000003.json", `{"ticket":3,"nonce":"x","mode":"exclusive","state":"held","process":"she"}`)
	o := atOnce
	o.Patience, o.Again = time.Hour, time.Millisecond
	looks := 0
	o.Look = func(me *Ticket, _ []*Entry) error {
		if looks++; looks > 1 {
			t.Error("waited on without a ticket")
			return ErrTimeout
		}
		if err := os.Remove(q.path(me.Number)); err != nil {
			return err
		}
		plant(t, q, "000000000004.json", `{"ticket":4,"nonce":"y","mode":"exclusive","state":"waiting","process":"next"}`)
		return os.Remove(q.path(3)) // the lock is free: whoever has the ticket with number 4 has it
	}
	if h, err := q.Acquire(t.Context(), mine(), o); h != nil || !errors.Is(err, ErrTicketLost) {
		t.Errorf("got %v, %v", h, err)
	}
	if e, found := q.Find(4, "y"); !found {
		t.Errorf("the ticket of the successor is %+v", e)
	}
}

// Release leaves a ticket that has its number, but is that of another process.
func TestReleaseLeavesTheTicketOfAnother(t *testing.T) {
	t.Parallel()
	q := newQueue(t, table{`"me"`: Alive, `"next"`: Alive})
	h, err := q.Acquire(t.Context(), mine(), atOnce)
	if err == nil {
		err = os.Remove(q.path(h.Number))
	}
	if err != nil {
		t.Fatal(err)
	}
	plant(t, q, "000000000001.json", `{"ticket":1,"nonce":"y","mode":"exclusive","state":"held","process":"next"}`)
	h.Release()
	if left := ticketsOf(t, q); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}
