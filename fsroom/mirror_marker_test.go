package fsroom_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
)

// marker returns the marker of a host's mirror.
func (h *hosts) marker(host int) []byte {
	h.t.Helper()
	b, err := os.ReadFile(filepath.Join(h.room(host, fsroom.Options{}).Dir(), "mirror.json"))
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

// TestMarkerIsWrittenAfterTheJournal: one that is ahead of the journal would have everything
// fetched again.
func TestMarkerIsWrittenAfterTheJournal(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2, inMemory(t))
	h.do(0, join("a"))
	h.view(1)
	before, looked := h.marker(1), false
	h.do(0, say("a", "news"))
	_, err := h.room(1, fsroom.Options{Fault: func(s fsroom.Step) error {
		if s == fsroom.StepReplace && !looked { // the journal is written by now
			looked = true
			if now := h.marker(1); !bytes.Equal(now, before) {
				t.Errorf("the marker is %s before state.json is written, and was %s", now, before)
			}
		}
		return nil
	}}).View()
	if err != nil || !looked {
		t.Errorf("%v, looked %v", err, looked)
	}
	h.verify()
}

// TestMarkerDoesNotGoBack: what another process of the host has absorbed since a fetch stays,
// also after a fetch that began anew because the engine has other revisions.
func TestMarkerDoesNotGoBack(t *testing.T) {
	t.Parallel()
	mem := inMemory(t)
	h := newHosts(t, 2, mem)
	h.do(0, join("a"), say("a", "one"))
	h.view(1)
	good := h.marker(1)
	stale := bytes.Replace(good, []byte(`"event_id":"`), []byte(`"event_id":"other`), 1)
	write(t, filepath.Join(h.room(1, fsroom.Options{}).Dir(), "mirror.json"), string(stale))

	var newest []byte
	late := &afterRead{Engine: mem}
	late.then = func() { // the first Read has found that the marker is not of this engine
		late.then = func() { // the second has read all
			h.do(0, say("a", "two"))
			h.view(1)
			newest = h.marker(1)
			late.then = func() {
				if now := h.marker(1); !bytes.Equal(now, newest) {
					t.Errorf("the marker went back to %s from %s", now, newest)
				}
			}
		}
	}
	(&hosts{t: t, engine: late, dirs: h.dirs}).do(1, join("b"))
	if newest == nil || late.then != nil {
		t.Error("the fetch did not begin anew")
	}
	h.verify()
}

// appends counts the changes that an engine is asked to make.
type appends struct {
	engine.Engine
	n int
}

func (a *appends) Append(ctx context.Context, room string, after engine.Revision, e engine.Entry, keep time.Duration) (engine.Entry, error) {
	a.n++
	return a.Engine.Append(ctx, room, after, e, keep)
}

// TestOvertakenOnTheSameHost: a change that another process of the host has made since the
// fetch is seen in the mirror, without a request that the engine has to refuse.
func TestOvertakenOnTheSameHost(t *testing.T) {
	t.Parallel()
	mem := inMemory(t)
	h := newHosts(t, 1, mem)
	h.do(0, join("a"))
	counted := &appends{Engine: mem}
	late := &afterRead{Engine: counted, then: func() { h.do(0, say("a", "first")) }}
	(&hosts{t: t, engine: late, dirs: h.dirs}).do(0, join("b"))
	if counted.n != 1 {
		t.Errorf("the engine was asked for %d changes", counted.n)
	}
	h.verify()
}
