package dir

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/talking-stick/tt/lockfile"
)

// Watch implements [engine.Engine].
func (e *Engine) Watch(_ context.Context, room string, notify func()) (stop func(), err error) {
	return e.subscribe(room, "log", func(string) { notify() })
}

// Notify implements [engine.Engine].
func (e *Engine) Notify(room string, agents ...string) {
	for _, agent := range agents {
		path := e.path(room, "notify", agent)
		if lockfile.Touch(path, time.Now()) == nil {
			continue
		}
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
			f.Close()
		}
	}
}

// Notified implements [engine.Engine].
func (e *Engine) Notified(_ context.Context, room string, fn func(agent string)) (stop func(), err error) {
	return e.subscribe(room, "notify", fn)
}

// subscribe calls fn with the names of files of a directory that were changed, and with ""
// when changes may have been missed.
func (e *Engine) subscribe(room, name string, fn func(string)) (stop func(), err error) {
	if err := e.makeDirs(room); err != nil {
		return nil, err
	}
	dir := e.path(room, name)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watcher == nil {
		if e.watcher, err = fsnotify.NewWatcher(); err != nil {
			return nil, err
		}
		go e.deliver(e.watcher)
	}
	if err := e.watcher.Add(dir); err != nil {
		return nil, err
	}
	w := &watch{fn}
	e.watches[dir] = append(e.watches[dir], w)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.watches[dir] = slices.DeleteFunc(e.watches[dir], func(x *watch) bool { return x == w })
	}, nil
}

func (e *Engine) deliver(w *fsnotify.Watcher) {
	for {
		select {
		case event, ok := <-w.Events:
			if !ok {
				return
			}
			for _, s := range e.subscribers(filepath.Dir(event.Name)) {
				s.notify(filepath.Base(event.Name))
			}
		case _, ok := <-w.Errors: // events were lost
			if !ok {
				return
			}
			for _, s := range e.subscribers("") {
				s.notify("")
			}
		}
	}
}

// subscribers returns those of a directory; of all, if it is "".
func (e *Engine) subscribers(dir string) (list []*watch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for d, watches := range e.watches {
		if dir == "" || d == dir {
			list = append(list, watches...)
		}
	}
	return list
}

// Close implements [engine.Engine].
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watcher == nil {
		return nil
	}
	return e.watcher.Close()
}
