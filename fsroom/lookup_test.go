package fsroom_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

func TestEventBySeq(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := func(seq int64) (*event.Event, error) { return f.room.Event(context.Background(), seq) }
	if _, err := at(1); code.Of(err) != code.CorruptRoom {
		t.Errorf("an event of no journal: %v", err)
	}
	f.do(join("a"), join("b"))
	f.do(join("c"))
	for seq, want := range map[int64]string{2: "a", 3: "b", 4: "c"} {
		e, err := at(seq)
		if err != nil || e.Seq != seq || e.From != want {
			t.Errorf("event %d: %+v, %v", seq, e, err)
		}
	}
	for _, seq := range []int64{0, 5} {
		if _, err := at(seq); code.Of(err) != code.CorruptRoom {
			t.Errorf("event %d: %v", seq, err)
		}
	}
}

func TestLockFolderExcludes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	store := openStore(t, f.dir, fsroom.Options{})
	unlock, err := store.LockFolder(context.Background(), "topics")
	f.must(err)
	f.do(join("a")) // a room can be changed meanwhile
	hasty := openStore(t, f.dir, fsroom.Options{Patience: time.Millisecond})
	if _, err := hasty.LockFolder(context.Background(), "topics"); code.Of(err) != code.LockTimeout {
		t.Errorf("locked twice: %v", err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := store.LockFolder(gone, "topics"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	f.must(unlock())
	// Not the hasty one: the kernel may give the lock first to the try that gave up.
	unlock, err = store.LockFolder(context.Background(), "topics")
	f.must(err)
	f.must(unlock())
}
