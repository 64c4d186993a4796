package mirror

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/lockfile"
)

const (
	// pullPoll is how often a mirror is refreshed while a process waits, in case a
	// notification of the engine was lost.
	pullPoll = 10 * time.Second
	// pullRetry and pullRetryMax are the first and the longest time between two tries to
	// reach an engine that is away.
	pullRetry, pullRetryMax = 100 * time.Millisecond, 5 * time.Second
	// pullPatience is how long a process that no longer waits lets its puller end.
	pullPatience = 500 * time.Millisecond
)

// Watch keeps the mirror up to date until stop is called. Of all the processes of a host
// that wait for one room, one does so; the others notice when the mirror changes, and one
// of them takes over when it ends.
func (r *mirror[S]) Watch(ctx context.Context) (stop func()) {
	if r.engine == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() { defer close(done); r.pullUntil(ctx) }()
	return func() { // what it has begun to write is finished before the process ends
		cancel()
		select {
		case <-done:
		case <-time.After(pullPatience):
		}
	}
}

func (r *mirror[S]) pullUntil(ctx context.Context) {
	if fsroom.MakeDir(r.TempDir()) != nil {
		return
	}
	unlock, err := lockfile.Lock(ctx, filepath.Join(r.Dir(), "puller"))
	if err != nil {
		return
	}
	defer unlock()
	for retry := pullRetry; ctx.Err() == nil; retry = min(2*retry, pullRetryMax) {
		if r.pullWhileWatched(ctx) {
			retry = pullRetry
		}
		engine.Pause(ctx, retry)
	}
}

// pullWhileWatched refreshes the mirror when the engine tells of an entry, and again and again while that fails: a
// notification also comes when the engine is back. It returns when the room cannot be watched or ctx ends, and reports
// whether it was watched.
func (r *mirror[S]) pullWhileWatched(ctx context.Context) (watched bool) {
	changed := make(chan struct{}, 1)
	stopWatch, err := r.engine.Watch(ctx, r.engineName(), func() {
		select {
		case changed <- struct{}{}:
		default: // what is read next has it
		}
	})
	if err != nil {
		return false
	}
	defer stopWatch()
	stopNotified, err := r.engine.Notified(ctx, r.engineName(), r.touchWakeFiles)
	if err != nil {
		return false
	}
	defer stopNotified()
	// Whoever has looked before has missed what nobody here listened for.
	r.wake("*")
	for retry := pullRetry; ; {
		next := pullPoll
		if _, _, err := r.refresh(ctx, nil, noLimit); err == nil {
			retry = pullRetry
		} else {
			next, retry = engine.Jitter(retry), min(2*retry, pullRetryMax)
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return true
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// touchWakeFiles notifies the processes of this host that wait as the agent whose
// directory has the name, and what listens for it; of any agent, if it is "".
func (r *mirror[S]) touchWakeFiles(name string) {
	if name == "" {
		name = "*"
	} else if name != filepath.Base(name) || strings.ContainsAny(name, `*?[\\`) {
		return
	}
	r.wake(name)
	dirs, _ := filepath.Glob(filepath.Join(r.AgentsDir(), name))
	for _, dir := range dirs {
		r.Store().NotifyListenerOf(filepath.Base(dir))
	}
}

// wake notifies the processes of this host that wait as an agent whose directory matches.
func (r *mirror[S]) wake(pattern string) {
	paths, _ := filepath.Glob(filepath.Join(r.AgentsDir(), pattern, fsroom.WakeFile))
	for _, path := range paths {
		_ = lockfile.Touch(path, time.Now())
	}
}
