package fsroom

import (
	"path/filepath"
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
	waits   map[string]map[*Subscription]bool // by directory
}

// A Subscription tells that something in a directory may have changed.
type Subscription struct {
	// C gets the name of a file of interest when it may have changed, or of one
	// of several. It may also get one for nothing; whoever listens looks again.
	C <-chan string

	watched          atomic.Bool // false: only a poll is left
	c                chan string
	names            []string
	stop             func()
	blind, blindLast time.Duration // how long to sleep unwatched: next time, and at most
}

// Close ends the subscription.
func (s *Subscription) Close() { s.stop() }

func (s *Subscription) ring(name string) {
	select {
	case s.c <- name:
	default: // one is waiting to be seen already
	}
}

// subscribe watches dir for changes of the named files. It never fails: where
// nothing can be watched, the caller's poll is what is left.
func (s *Store) subscribe(dir string, names ...string) *Subscription {
	c := make(chan string, 1)
	sub := &Subscription{C: c, c: c, names: names, stop: func() {}, blind: s.opts.BlindPoll, blindLast: s.opts.BlindPollMax}
	if s.opts.NoWatch {
		return sub
	}
	s.hubOnce.Do(func() { s.hub = newHub() })
	if s.hub != nil {
		s.hub.add(dir, sub)
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

func (h *hub) add(dir string, sub *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waits[dir] == nil {
		if err := h.watcher.Add(dir); err != nil {
			return
		}
		h.waits[dir] = make(map[*Subscription]bool)
	}
	h.waits[dir][sub] = true
	sub.watched.Store(true)
	sub.stop = func() { h.remove(dir, sub) }
}

func (h *hub) remove(dir string, sub *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waits[dir], sub)
	if len(h.waits[dir]) == 0 {
		delete(h.waits, dir)
		_ = h.watcher.Remove(dir)
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
			h.ring(filepath.Dir(e.Name), filepath.Base(e.Name))
			if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				h.lost(e.Name)
				// The directory itself may be on its way out: of that nothing
				// is told for as long as somebody has a file in it open.
				h.lost(filepath.Dir(e.Name))
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

func (h *hub) ring(dir, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.waits[dir] {
		for _, n := range sub.names {
			if n == name {
				sub.ring(name)
			}
		}
	}
}

// lost is called for a directory that was removed or renamed away: its watch
// went with it, so its subscribers are on their own. The next one watches anew
// what has the name by then.
func (h *hub) lost(dir string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(dir)
}

// lostAll is called when the watcher has ended.
func (h *hub) lostAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for dir := range h.waits {
		h.forget(dir)
	}
}

func (h *hub) forget(dir string) {
	for sub := range h.waits[dir] {
		sub.watched.Store(false)
		sub.ring(sub.names[0])
	}
	delete(h.waits, dir)
}

func (h *hub) ringAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, subs := range h.waits {
		for sub := range subs {
			sub.ring(sub.names[0])
		}
	}
}

// How often a wait looks though nobody rang: rarely where a watcher is at work,
// because events can get lost on odd file systems; often where there is none.
const (
	safetyPoll = 5 * time.Second
	blindPoll  = 200 * time.Millisecond
)

// poll is how long to sleep at most until the next look.
func (s *Subscription) poll() time.Duration {
	if s.watched.Load() {
		return safetyPoll
	}
	d := s.blind
	s.blind = min(2*s.blind, s.blindLast)
	return d
}
