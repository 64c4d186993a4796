package fsroom_test

import (
	"path/filepath"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
)

// A mark that is held is announced to the other hosts until it is released.
func TestHoldIsAnnounced(t *testing.T) {
	e := inMemory(t)
	h := newHosts(t, 1, e)
	h.do(0, join("a"))
	a := h.room(0, fsroom.Options{Host: "here"}).Agent("a")
	release, err := a.Hold("waiting")
	if err != nil {
		t.Fatal(err)
	}
	announced := func() engine.Presence {
		p, err := e.Announced(t.Context(), "rooms.demo", filepath.Base(filepath.Dir(a.Path("waiting"))), "waiting")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if announced() != engine.Present {
		t.Error("a mark that is held is not announced")
	}
	release()
	if announced() != engine.Absent || a.Held("waiting") {
		t.Error("the mark is held after its release")
	}
}
