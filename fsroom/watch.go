package fsroom

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A hub is the one file system watcher of a process, shared by all its waits. Watchers
// are scarce: a user has 128 of them on a common Linux.
type hub struct {
	mu      sync.Mutex
	watcher *fsnotify.Watcher
	watches map[string]*watch // by path
}

// A watch is one file or directory that is watched.
type watch struct {
	is   os.FileInfo // what had the path when the watch began
	subs map[*subscription]bool
}

// A subscription is notified when a directory or file may have changed. It is also
// notified for nothing at times.
type subscription struct {
	c       chan struct{} // one value may wait in it
	names   []string      // of files in a directory; none: the watches are of single files
	stop    func()
	watched atomic.Bool // false: changes may go unnoticed

	unwatchedPoll, unwatchedPollMax time.Duration                             // the next sleep while not watched, and the longest
	safety                          time.Duration                             // the next sleep while watched; 0 after a notification
	slept                           time.Duration                             // the length of the last sleep
	sleep                           func(context.Context, time.Duration) bool // see Options.Sleep
}

func (s *subscription) notify() {
	select {
	case s.c <- struct{}{}:
	default:
	}
}

// subscribe watches a directory for changes of the named files, or, without names, a
// single file. It does not fail: if path cannot be watched, the subscription polls.
func (s *Store) subscribe(path string, names ...string) *subscription {
	sub := &subscription{c: make(chan struct{}, 1), stop: func() {}, unwatchedPoll: s.opts.BlindPoll, unwatchedPollMax: s.opts.BlindPollMax,
		sleep: s.opts.Sleep}
	sub.watched.Store(true)
	s.watch(sub, path, names...)
	return sub
}

// watch watches one more directory or file for a subscription. All directories of a
// subscription are watched for the same names.
func (s *Store) watch(sub *subscription, path string, names ...string) {
	if !s.opts.NoWatch {
		s.hubOnce.Do(func() { s.hub = newHub() })
	}
	if s.hub == nil || s.opts.NoWatch || !s.hub.add(path, sub, names) {
		sub.watched.Store(false)
	}
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

// add reports whether path is watched.
func (h *hub) add(path string, sub *subscription, names []string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.watches[path]
	if w == nil {
		is, err := os.Stat(path)
		if err != nil || h.watcher.Add(path) != nil {
			return false
		}
		w = &watch{is: is, subs: make(map[*subscription]bool)}
		h.watches[path] = w
	}
	w.subs[sub] = true
	if names != nil {
		sub.names = names
	}
	before := sub.stop
	sub.stop = func() { before(); h.remove(path, sub) }
	return true
}

func (h *hub) remove(path string, sub *subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.watches[path]
	if w == nil || !w.subs[sub] {
		return // the watch was lost, and its path may have another one
	}
	if delete(w.subs, sub); len(w.subs) == 0 {
		delete(h.watches, path)
		_ = h.watcher.Remove(path)
	}
}

// run passes events on until the watcher ends. Its errors are overflows of the kernel's
// queue, after which anything may have changed.
func (h *hub) run() {
	defer h.forgetAll()
	for {
		select {
		case e, ok := <-h.watcher.Events:
			if !ok {
				return
			}
			h.event(e)
		case _, ok := <-h.watcher.Errors:
			if !ok {
				return
			}
			h.notifyAll()
		}
	}
}

// event notifies those who watch the file or directory of the event, and those who
// watch its directory for its name.
func (h *hub) event(e fsnotify.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gone := e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	if w := h.watches[e.Name]; w != nil {
		w.notify()
		if gone { // the kernel has removed the watch
			h.forget(e.Name)
		}
	}
	dir, name := filepath.Split(e.Name)
	if dir = filepath.Clean(dir); h.watches[dir] != nil {
		h.named(dir, name, gone)
	}
}

// named notifies those who watch the directory for the name.
func (h *hub) named(dir, name string, gone bool) {
	w := h.watches[dir]
	var subs []*subscription
	for sub := range w.subs {
		if slices.Contains(sub.names, name) {
			subs = append(subs, sub)
		}
	}
	if len(subs) == 0 {
		return
	}
	if gone && !w.current(dir) {
		h.forget(dir)
		return
	}
	// A file that was replaced exists: kqueue reports a removal and a creation. If the
	// file does not exist, its directory may be removed next, which the kernel does not
	// report while a process has a file in it open.
	watched := !gone || exists(filepath.Join(dir, name))
	for _, sub := range subs {
		sub.watched.Store(watched)
		sub.notify()
	}
}

// current reports whether the path still names what is watched.
func (w *watch) current(path string) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(w.is, now)
}

func (w *watch) notify() {
	for sub := range w.subs {
		sub.notify()
	}
}

// forget removes a watch that is lost. Its subscribers poll from then on.
func (h *hub) forget(path string) {
	for sub := range h.watches[path].subs {
		sub.watched.Store(false)
		sub.notify()
	}
	delete(h.watches, path)
}

func (h *hub) forgetAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for path := range h.watches {
		h.forget(path)
	}
}

func (h *hub) notifyAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.watches {
		w.notify()
	}
}

// These are the times after which a wait checks for changes without a notification. With
// a watcher they are long, because file systems seldom lose events, and grow while none
// was lost.
const (
	safetyPoll    = 5 * time.Second
	safetyPollMax = 20 * time.Second
	blindPoll     = 200 * time.Millisecond // without a watcher
)

// poll returns how long to sleep at most until the next check.
func (s *subscription) poll() time.Duration {
	if s.watched.Load() {
		d := max(s.safety, safetyPoll, s.unwatchedPoll)
		s.safety = min(2*d, safetyPollMax)
		return d
	}
	d := s.unwatchedPoll
	s.unwatchedPoll = min(2*s.unwatchedPoll, s.unwatchedPollMax)
	return d
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
