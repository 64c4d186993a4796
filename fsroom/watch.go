package fsroom

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A hub is the one watcher of a process, shared by all its waits. File system
// watchers are scarce: a user has 128 of them on a common Linux.
type hub struct {
	mu      sync.Mutex
	watcher *fsnotify.Watcher
	watches map[string]*watch // by path
}

// A watch is one file or directory that is watched.
type watch struct {
	is   os.FileInfo // what had the path when the watch began
	subs map[*Subscription]bool
}

// A Subscription tells that something in a directory may have changed.
type Subscription struct {
	// C gets a value when a file of interest may have changed. It may also get
	// one for nothing; whoever listens looks again.
	C <-chan struct{}

	watched          atomic.Bool // false: poll, as changes may go unnoticed
	c                chan struct{}
	names            []string
	stop             func()
	blind, blindLast time.Duration // how long to sleep unwatched: next time, and at most
	safety           time.Duration // the same watched
	slept            time.Duration // how long the last sleep was to be
}

// Close ends the subscription.
func (s *Subscription) Close() { s.stop() }

func (s *Subscription) ring() {
	select {
	case s.c <- struct{}{}:
	default: // one is waiting to be seen already
	}
}

// subscribe watches a directory for changes of the named files, or a file, with no
// names. It never fails: where nothing can be watched, the caller's poll is what
// is left.
func (s *Store) subscribe(path string, names ...string) *Subscription {
	c := make(chan struct{}, 1)
	sub := &Subscription{C: c, c: c, names: names, stop: func() {}, blind: s.opts.BlindPoll, blindLast: s.opts.BlindPollMax}
	if s.opts.NoWatch {
		return sub
	}
	s.hubOnce.Do(func() { s.hub = newHub() })
	if s.hub != nil {
		s.hub.add(path, sub)
	}
	return sub
}

func newHub() *hub {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil
	}
	h := &hub{watcher: w, watches: make(map[string]*watch)}
	go h.run()
	return h
}

func (h *hub) add(path string, sub *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.watches[path]
	if w == nil {
		is, err := os.Stat(path)
		if err != nil || h.watcher.Add(path) != nil {
			return
		}
		w = &watch{is: is, subs: make(map[*Subscription]bool)}
		h.watches[path] = w
	}
	w.subs[sub] = true
	sub.watched.Store(true)
	sub.stop = func() { h.remove(path, sub) }
}

func (h *hub) remove(path string, sub *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.watches[path]
	if w == nil || !w.subs[sub] {
		return // the watch was lost, and another may have its path
	}
	if delete(w.subs, sub); len(w.subs) == 0 {
		delete(h.watches, path)
		_ = h.watcher.Remove(path)
	}
}

// run passes events on. An error is an overflow of the kernel's queue, or
// worse: in any case something may have changed everywhere.
func (h *hub) run() {
	for {
		select {
		case e, ok := <-h.watcher.Events:
			if !ok {
				h.lostAll()
				return
			}
			h.event(e)
		case _, ok := <-h.watcher.Errors:
			if !ok {
				h.lostAll()
				return
			}
			h.ringAll()
		}
	}
}

// event rings for those who watch what the event is about, or listen for its name
// in its directory.
func (h *hub) event(e fsnotify.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gone := e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	if w := h.watches[e.Name]; w != nil {
		w.ring()
		if gone { // The watch went with it. The next subscriber watches what has the path then.
			h.forget(e.Name)
		}
	}
	dir, name := filepath.Split(e.Name)
	if dir = filepath.Clean(dir); h.watches[dir] != nil {
		h.named(dir, name, gone)
	}
}

// named rings for those who listen for the name in the directory.
func (h *hub) named(dir, name string, gone bool) {
	w := h.watches[dir]
	var subs []*Subscription
	for sub := range w.subs {
		if slices.Contains(sub.names, name) {
			subs = append(subs, sub)
		}
	}
	if len(subs) == 0 {
		return
	}
	if gone && !w.there(dir) {
		h.forget(dir)
		return
	}
	// A file that was replaced is there: kqueue reports a removal and a creation. If
	// it is not, the directory may be about to go, which the kernel does not report
	// while somebody has a file in it open.
	there := !gone || exists(filepath.Join(dir, name))
	for _, sub := range subs {
		sub.watched.Store(there)
		sub.ring()
	}
}

// there reports whether the path still names what is watched.
func (w *watch) there(path string) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(w.is, now)
}

func (w *watch) ring() {
	for sub := range w.subs {
		sub.ring()
	}
}

// lostAll is called when the watcher has ended.
func (h *hub) lostAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for path := range h.watches {
		h.forget(path)
	}
}

// forget leaves the subscribers of a watch that is lost to their polls.
func (h *hub) forget(path string) {
	for sub := range h.watches[path].subs {
		sub.watched.Store(false)
		sub.ring()
	}
	delete(h.watches, path)
}

func (h *hub) ringAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.watches {
		w.ring()
	}
}

// How often a wait looks though nobody rang: rarely where a watcher is at work,
// because events can get lost on odd file systems, and the more rarely the longer
// nothing was lost; often where there is none.
const (
	safetyPoll    = 5 * time.Second
	safetyPollMax = 20 * time.Second
	blindPoll     = 200 * time.Millisecond
)

// poll is how long to sleep at most until the next look.
func (s *Subscription) poll() time.Duration {
	if s.watched.Load() {
		d := max(s.safety, safetyPoll)
		s.safety = min(2*d, safetyPollMax)
		return d
	}
	d := s.blind
	s.blind = min(2*s.blind, s.blindLast)
	return d
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
