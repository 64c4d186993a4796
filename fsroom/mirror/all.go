package mirror

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom"
)

const (
	// refreshedAtOnce is how many mirrors are refreshed at the same time.
	refreshedAtOnce = 16
	// refreshPatience is how long one of many mirrors is waited for that another process
	// has locked. It is left as it is then.
	refreshPatience = 500 * time.Millisecond
)

var errOffline = errors.New("this command does not ask it")

// RefreshAll is [fsroom.Refresh]. A mirror is up to date if it has as many changes as the room
// has entries. If some of these are notes, the room is read.
func (r *mirror[S]) RefreshAll(ctx context.Context) (map[string]error, error) {
	if r.engine == nil {
		return nil, nil
	}
	prefix := r.Rules().Folder + "."
	all, err := r.engine.Rooms(ctx, prefix)
	if err != nil {
		return nil, r.unlessBehind(r.explainEngine(err))
	}
	stale := make(map[string]*mirror[S])
	for name, n := range all {
		name = strings.TrimPrefix(name, prefix)
		if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
			continue // no name of ours
		}
		room := &mirror[S]{Files: fsroom.FilesOf(r.Store(), r.Rules(), name), engine: r.engine}
		if room.readMarker().Changes != int64(n) {
			stale[name] = room
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	failed := make(map[string]error)
	var running sync.WaitGroup
	free := make(chan struct{}, refreshedAtOnce)
	for name, room := range stale {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			_, _, err := room.refresh(ctx, nil, refreshPatience)
			if fsroom.IsUnreachable(err) {
				cancel(err) // so are the others
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[name] = r.Store().Explain(err, room.Dir())
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
	if fsroom.IsUnreachable(err) && r.Store().MayBeBehind(err) {
		return nil
	}
	return err
}
