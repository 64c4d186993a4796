package fsroom

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

const (
	// refreshedAtOnce is how many mirrors are refreshed at the same time.
	refreshedAtOnce = 16
	// refreshPatience is how long one of many mirrors is waited for that another process
	// has locked. It is left as it is then.
	refreshPatience = 500 * time.Millisecond
)

var errOffline = errors.New("this command does not ask it")

// refreshAll is [Refresh]. A mirror is up to date if it has as many changes as the room
// has entries. If some of these are notes, the room is read.
func (r *mirror[S]) refreshAll(ctx context.Context) (map[string]error, error) {
	if r.engine == nil {
		return nil, nil
	}
	prefix := r.rules.Folder + "."
	all, err := r.engine.Rooms(ctx, prefix)
	if err != nil {
		return nil, r.unlessBehind(r.explainEngine(err))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	failed := make(map[string]error)
	var running sync.WaitGroup
	free := make(chan struct{}, refreshedAtOnce)
	for name, entries := range all {
		name = strings.TrimPrefix(name, prefix)
		if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
			continue // no name of ours
		}
		room := &mirror[S]{Room: &Room[S]{store: r.store, rules: r.rules, name: name, dir: filepath.Join(r.dir, name)}, engine: r.engine}
		if room.readMarker().Changes == int64(entries) {
			continue
		}
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			err := room.refreshOne(ctx)
			if isUnreachable(err) {
				cancel(err) // so are the others
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[name] = r.store.Explain(err, room.dir)
			}
		})
	}
	running.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, r.unlessBehind(err)
	}
	return failed, nil
}

func (r *mirror[S]) unlessBehind(err error) error {
	if isUnreachable(err) && r.store.mayBeBehind(err) {
		return nil
	}
	return err
}

func (r *mirror[S]) refreshOne(ctx context.Context) error {
	for {
		t, err := r.fetch(ctx)
		if err != nil || !t.news() {
			return err
		}
		locking, cancel := context.WithTimeout(ctx, refreshPatience)
		err = r.absorbLocked(locking, t, true)
		cancel()
		var busy *lockfile.BusyError
		switch {
		case errors.As(err, &busy):
			return nil
		case !errors.Is(err, errLinesLost):
			return err
		}
	}
}
