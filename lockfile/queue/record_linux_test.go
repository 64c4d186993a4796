package queue

import (
	"os"
	"testing"
)

// Looking at the tickets of one's own process must not close them, which would release
// their record locks. The conditions of processes do not help here: they are not known.
func TestRecordLockOutlastsLooks(t *testing.T) {
	t.Parallel()
	q := newQueue(t, table{})
	h, err := q.Acquire(t.Context(), mine(), atOnce)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	for range 3 {
		if entries, err := q.List(); len(entries) != 1 || err != nil {
			t.Fatalf("%v, %v", entries, err)
		}
		if _, found := q.Find(h.Number, h.Nonce); !found {
			t.Fatal("not found")
		}
	}
	f, err := os.Open(q.path(h.Number))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if locked, err := isLocked(f); !locked || err != nil {
		t.Errorf("%v, %v", locked, err)
	}
}

// A record lock alone keeps a ticket, as it does for a process of another pid namespace.
func TestRecordLockAloneDecides(t *testing.T) {
	t.Parallel()
	q := newQueue(t, table{})
	first := mine()
	first.PID = 1 // somebody else's, as far as this process can tell
	h, err := q.Acquire(t.Context(), first, atOnce)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.Open(q.path(h.Number))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	if locked, err := isLocked(kept); !locked || err != nil {
		t.Fatalf("%v, %v", locked, err)
	}
	h.file.Close() // the process has ended, however it ended
	h, err = q.Acquire(t.Context(), mine(), atOnce)
	if err != nil {
		t.Fatal(err)
	}
	if h.Number != 2 || len(ticketsOf(t, q)) != 1 {
		t.Errorf("number %d, tickets %v", h.Number, ticketsOf(t, q))
	}
	h.Release()
}

// The name of a ticket goes before its record lock: a ticket without the lock is removed by
// the next draw, which may give its number to another process.
func TestReleaseRemovesTheNameFirst(t *testing.T) {
	t.Parallel()
	q := newQueue(t, table{})
	h, err := q.Acquire(t.Context(), mine(), atOnce)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.Open(q.path(h.Number))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	seen := false
	q.Fault = func(s string) error {
		seen = seen || s == "unlock"
		if left := ticketsOf(t, q); len(left) > 0 {
			t.Errorf("%s: left %v", s, left)
		}
		if locked, err := isLocked(kept); !locked || err != nil {
			t.Errorf("%s: the record lock is held: %v, %v", s, locked, err)
		}
		return nil
	}
	h.Release()
	if !seen {
		t.Error("released without a look")
	}
}
