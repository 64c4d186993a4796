package fsroom_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
	"github.com/talking-stick/tt/fsroom/mirror"
)

// A history goes to an engine in few entries, none of which has parts of two lives, and the
// mirrors have the lines that it had.
func TestPublish(t *testing.T) {
	t.Parallel()
	lines := lived(t)
	e := inMemory(t)
	for _, want := range []int64{14, 0} {
		if added, err := mirror.Publish(context.Background(), e, "rooms.demo", historyOf(t, lines)); err != nil || added != want {
			t.Errorf("%d events, %v; want %d", added, err, want)
		}
	}
	if n := e.Entries("rooms.demo"); n != 3 {
		t.Errorf("%d entries for three lives", n)
	}
	h := newHosts(t, 2, e)
	h.do(1, say("c", "three"))
	h.verify()
	if got := h.journal(0); !bytes.HasPrefix(got, lines) {
		t.Errorf("the mirror has\n%s\nwant\n%s", got, lines)
	}
	// What others have added is left alone, and what differs is refused.
	if added, err := mirror.Publish(context.Background(), e, "rooms.demo", historyOf(t, lines)); err != nil || added != 0 {
		t.Errorf("behind the engine: %d, %v", added, err)
	}
	before := e.Entries("rooms.demo")
	if _, err := mirror.Publish(context.Background(), e, "rooms.demo", historyOf(t, lived(t))); code.Of(err) != code.CorruptRoom {
		t.Errorf("another history: %v", err)
	}
	if e.Entries("rooms.demo") != before {
		t.Error("another history was written")
	}
}

// An engine that takes only small entries gets small ones.
func TestPublishToAnEngineOfSmallEntries(t *testing.T) {
	t.Parallel()
	lines := lived(t)
	e := &small{inMemory(t), 600}
	if added, err := mirror.Publish(context.Background(), e, "rooms.demo", historyOf(t, lines)); err != nil || added != 14 {
		t.Errorf("%d events, %v", added, err)
	}
	h := newHosts(t, 1, e)
	h.view(0)
	if got := h.journal(0); !bytes.Equal(got, lines) {
		t.Errorf("the mirror has\n%s\nwant\n%s", got, lines)
	}
	e.most = 10
	if _, err := mirror.Publish(context.Background(), e, "rooms.other", historyOf(t, lines)); code.Of(err) != code.BodyTooLarge {
		t.Errorf("%v", err)
	}
}

type small struct {
	*memory.Engine
	most int
}

func (s *small) Append(ctx context.Context, room string, after engine.Revision, e engine.Entry, keep time.Duration) (engine.Entry, error) {
	if len(e.Lines) > s.most {
		return engine.Entry{}, engine.ErrTooLarge
	}
	return s.Engine.Append(ctx, room, after, e, keep)
}

// A power cut can leave the beginning of an entry in a mirror: some of its changes, and
// part of another one.
func TestMirrorWithTheBeginningOfAnEntry(t *testing.T) {
	t.Parallel()
	local := fsroom.At(openStore(t, filepath.Join(tempDir(t), "data"), fsroom.Options{}), tallyRules, "demo")
	change(t, local, join("a"), say("a", "one"), say("a", "two"), turnOn("a"))
	lines := linesOf(t, local)
	for size := int64(0); size < int64(len(lines)); size += 37 {
		for _, marker := range []bool{true, false} {
			e := memory.New("test", time.Now)
			if _, err := mirror.Publish(context.Background(), e, "rooms.demo", historyOf(t, lines)); err != nil {
				t.Fatal(err)
			}
			h := newHosts(t, 1, e)
			h.view(0)
			r := h.room(0, fsroom.Options{})
			if err := os.Truncate(r.JournalPath(), size); err != nil {
				t.Fatal(err)
			}
			remove(t, r.StatePath())
			if !marker {
				remove(t, filepath.Join(r.Dir(), "mirror.json"))
			}
			h.do(0, say("a", "three"))
			if got := h.journal(0); !bytes.HasPrefix(got, lines) {
				t.Errorf("with %d bytes, marker %v, it has\n%s", size, marker, got)
			}
			h.verify()
			e.Close()
		}
	}
}

// A mirror whose room has ended is compared with its archive.
func TestRewoundEngineBetweenLives(t *testing.T) {
	t.Parallel()
	e := inMemory(t)
	h := newHosts(t, 1, e)
	h.do(0, join("a"), say("a", "one"), leave("a"))
	want := h.journal(0)
	other := memory.New("other", time.Now)
	defer other.Close()
	o := newHosts(t, 1, other)
	o.do(0, join("x"), say("x", "one"), leave("x"), join("y"), say("y", "two"))
	h.engine = other
	if _, err := h.room(0, fsroom.Options{}).View(); !hasCode(err, code.EngineRewound) {
		t.Errorf("View: %v", err)
	}
	if got := h.journal(0); !bytes.Equal(got, want) {
		t.Errorf("the mirror has\n%s\nwant\n%s", got, want)
	}
}
