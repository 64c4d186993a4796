package look

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/talking-stick/tt/cmd/internal/questions"
)

// settle is how long the watcher collects changes before it tells of them. A change of
// a room is several events of the file system.
const settle = 15 * time.Millisecond

// scanAgain is how often directories are looked for that were missing before.
const scanAgain = 5 * time.Second

// A Watcher tells which rooms change. Changes that it misses are seen by the next look.
type Watcher struct {
	fs     *fsnotify.Watcher
	data   string
	open   chan string
	dirs   map[string]string // the watched directories of rooms and topics, and the room of each
	opened string            // the open room
	agents []string          // the watched directories of its agents, and the one that has them
}

// NewWatcher returns a watcher for the rooms of the looker. An error means that the
// system has no watcher left.
func (l *Looker) NewWatcher() (*Watcher, error) {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &Watcher{fs: fs, data: l.eye.Store.Dir(), open: make(chan string, 1), dirs: make(map[string]string)}, nil
}

// Open makes the watcher also tell what the agents of a room do, "" of none.
func (w *Watcher) Open(room string) {
	select {
	case <-w.open: // one that was not yet heeded
	default:
	}
	w.open <- room
}

// Run calls changed with the names of rooms that have changed, nil for all, until ctx
// ends.
func (w *Watcher) Run(ctx context.Context, changed func(rooms []string)) {
	defer w.fs.Close()
	w.scan()
	again := time.NewTicker(scanAgain)
	defer again.Stop()
	var rooms []string
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case room := <-w.open:
			w.watchAgents(room)
			continue
		case <-again.C:
			w.scan()
			continue
		case <-settled:
			if slices.Contains(rooms, w.opened) {
				w.watchAgents(w.opened) // a member may have come
			}
			if slices.Contains(rooms, "") {
				rooms = nil
			}
			changed(rooms)
			rooms, settled = nil, nil
			continue
		case <-w.fs.Errors: // events were lost
			w.scan()
			rooms = append(rooms, "")
		case e := <-w.fs.Events:
			room, ok := w.about(e)
			if !ok || slices.Contains(rooms, room) {
				continue
			}
			rooms = append(rooms, room)
		}
		if settled == nil {
			settled = time.After(settle)
		}
	}
}

// about returns the room that an event is about, "" if rooms have come or gone.
func (w *Watcher) about(e fsnotify.Event) (room string, ok bool) {
	dir, name := filepath.Split(e.Name)
	dir = filepath.Clean(dir)
	switch filepath.Dir(dir) {
	case w.data: // rooms/, topics/
		if e.Has(fsnotify.Create | fsnotify.Remove | fsnotify.Rename) {
			w.scan()
			return "", true
		}
		return "", false
	case filepath.Join(w.data, "rooms"), filepath.Join(w.data, "topics"):
		room, ok = w.dirs[dir]
		return room, ok && (name == "state.json" || name == "journal.jsonl")
	}
	if filepath.Base(dir) != "agents" { // rooms/ROOM/agents/AGENT
		dir = filepath.Dir(dir)
	}
	room, ok = w.dirs[filepath.Dir(dir)]
	return room, ok && name != "tmp"
}

// scan watches the directories of all rooms, and of their topics.
func (w *Watcher) scan() {
	rooms, asked := filepath.Join(w.data, "rooms"), filepath.Join(w.data, "topics")
	_, _ = w.fs.Add(rooms), w.fs.Add(asked) // the second is missing until somebody asks
	entries, _ := os.ReadDir(rooms)
	for _, e := range entries {
		w.watch(filepath.Join(rooms, e.Name()), e.Name())
		w.watch(filepath.Join(asked, questions.OfRoomID(e.Name(), 0)), e.Name())
	}
}

func (w *Watcher) watch(dir, room string) {
	if w.dirs[dir] == "" && w.fs.Add(dir) == nil {
		w.dirs[dir] = room
	}
}

// watchAgents watches what the agents of the room do, and no longer those of another.
func (w *Watcher) watchAgents(room string) {
	if room != w.opened {
		for _, dir := range w.agents {
			_ = w.fs.Remove(dir)
		}
		w.agents, w.opened = nil, room
	}
	if room == "" {
		return
	}
	agents := filepath.Join(w.data, "rooms", room, "agents")
	add := func(dir string) {
		if !slices.Contains(w.agents, dir) && w.fs.Add(dir) == nil {
			w.agents = append(w.agents, dir)
		}
	}
	add(agents) // before it is read, so that none is missed that comes meanwhile
	entries, _ := os.ReadDir(agents)
	for _, e := range entries {
		add(filepath.Join(agents, e.Name()))
	}
}
