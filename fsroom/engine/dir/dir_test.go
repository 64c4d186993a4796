package dir_test

import (
	"path/filepath"
	"testing"

	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/dir"
	"github.com/talking-stick/tt/fsroom/engine/enginetest"
	"github.com/talking-stick/tt/lockfile"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, func(t *testing.T) func() engine.Engine {
		path := t.TempDir()
		return func() engine.Engine {
			e, err := dir.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			return e
		}
	})
}

// A process that is stopped while it appends keeps nobody from anything else.
func TestOnlyAppendingIsLocked(t *testing.T) {
	path, ctx := t.TempDir(), t.Context()
	e, err := dir.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	if _, err := e.Append(ctx, "rooms.a", 0, engine.Entry{Lines: []byte("x")}, 0); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockfile.Lock(ctx, filepath.Join(path, "rooms.a", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := e.Publish(ctx, "rooms.a", "a", []byte("{}"), 0); err != nil {
		t.Error(err)
	}
	withdraw, err := e.Announce(ctx, "rooms.a", "a", "waiting")
	if err != nil {
		t.Fatal(err)
	}
	withdraw()
	stop, err := e.Watch(ctx, "rooms.a", func() {})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := e.Read(ctx, "rooms.a", 0, func(engine.Entry) error { return nil }); err != nil {
		t.Error(err)
	}
}
