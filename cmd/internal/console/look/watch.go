package look

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/talking-stick/tt/cmd/internal/questions"
)

// settle is how long the watcher collects changes before it tells of them. A change of
// a room is several events of the file system.
const settle = 15 * time.Millisecond

// scanAgain is how often directories are looked for that were missing before.
const scanAgain = 5 * time.Second

// A Watcher tells when rooms change. Changes that it misses are seen by the next look.
type Watcher struct {
	fs     *fsnotify.Watcher
	data   string
	open   chan string
	opened string // the open room
}

// NewWatcher returns a watcher for the rooms of the looker. An error means that the
// system has no watcher left.
func (l *Looker) NewWatcher() (*Watcher, error) {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &Watcher{fs: fs, data: l.eye.Store.Dir(), open: make(chan string, 1)}, nil
}

// Open makes the watcher also tell what the agents of a room do, "" of none.
func (w *Watcher) Open(room string) {
	select {
	case <-w.open: // one that was not yet heeded
	default:
	}
	w.open <- room
}

// Run calls changed when rooms have changed, until ctx ends.
func (w *Watcher) Run(ctx context.Context, changed func()) {
	defer w.fs.Close()
	w.scan()
	again := time.NewTicker(scanAgain)
	defer again.Stop()
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case room := <-w.open:
			w.enter(room)
			continue
		case <-again.C:
			w.scan()
			continue
		case <-settled:
			w.scan() // a room or a member may have come
			changed()
			settled = nil
			continue
		case <-w.fs.Errors: // events were lost
		case e := <-w.fs.Events:
			if name := filepath.Base(e.Name); name == "tmp" || name == "lock" {
				continue
			}
		}
		if settled == nil {
			settled = time.After(settle)
		}
	}
}

// scan watches the directories of all rooms and of their topics, and those of the agents of
// the open room.
func (w *Watcher) scan() {
	topics := filepath.Join(w.data, "topics")
	_ = w.fs.Add(topics) // it is missing until somebody asks
	for _, room := range w.watch(filepath.Join(w.data, "rooms")) {
		_ = w.fs.Add(filepath.Join(topics, questions.OfRoomID(room)))
	}
	if w.opened != "" {
		w.watch(w.agents())
	}
}

// watch watches a directory and what is in it, and returns the names of that. What is
// watched already stays so.
func (w *Watcher) watch(dir string) (names []string) {
	_ = w.fs.Add(dir) // before it is read, so that none is missed that comes meanwhile
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
		_ = w.fs.Add(filepath.Join(dir, e.Name()))
	}
	return names
}

// agents is the directory of the agents of the open room.
func (w *Watcher) agents() string { return filepath.Join(w.data, "rooms", w.opened, "agents") }

// enter watches what the agents of the room do, and no longer those of another.
func (w *Watcher) enter(room string) {
	for _, dir := range w.fs.WatchList() {
		if w.opened != "" && w.opened != room && strings.HasPrefix(dir, w.agents()) {
			_ = w.fs.Remove(dir)
		}
	}
	w.opened = room
	w.scan()
}
