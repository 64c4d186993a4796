package fsroom

import (
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
	waits   map[string]map[*Subscription]bool // by what is watched
}

// A Subscription tells that something in a directory may have changed.
type Subscription struct {
	// C gets a value when a file of interest may have changed. It may also get
	// one for nothing; whoever listens looks again.
	C <-chan struct{}

	watched          atomic.Bool // false: only a poll is left
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
	h := &hub{watcher: w, waits: make(map[string]map[*Subscription]bool)}
	go h.run()
	return h
}

func (h *hub) add(path string, sub *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waits[path] == nil {
		if err := h.watcher.Add(path); err != nil {
			return
		}
		h.waits[path] = make(map[*Subscription]bool)
	}
	h.waits[path][sub] = true
	sub.watched.Store(true)
	sub.stop = func() { h.remove(path, sub) }
}

func (h *hub) remove(path string, sub *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waits[path], sub)
	if len(h.waits[path]) == 0 {
		delete(h.waits, path)
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
			rang := h.ring(e.Name)
			if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				h.lost(e.Name)
				if rang {
					// The directory itself may be on its way out: of that nothing
					// is told for as long as somebody has a file in it open.
					h.lost(filepath.Dir(e.Name))
				}
			}
		case _, ok := <-h.watcher.Errors:
			if !ok {
				h.lostAll()
				return
			}
			h.ringAll()
		}
	}
}

// ring tells those who watch the path, or listen for it in its directory, and
// reports whether there are any.
func (h *hub) ring(path string) (rang bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.waits[path] {
		sub.ring()
		rang = true
	}
	name := filepath.Base(path)
	for sub := range h.waits[filepath.Dir(path)] {
		if slices.Contains(sub.names, name) {
			sub.ring()
			rang = true
		}
	}
	return rang
}

// lost is called for what was removed or renamed away: its watch went with it, so
// its subscribers are on their own. The next one watches anew what has the name
// by then.
func (h *hub) lost(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(path)
}

// lostAll is called when the watcher has ended.
func (h *hub) lostAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for path := range h.waits {
		h.forget(path)
	}
}

func (h *hub) forget(path string) {
	for sub := range h.waits[path] {
		sub.watched.Store(false)
		sub.ring()
	}
	delete(h.waits, path)
}

func (h *hub) ringAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, subs := range h.waits {
		for sub := range subs {
			sub.ring()
		}
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
