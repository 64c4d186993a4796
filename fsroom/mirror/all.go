package mirror

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
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
			_, err := room.refresh(ctx, nil, refreshPatience)
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

// recordsFreshForAll is how long records that were fetched for all rooms are used, once for
// each room.
const recordsFreshForAll = 5 * time.Second

// allRecords are those of all rooms of a folder, by which they are kept.
type allRecords struct {
	at    time.Time
	rooms map[string]map[string]engine.Record
}

type allRecordsKey string

// FetchAgents is [fsroom.FetchAgents].
func (r *mirror[S]) FetchAgents(ctx context.Context) {
	if r.engine == nil {
		return
	}
	at := r.Store().Options().Now()
	if rooms, err := r.engine.AllRecords(ctx, r.Rules().Folder+"."); err == nil {
		r.Store().Memory().Store(allRecordsKey(r.Rules().Folder), &allRecords{at, rooms})
	}
}

// recordsOf returns the records of agents of the room, of all if none is named. The first time
// they are those that were fetched for all rooms a moment ago.
func (r *mirror[S]) recordsOf(ctx context.Context, agents ...string) (map[string]engine.Record, error) {
	kept, _ := r.Store().Memory().Load(allRecordsKey(r.Rules().Folder))
	if all, ok := kept.(*allRecords); ok && r.records.fetched.IsZero() && r.Store().Options().Now().Sub(all.at) < recordsFreshForAll {
		return all.rooms[r.engineName()], nil
	}
	return r.engine.Records(ctx, r.engineName(), agents...)
}

func (r *mirror[S]) unlessBehind(err error) error {
	if fsroom.IsUnreachable(err) && r.Store().MayBeBehind(err) {
		return nil
	}
	return err
}
