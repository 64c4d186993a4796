package fsroom

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A watching is a directory with a file that a subscription watches. The test reports
// events in the place of the kernel.
type watching struct {
	*testing.T
	dir, file string
	hub       *hub
	sub       *subscription
}

func newWatching(t *testing.T) *watching {
	t.Helper()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	w := &watching{T: t, dir: filepath.Join(s.dir, "room")}
	w.file = filepath.Join(w.dir, "journal.jsonl")
	w.must(os.Mkdir(w.dir, 0o700))
	w.must(os.WriteFile(w.file, nil, 0o600))
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		t.Skip(err)
	}
	w.hub = &hub{watcher: watcher, watches: make(map[string]*watch)} // does not run
	s.hubOnce.Do(func() { s.hub = w.hub })
	w.sub = s.subscribe(w.dir, "journal.jsonl")
	w.polls(safetyPoll, safetyPollMax)
	return w
}

func (w *watching) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// reports plays what the kernel reports of the path, which must notify.
func (w *watching) reports(path string, op fsnotify.Op) {
	w.Helper()
	w.hub.event(fsnotify.Event{Name: path, Op: op})
	select {
	case <-w.sub.c:
	default:
		w.Errorf("%v of %s does not notify", op, filepath.Base(path))
	}
}

func (w *watching) polls(least, most time.Duration) {
	w.Helper()
	if d := w.sub.poll(); d < least || d > most {
		w.Errorf("sleeps for %v", d)
	}
}

// kqueue reports a replaced file as removed and then created.
func TestAReplacedFileKeepsTheWatch(t *testing.T) {
	t.Parallel()
	w := newWatching(t)
	for range 3 {
		w.reports(w.file, fsnotify.Remove)
		w.polls(safetyPoll, safetyPollMax) // another file has the name
		w.reports(w.file, fsnotify.Create)
		w.polls(safetyPoll, safetyPollMax)
	}
}

// A directory that was removed, or moved and made anew, is watched no more, even if
// all that is reported is the end of a file in it.
func TestAnotherDirectoryLosesTheWatch(t *testing.T) {
	t.Parallel()
	for name, makes := range map[string]bool{"gone": false, "another": true} {
		t.Run(name, func(t *testing.T) {
			w := newWatching(t)
			w.must(os.Rename(w.dir, w.dir+"-away"))
			if makes {
				w.must(os.Mkdir(w.dir, 0o700))
				w.must(os.WriteFile(w.file, nil, 0o600))
			}
			w.hub.event(fsnotify.Event{Name: w.file, Op: fsnotify.Remove})
			w.polls(0, blindPoll)
			w.hub.mu.Lock()
			defer w.hub.mu.Unlock()
			if w.hub.watches[w.dir] != nil {
				t.Error("it is still watched")
			}
		})
	}
}

// Where the file is gone and the directory is not, yet, both are tried: the watch
// and a poll.
func TestAMissingFileIsPolledFor(t *testing.T) {
	t.Parallel()
	w := newWatching(t)
	w.must(os.Remove(w.file))
	w.reports(w.file, fsnotify.Remove)
	w.polls(0, blindPoll)
	w.must(os.WriteFile(w.file, nil, 0o600))
	w.reports(w.file, fsnotify.Create)
	w.polls(safetyPoll, safetyPollMax)
}

// After an overflow anything may have changed.
func TestAnOverflowNotifiesAll(t *testing.T) {
	t.Parallel()
	w := newWatching(t)
	go w.hub.run()
	w.hub.watcher.Errors <- fsnotify.ErrEventOverflow
	select {
	case <-w.sub.c:
	case <-time.After(time.Minute):
		t.Error("nobody was notified")
	}
}
