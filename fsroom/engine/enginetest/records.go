package enginetest

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"
)

func testRooms(t *testing.T, open func() engine.Engine) {
	e := open()
	var last engine.Revision
	for _, name := range []string{"rooms.a", "topics.t1", "rooms.b"} {
		entry, err := e.Append(ctx(t), name, 0, change(name), 0)
		if err != nil {
			t.Fatal(err)
		}
		last = entry.Revision
	}
	entry, err := e.Append(ctx(t), "rooms.b", last, change("more"), 0)
	if err == nil {
		_, err = e.Append(ctx(t), "rooms.b", entry.Revision, engine.Entry{Note: []byte("note")}, time.Hour)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Announce(ctx(t), "rooms.empty", "agent", "waiting", func() {}); err != nil {
		t.Fatal(err)
	}
	got, err := open().Rooms(ctx(t), "rooms.")
	if want := map[string]int{"rooms.a": 1, "rooms.b": 3}; err != nil || !maps.Equal(got, want) {
		t.Errorf("Rooms: %v, %v, want %v", got, err, want)
	}
	if got, err := open().Rooms(ctx(t), "nothing."); err != nil || len(got) != 0 {
		t.Errorf("Rooms of a prefix that no room has: %v, %v", got, err)
	}
}

func testRecords(t *testing.T, open func() engine.Engine) {
	a, b := open(), open()
	for _, body := range []string{`{"n":1}`, `{"n":2}`} {
		if err := a.Publish(ctx(t), room, "alice-01", []byte(body), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Publish(ctx(t), room, "bob-02", []byte("{}"), time.Hour); err != nil {
		t.Fatal(err)
	}
	until(t, func() (bool, string) {
		got, err := b.Records(ctx(t), room)
		return err == nil && len(got) == 2 && string(got["alice-01"].Body) == `{"n":2}` && !got["bob-02"].At.IsZero(),
			fmt.Sprintf("Records: %+v, %v", got, err)
	})
}

func testPresence(t *testing.T, open func() engine.Engine) {
	a, b := open(), open()
	wait := func(want bool) {
		t.Helper()
		until(t, func() (bool, string) {
			got, err := b.Announced(ctx(t), room, "alice-01", "waiting")
			return err == nil && got == want, fmt.Sprintf("Announced: %v, %v, want %v", got, err, want)
		})
	}
	wait(false)
	withdraw, err := a.Announce(ctx(t), room, "alice-01", "waiting", func() {})
	if err != nil {
		t.Fatal(err)
	}
	wait(true)
	if got, err := b.Announced(ctx(t), room, "alice-01", "other"); err != nil || got {
		t.Errorf("another word: %v, %v", got, err)
	}
	withdraw()
	wait(false)
}

func testNotify(t *testing.T, open func() engine.Engine) {
	a, b := open(), open()
	got := make(chan string, 100)
	stop, err := b.Notified(ctx(t), room, func(agent string) { got <- agent })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	a.Notify(room, "alice-01")
	for {
		select {
		case agent := <-got:
			if agent == "alice-01" || agent == "" {
				return
			}
		case <-ctx(t).Done():
			t.Fatal("no notification")
		}
	}
}

func testInfo(t *testing.T, open func() engine.Engine) {
	a, err := open().Info(ctx(t))
	if err != nil || a.ID == "" || a.Now.IsZero() {
		t.Fatalf("Info: %+v, %v", a, err)
	}
	b, err := open().Info(ctx(t))
	if err != nil || b.ID != a.ID || b.Now.Before(a.Now) {
		t.Errorf("Info: %+v after %+v, %v", b, a, err)
	}
}
