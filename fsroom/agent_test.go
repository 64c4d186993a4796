package fsroom_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
)

// A memo is a file of an agent.
type memo struct {
	Text string `json:"text"`
}

func TestAgentMarks(t *testing.T) {
	t.Parallel()
	a := newFixture(t).room.Agent("claude:1f2e3d4c")
	if at := a.Marked("seen"); !at.IsZero() {
		t.Errorf("marked %v before it was", at)
	}
	for _, at := range []time.Time{time.UnixMilli(1_700_000_000_123), time.UnixMilli(1_600_000_000_000)} {
		if err := a.Mark("seen", at); err != nil {
			t.Fatal(err)
		}
		if got := a.Marked("seen"); !got.Equal(at) {
			t.Errorf("marked %v, want %v", got, at)
		}
	}
	if err := os.Mkdir(a.Path("dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := a.Marked("dir"); !got.IsZero() {
		t.Errorf("a directory is a mark: %v", got)
	}
}

func TestAgentHolds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a := f.room.Agent("a")
	if a.Held("waiting") {
		t.Error("held before it was")
	}
	releaseOne, err := a.Hold("waiting")
	f.must(err)
	releaseTwo, err := a.Hold("waiting")
	f.must(err)
	for _, step := range []struct {
		release func()
		held    bool
	}{{func() {}, true}, {releaseOne, true}, {releaseTwo, false}} {
		step.release()
		if got := a.Held("waiting"); got != step.held {
			t.Errorf("held: %v, want %v", got, step.held)
		}
	}
	if a.Marked("waiting").IsZero() {
		t.Error("what was held is no mark")
	}
}

func TestAgentFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a := f.room.Agent("a")
	var got memo
	if a.Read("memo.json", &got) {
		t.Error("read before it was written")
	}
	for _, text := range []string{"one", "two"} {
		f.must(a.Write("memo.json", &memo{text}))
		if !a.Read("memo.json", &got) || got.Text != text {
			t.Errorf("%+v, want %s", got, text)
		}
	}
	f.write(a.Path("memo.json"), []byte(`{"text":"th`))
	if a.Read("memo.json", &got) {
		t.Errorf("damaged, but read: %+v", got)
	}
	f.must(a.Remove("memo.json"))
	f.must(a.Remove("memo.json")) // which is done already
	if a.Read("memo.json", &got) {
		t.Errorf("removed, but read: %+v", got)
	}
}

// TestAgentSweepsOldTemporaries: a file of a killed process goes, the one that
// another process may be writing just now stays.
func TestAgentSweepsOldTemporaries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a := f.room.Agent("a")
	f.must(a.Write("memo.json", &memo{"one"}))
	written, err := os.Stat(a.Path("memo.json"))
	f.must(err)
	for name, age := range map[string]time.Duration{"old": 2 * time.Minute, "young": 0} {
		path := filepath.Join(a.Path("tmp"), name)
		f.write(path, nil)
		f.must(os.Chtimes(path, written.ModTime(), written.ModTime().Add(-age)))
	}
	f.must(a.Write("memo.json", &memo{"two"}))
	entries, err := os.ReadDir(a.Path("tmp"))
	f.must(err)
	if len(entries) != 1 || entries[0].Name() != "young" {
		t.Errorf("left: %v", entries)
	}
	f.must(os.Remove(filepath.Join(a.Path("tmp"), "young")))
}

// What listens for an agent is notified by the time of a file, which is there when something listens.
func TestNotifyListener(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	store := openStore(t, f.dir, fsroom.Options{})
	a := store.Listener("a:1")
	store.NotifyListener("a:1")
	if a.Has(fsroom.ListenerWakeFile) {
		t.Error("nothing listens, and a file was made")
	}
	long := time.UnixMilli(1_600_000_000_000)
	f.must(a.Mark(fsroom.ListenerWakeFile, long))
	store.NotifyListener("a:1")
	if !a.Marked(fsroom.ListenerWakeFile).After(long) {
		t.Error("the listener is not notified")
	}
}
